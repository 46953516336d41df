import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ShellPlace } from '../../../command-analysis/shell/parameters.ts';
import { findWorkspace } from '../../../kernel/workspace.ts';

/** The root of the work tree that contains this folder; undefined without git. */
export function topAt(cwd: string): string | undefined {
  const { root, gitCommonDir } = findWorkspace(cwd);
  return gitCommonDir === undefined ? undefined : root;
}

/** The branch checked out in this folder; undefined if there is none, or it is unknown. */
function branchAt(cwd: string): string | undefined {
  try {
    const { root } = findWorkspace(cwd);
    const entry = join(root, '.git');
    // In a worktree this is a file that says where the folder is.
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

/**
 * Whether a branch of that name exists here. False if git stores branches in any way other than one file each
 * or one file for all.
 */
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
export const branchesHere: Pick<ShellPlace, 'branch' | 'isBranch'> = {
  branch: branchAt,
  isBranch: isBranchAt,
};
