import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { GitCall } from '../../../../child-process/git.ts';
import { namesIn } from '../../../../child-process/git.ts';
import { plainGit, resolveCommit } from '../../../../child-process/plain-git.ts';
import { addWorkTree } from '../../../../child-process/work-tree.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { GrantAssignment } from '../execution-port.ts';
import { type Places, RunFiles } from './run-files.ts';

/** A run's own work tree, without a branch. */
export interface RunWorkspace {
  readonly mode: 'ro' | 'rw';
  /** The commit it started with. */
  readonly base: string;
  readonly tree: string;
  /**
   * Git's own folder for the tree, in the repository. Always passed to git: a tree that lost its `.git` would
   * be taken for a repository around it.
   */
  readonly git_dir: string;
}

const WORKSPACE = 'workspace.json';
const TREE = 'tree';
const COMMIT_ID = /^[0-9a-f]{7,64}$/i;

/**
 * The full id of a commit that exists. Only ids are accepted, since a branch may point to another commit
 * tomorrow.
 */
export async function existingCommit(
  payload: string,
  { repository, folder, env }: Pick<Places, 'repository' | 'folder' | 'env'>,
): Promise<string | undefined> {
  const id = payload.trim();
  if (!COMMIT_ID.test(id)) return undefined;
  return await resolveCommit(id, { root: repository ?? folder, env }).catch(() => undefined);
}

/** A reviewer of a commit has to see that commit. All other runs start at the repository's current commit. */
async function baseOf({ input }: GrantAssignment, root: string, places: Places): Promise<string> {
  const target = isObject(input.target_artefact) ? input.target_artefact : {};
  const { type, payload } = target;
  if (type !== 'CodeCommit' || typeof payload !== 'string' || !COMMIT_ID.test(payload.trim()))
    return await resolveCommit('HEAD', { root, env: places.env });
  const commit = await existingCommit(payload, places);
  if (commit === undefined) throw new Error(`the repository has no commit ${payload.trim()}`);
  return commit;
}

export async function openWorkspace(
  run: RunFiles,
  assignment: GrantAssignment,
  places: Places,
): Promise<RunWorkspace | undefined> {
  const mode = assignment.agent.program?.workspace ?? 'none';
  if (mode === 'none') return undefined;
  const { repository: root, env } = places;
  if (root === undefined)
    throw new Error(`a workspace (${mode}) is a git work tree, and here is no repository`);
  const base = await baseOf(assignment, root, places);
  const tree = join(realpathSync(run.folder), TREE);
  await addWorkTree(tree, base, { root, env });
  const git_dir = (await plainGit(['rev-parse', '--absolute-git-dir'], { root: tree, env })).trimEnd();
  const workspace: RunWorkspace = { mode, base, tree, git_dir };
  run.write(WORKSPACE, JSON.stringify(workspace));
  return workspace;
}

export function workspaceOf(run: RunFiles): RunWorkspace | undefined {
  const found = run.readJson(WORKSPACE);
  return isObject(found) ? (found as unknown as RunWorkspace) : undefined;
}

/** The folder in the tree that matches the configuration's folder in the repository, if that commit has it. */
export function folderIn({ tree }: RunWorkspace, { repository, folder }: Places): string {
  const inside = relative(realpathSync(repository ?? folder), realpathSync(folder));
  const there = join(tree, inside);
  return inside.startsWith('..') || !existsSync(there) ? tree : there;
}

/** Runs git in a run's work tree, whatever the agent did to the tree. */
export function treeGit(
  words: readonly string[],
  { tree, git_dir }: RunWorkspace,
  { env }: Pick<Places, 'env'>,
  more: Partial<GitCall> = {},
): Promise<string> {
  const place = ['--git-dir', git_dir, '--work-tree', tree];
  const quiet = { GIT_OPTIONAL_LOCKS: '0', ...more.env };
  return plainGit([...place, ...words], { root: dirname(tree), env }, { ...more, env: quiet });
}

/** The tree's changes since it was made, committed or not. Files that git ignores don't count. */
async function treeChanges(workspace: RunWorkspace, places: Pick<Places, 'env'>): Promise<string[]> {
  const words = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none'];
  const tracked = await treeGit(['diff', ...words, workspace.base, '--'], workspace, places);
  const others = await treeGit(['ls-files', '--others', '--exclude-standard', '-z'], workspace, places);
  return [...new Set([...namesIn(tracked), ...namesIn(others)])].sort();
}

const CHANGED = 'changed.json';

/** Called before the tree is removed. */
export async function noteChanges(run: RunFiles, workspace: RunWorkspace, places: Places): Promise<string[]> {
  const changed = await treeChanges(workspace, places);
  run.write(CHANGED, JSON.stringify(changed));
  return changed;
}

/**
 * The files that an execution has changed so far, or had changed at its end, by their names in the
 * repository. Undefined: the run has no workspace of its own, so its changes can't be told.
 */
export async function changedFiles(run_id: string, places: Places): Promise<string[] | undefined> {
  const run = new RunFiles(run_id, places);
  const noted = run.readJson(CHANGED);
  if (Array.isArray(noted)) return noted as string[];
  const workspace = workspaceOf(run);
  return workspace === undefined ? undefined : await treeChanges(workspace, places);
}

/** Removes the tree and git's record of it. */
export async function removeWorkspace(run: RunFiles, { repository, env }: Places): Promise<void> {
  const workspace = workspaceOf(run);
  const tree = run.path(TREE);
  if (repository !== undefined && existsSync(tree))
    await plainGit(['worktree', 'remove', '--force', '--force', tree], { root: repository, env }).catch(
      () => '',
    );
  await rm(tree, { recursive: true, force: true, maxRetries: 3 });
  // Git does not remove a tree that has lost its `.git`, and `prune` would also forget trees of other runs
  // whose disk is not mounted.
  if (workspace !== undefined && isNoteOf(workspace))
    await rm(workspace.git_dir, { recursive: true, force: true });
}

/** Git reuses the name of a tree that it has removed. By then the folder belongs to another run. */
function isNoteOf({ git_dir, tree }: RunWorkspace): boolean {
  if (basename(dirname(git_dir)) !== 'worktrees') return false;
  try {
    const named = readFileSync(join(git_dir, 'gitdir'), 'utf8').trim();
    return resolve(git_dir, named) === join(tree, '.git');
  } catch {
    return false;
  }
}
