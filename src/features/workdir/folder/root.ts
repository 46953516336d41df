import { lstatSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { firstProblem } from '../../../storage/file-problem.ts';
import { readBounded } from '../../../storage/read-bounded.ts';
import { parseSettings } from '../files/settings-yaml.ts';
import { DEFAULT_WORKDIR, type WorkdirSettings } from '../workdir-settings.ts';

/** Where work directories are, relative to the folder that the caller names. */
const USUAL = ['', 'work', 'work/collaboration'];
const SETTINGS = 'coordinator.yml';

/** The folder that contains an `inbox/` or an `assigned/`: the named one, or a usual one below it. */
export function findRoot(named: string | undefined, cwd: string): string | Refusal {
  const from = resolve(cwd, named ?? '.');
  for (const place of USUAL) {
    const root = join(from, place);
    if (isFolder(join(root, 'inbox')) || isFolder(join(root, 'assigned'))) return realpathSync(root);
  }
  const looked = USUAL.map((place) => (place === '' ? './' : `${place}/`)).join(', ');
  return refuse(
    'no_work_directory',
    `There is no inbox/ and no assigned/ in ${from} (looked in ${looked}).`,
    {
      field: 'dir',
      looked_in: from,
    },
  );
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** `coordinator.yml` in the root, or the defaults. */
export function readSettings(root: string): WorkdirSettings | Refusal {
  const path = join(root, SETTINGS);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return DEFAULT_WORKDIR;
  const read = readBounded(path, { links: false });
  const parsed = read.ok
    ? parseSettings(read.text)
    : ({ ok: false, problems: [{ line: 1, field: 'file', reason: read.reason }] } as const);
  if (parsed.ok) return parsed.settings;
  const errors = parsed.problems.map((problem) => ({ ...problem }));
  return refuse('coordinator_invalid', firstProblem(SETTINGS, parsed.problems), { file: SETTINGS, errors });
}
