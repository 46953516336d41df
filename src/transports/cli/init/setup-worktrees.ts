import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from '../../../kernel/workspace.ts';
import type { Site } from './clients/client-setup.ts';
import type { Scope } from './wiring.ts';

export function siteOf(workspace: Workspace, scope: Scope, env: NodeJS.ProcessEnv): Site {
  const { root, gitCommonDir } = workspace;
  const mainRoot = mainTree(workspace) ?? root;
  return { root, mainRoot, repository: gitCommonDir ?? root, scope, env };
}

/** Undefined in a bare repository, whose folder is not a work tree. */
function mainTree(workspace: Workspace): string | undefined {
  const { gitCommonDir = '' } = workspace;
  const main = gitCommonDir.endsWith('/.git') ? gitCommonDir.slice(0, -'/.git'.length) : undefined;
  return workTrees(workspace).find((path) => path === main);
}

function workTrees(workspace: Workspace): string[] {
  return workspace.trees().flatMap(({ kind, path }) => (kind === 'work' ? [path] : []));
}

export interface Worktrees {
  /** The current one first. */
  readonly sites: readonly Site[];
  /** Known to git, but missing or not writable: a disk that is not mounted, a deleted folder. */
  readonly absent: readonly string[];
}

/**
 * Every worktree of the repository. A worktree that git has locked is in use like any other: git only
 * promises not to remove it.
 */
export function worktreesOf(workspace: Workspace, site: Site): Worktrees {
  if (site.scope === 'user') return { sites: [site], absent: [] };
  const main = mainTree(workspace);
  const others = workTrees(workspace)
    .filter((path) => path !== site.root)
    .sort();
  const { there = [], absent = [] } = Object.groupBy(others, (path) =>
    isThere(path, path === main) ? 'there' : 'absent',
  );
  const more = there.map((root) => ({ ...site, root, mainRoot: main ?? root }));
  return { sites: [site, ...more], absent };
}

/**
 * The main worktree may have its git folder elsewhere. Any other one without its `.git` is no longer a
 * worktree.
 */
function isThere(path: string, isMain: boolean): boolean {
  try {
    accessSync(path, constants.W_OK);
    return isMain || existsSync(join(path, '.git'));
  } catch {
    return false;
  }
}
