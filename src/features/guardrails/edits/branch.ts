import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Place } from '../../../command-analysis/shell/parameters.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';

/** The top of the work tree around here; undefined without git. */
export function topAt(cwd: string): string | undefined {
  const { root, gitCommonDir } = findWorkspace(cwd);
  return gitCommonDir === undefined ? undefined : root;
}

/** The branch that is checked out around here; undefined where there is none, or it can't be told. */
function branchAt(cwd: string): string | undefined {
  try {
    const { root } = findWorkspace(cwd);
    const entry = join(root, '.git');
    // In a worktree it is a file that says where the folder is.
    const folder = statSync(entry).isDirectory()
      ? entry
      : resolve(
          root,
          readFileSync(entry, 'utf8')
            .replace(/^gitdir:\s*/, '')
            .trim(),
        );
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(readFileSync(join(folder, 'HEAD'), 'utf8')) ?? [];
    return branch;
  } catch {
    return undefined;
  }
}

/** Is there a branch of that name here? No, where git keeps them in another way than in files of their own or in one for all. */
function isBranchAt(cwd: string, name: string): boolean {
  const ref = `refs/heads/${name}`;
  try {
    const { gitCommonDir } = findWorkspace(cwd);
    if (gitCommonDir === undefined || name.includes('..')) return false;
    if (statSync(join(gitCommonDir, ref), { throwIfNoEntry: false })?.isFile() === true) return true;
    const packed = readFileSync(join(gitCommonDir, 'packed-refs'), 'utf8');
    return packed.split('\n').some((line) => line.endsWith(` ${ref}`));
  } catch {
    return false;
  }
}

/** What a command line's place knows of the branches of a repository on this disk. */
export const branchesHere: Pick<Place, 'branch' | 'isBranch'> = { branch: branchAt, isBranch: isBranchAt };
