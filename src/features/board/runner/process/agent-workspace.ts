import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { GitCall } from '../../../../child-process/git.ts';
import { namesIn } from '../../../../child-process/git.ts';
import { plainGit, resolveCommit } from '../../../../child-process/plain-git.ts';
import { addWorkTree } from '../../../../child-process/work-tree.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { Assignment } from '../execution-port.ts';
import { type Places, RunFiles } from './run-files.ts';

/** A work tree of a run's own, without a branch. */
export interface RunWorkspace {
  readonly mode: 'ro' | 'rw';
  /** The commit that it began with. */
  readonly base: string;
  readonly tree: string;
  /** Git's own folder for it, in the repository. Always named: a tree without its `.git` would be taken for one around it. */
  readonly git_dir: string;
}

const WORKSPACE = 'workspace.json';
const TREE = 'tree';
const COMMIT_ID = /^[0-9a-f]{7,64}$/i;

/** The full id of a commit that is really there. Only ids: a branch means another commit tomorrow. */
export async function existingCommit(
  payload: string,
  { repository, folder, env }: Pick<Places, 'repository' | 'folder' | 'env'>,
): Promise<string | undefined> {
  const id = payload.trim();
  if (!COMMIT_ID.test(id)) return undefined;
  return await resolveCommit(id, { root: repository ?? folder, env }).catch(() => undefined);
}

/** Whoever reviews a commit has to see that one. Everybody else begins where the repository stands. */
async function baseOf({ input }: Assignment, root: string, places: Places): Promise<string> {
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
  assignment: Assignment,
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

/** In the tree the folder that the configuration has in the repository, if that commit has it. */
export function folderIn({ tree }: RunWorkspace, { repository, folder }: Places): string {
  const inside = relative(realpathSync(repository ?? folder), realpathSync(folder));
  const there = join(tree, inside);
  return inside.startsWith('..') || !existsSync(there) ? tree : there;
}

/** Git in a run's work tree, whatever the agent did to it. */
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

/** Of the tree, against what it began with: committed meanwhile or not. What git ignores is nobody's change. */
async function treeChanges(workspace: RunWorkspace, places: Pick<Places, 'env'>): Promise<string[]> {
  const words = ['--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=none'];
  const tracked = await treeGit(['diff', ...words, workspace.base, '--'], workspace, places);
  const others = await treeGit(['ls-files', '--others', '--exclude-standard', '-z'], workspace, places);
  return [...new Set([...namesIn(tracked), ...namesIn(others)])].sort();
}

const CHANGED = 'changed.json';

/** Before the tree is removed. */
export async function noteChanges(run: RunFiles, workspace: RunWorkspace, places: Places): Promise<string[]> {
  const changed = await treeChanges(workspace, places);
  run.write(CHANGED, JSON.stringify(changed));
  return changed;
}

/**
 * The files that an execution has changed so far, or had at its end, by their names in the repository. Without a workspace of
 * its own nobody knows: undefined.
 */
export async function changedFiles(run_id: string, places: Places): Promise<string[] | undefined> {
  const run = new RunFiles(run_id, places);
  const noted = run.readJson(CHANGED);
  if (Array.isArray(noted)) return noted as string[];
  const workspace = workspaceOf(run);
  return workspace === undefined ? undefined : await treeChanges(workspace, places);
}

/** The tree and git's notes of it. */
export async function removeWorkspace(run: RunFiles, { repository, env }: Places): Promise<void> {
  const workspace = workspaceOf(run);
  const tree = run.path(TREE);
  if (repository !== undefined && existsSync(tree))
    await plainGit(['worktree', 'remove', '--force', '--force', tree], { root: repository, env }).catch(
      () => '',
    );
  await rm(tree, { recursive: true, force: true, maxRetries: 3 });
  // Git removes no tree that has lost its `.git`, and `prune` would also forget trees of others whose disk is away.
  if (workspace !== undefined && isNoteOf(workspace))
    await rm(workspace.git_dir, { recursive: true, force: true });
}

/** Git gives the name of a tree that it has removed to the next one: by then the folder is another run's. */
function isNoteOf({ git_dir, tree }: RunWorkspace): boolean {
  if (basename(dirname(git_dir)) !== 'worktrees') return false;
  try {
    const named = readFileSync(join(git_dir, 'gitdir'), 'utf8').trim();
    return resolve(git_dir, named) === join(tree, '.git');
  } catch {
    return false;
  }
}
