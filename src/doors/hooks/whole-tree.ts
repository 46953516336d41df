import { execFile } from 'node:child_process';
import { overlap } from '../../kernel/area.ts';
import { normaliseArea } from '../../kernel/path.ts';
import { findWorkspace } from '../../kernel/workspace.ts';
import { type HeldFile, heldByOthers } from '../enforce/held.ts';
import { heldText } from './held-text.ts';
import { locksOn } from './locks.ts';
import type { Place } from './place.ts';

const GIT_MS_MAX = 2000;
const GIT_BYTES_MAX = 16 * 1024 * 1024;

/** What throws uncommitted changes away, whoever made them. Git itself keeps the others (pull, merge, switch) from doing so. */
const DISCARDS = new Set([
  'git checkout --force',
  'git checkout .',
  'git switch --force',
  'git restore .',
  'git reset --hard',
  'git reset --merge',
  'git clean',
  'git clean .',
  'git stash',
  'git stash .',
  'git read-tree -u',
]);
/** What also takes files that git does not know yet. */
const TAKES_UNTRACKED = /^git (?:clean|stash)\b/;

/**
 * A lock does not say in which work tree its holder sits; the disk does: only where a held file has uncommitted changes in
 * this very tree is somebody's work at stake. Whoever holds it in another worktree has nothing here to lose.
 */
export async function endangered(
  commands: readonly string[],
  place: Place,
  cwd: string,
): Promise<string | undefined> {
  const discarding = commands.filter((command) => DISCARDS.has(command));
  const [first] = discarding;
  if (first === undefined) return undefined;
  const exclusive = (await locksOn(place)).filter(({ shared }) => shared !== true);
  const held = heldByOthers({ locks: exclusive }, place.actor.agent_id);
  if (held.length === 0) return undefined;
  const changed = await uncommitted(
    cwd,
    discarding.some((command) => TAKES_UNTRACKED.test(command)),
  );
  const lost = atStake(held, changed, place);
  if (lost.length === 0) return undefined;
  const text = heldText(lost, place.coxswain.clock.now_ms());
  return `\`${first}\` would throw away changes that others have not committed yet.\n${text}`;
}

function atStake(held: readonly HeldFile[], changed: readonly string[], { coxswain }: Place): HeldFile[] {
  const areaOf = (name: string) => {
    const normal = normaliseArea(name, coxswain.workspace);
    return normal.ok ? normal.area : undefined;
  };
  const areas = held.map((file) => ({ file, area: areaOf(file.path) }));
  return changed.flatMap((path) => {
    const area = areaOf(path);
    if (area === undefined) return [];
    const by = areas.find((each) => each.area !== undefined && overlap(each.area, area));
    return by === undefined ? [] : [by.file];
  });
}

/** Absolute paths of what differs from the last commit in the work tree around `cwd`. */
async function uncommitted(cwd: string, untracked: boolean): Promise<string[]> {
  const { root } = findWorkspace(cwd);
  const options = ['--porcelain=v1', '-z', '--no-renames', `--untracked-files=${untracked ? 'all' : 'no'}`];
  const args = ['-c', 'core.fsmonitor=false', '--no-optional-locks', 'status', ...options];
  const text = await new Promise<string>((resolve, reject) => {
    execFile('git', args, { cwd: root, timeout: GIT_MS_MAX, maxBuffer: GIT_BYTES_MAX }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
  return text
    .split('\0')
    .filter((entry) => entry.length > 3)
    .map((entry) => `${root}/${entry.slice(3)}`);
}
