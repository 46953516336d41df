import { resolve } from 'node:path';
import { git } from '../../child-process/git.ts';
import type { Sweep } from '../../command-analysis/shell/shell-findings.ts';

const GIT_MS_MAX = 1000;
/** An alias may stand for another one. */
const DEPTH_MAX = 4;

interface Meant {
  readonly sweeps: readonly Sweep[];
  /** Absolute paths that the aliases stand for writing. */
  readonly files: readonly string[];
}

interface AliasContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What the commands stand for that only the configuration of a repository explains; the others stay as they are. */
export async function withoutAliases(
  sweeps: readonly Sweep[],
  context: AliasContext,
  depth = 0,
): Promise<Meant> {
  const meant = sweeps.map(async (sweep) => {
    if (sweep.isAlias !== true) return { sweeps: [sweep], files: [] };
    return depth < DEPTH_MAX ? await meaning(sweep, context, depth) : { sweeps: [], files: [] };
  });
  const all = await Promise.all(meant);
  return { sweeps: all.flatMap((each) => each.sweeps), files: all.flatMap((each) => each.files) };
}

async function meaning(
  { command, words, folder }: Sweep,
  { cwd, env }: AliasContext,
  depth: number,
): Promise<Meant> {
  const at = resolve(cwd, folder);
  const key = `alias.${command.slice('git '.length)}`;
  const call = { cwd: at, env, time_ms_max: GIT_MS_MAX, fine: [0, 1] };
  const text = (await git(['config', '--get', key], call).catch(() => '')).trim();
  if (text === '' || words === undefined) return { sweeps: [], files: [] };
  const given = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const line = [text.startsWith('!') ? text.slice(1) : `git ${text}`, ...given].join(' ');
  const { lookAt } = await import('../../features/guardrails/command-line.ts');
  const { touched } = lookAt(line, { cwd: at, home: env.HOME });
  const here = { cwd: at, env };
  const further = await withoutAliases(touched.everywhere, here, depth + 1);
  const from = (path: string) => resolve(at, path);
  return {
    sweeps: further.sweeps.map((sweep) => ({
      ...sweep,
      folder: from(sweep.folder),
      reads: sweep.reads === undefined ? undefined : from(sweep.reads),
    })),
    files: [
      ...further.files,
      ...touched.writes.filter(({ how }) => how === 'file').map(({ path }) => from(path)),
    ],
  };
}
