import { git, namesIn } from '../../../child-process/git.ts';
import type { ChangeSeen } from '../route-changeset.ts';
import type { VerificationJob } from './executor.ts';

const FILES_MAX = 20_000;

/**
 * What a commit changes, as git has it: against its first parent, and against the base that was named too. An agent that names
 * a base can only widen what is looked at.
 */
export async function filesOfCommit(
  commit_sha: string,
  base_sha: string | undefined,
  { root, env }: Pick<VerificationJob, 'root' | 'env'>,
): Promise<ChangeSeen> {
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
  const ask = async (...words: string[]) => namesIn(await git(words, { cwd: root, env: clean }));
  const options = ['-r', '--no-commit-id', '--no-renames', '--name-only', '-z'];
  const own = await ask('diff-tree', '--root', '--diff-merges=first-parent', ...options, commit_sha);
  const since = base_sha === undefined ? [] : await ask('diff-tree', ...options, base_sha, commit_sha);
  const files = [...new Set([...own, ...since])];
  return { files: files.slice(0, FILES_MAX), truncated: files.length > FILES_MAX, from: 'git' };
}
