import { type GitCall, git } from './git.ts';

const NO_HOOKS = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.hooksPath',
  GIT_CONFIG_VALUE_0: '/dev/null',
};

export interface Repository {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs git without the hooks, the index and the repository that the caller's environment may name. */
export function plainGit(
  words: readonly string[],
  { root, env }: Repository,
  more: Partial<GitCall> = {},
): Promise<string> {
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  return git(words, { ...more, cwd: root, env: { ...clean, ...NO_HOOKS, ...more.env } });
}

/** The full id, if the repository has the commit. */
export async function resolveCommit(name: string, place: Repository): Promise<string> {
  return (await plainGit(['rev-parse', '--verify', '--end-of-options', `${name}^{commit}`], place)).trim();
}
