import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findWorkspace } from '../../kernel/workspace.ts';

/** The top of the work tree around here; undefined without git. */
export function topAt(cwd: string): string | undefined {
  const { root, gitCommonDir } = findWorkspace(cwd);
  return gitCommonDir === undefined ? undefined : root;
}

/** The branch that is checked out around here; undefined where there is none, or it can't be told. */
export function branchAt(cwd: string): string | undefined {
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
