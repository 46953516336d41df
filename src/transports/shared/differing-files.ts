import { join } from 'node:path';
import { type GitCall, git, namesIn } from '../../child-process/git.ts';

/** The program that a repository may name there would run; and no lock is taken that a git of the agent's would wait for. */
const PLAIN = ['-c', 'core.fsmonitor=false', '--no-optional-locks', '--literal-pathspecs'] as const;

export interface Differing {
  /** Of these absolute paths and what is below them; default: the whole work tree. */
  readonly named?: readonly string[];
  readonly untracked?: boolean;
  /** Each submodule would start a git of its own. */
  readonly withSubmodules?: boolean;
}

/**
 * What differs from the last commit in a work tree, without what git ignores: absolute paths, and git's two letters for each.
 * `cwd` of the call is the tree's root.
 */
export async function differingFiles(
  call: GitCall,
  { named = [], untracked = true, withSubmodules = true }: Differing = {},
): Promise<Map<string, string>> {
  const words = [
    ...[...PLAIN, 'status', '--porcelain=v1', '-z', '--no-renames'],
    `--untracked-files=${untracked ? 'all' : 'no'}`,
    ...(withSubmodules ? [] : ['--ignore-submodules=all']),
  ];
  const lines = namesIn(await git([...words, '--', ...named], call));
  return new Map(lines.map((line) => [join(call.cwd, line.slice(3)), line.slice(0, 2)]));
}
