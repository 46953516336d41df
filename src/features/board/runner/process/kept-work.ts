import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GitFailure, namesIn } from '../../../../child-process/git.ts';
import { plainGit } from '../../../../child-process/plain-git.ts';
import { type RunWorkspace, treeGit } from './agent-workspace.ts';
import type { Places, RunFiles } from './run-files.ts';

const NAMESPACE = 'refs/cox/runs';
/** How many runs of the same name may each leave something. */
const REFS_MAX = 100;
const GITLINK = '160000';

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Coxswain',
  GIT_AUTHOR_EMAIL: 'coxswain@localhost',
  GIT_COMMITTER_NAME: 'Coxswain',
  GIT_COMMITTER_EMAIL: 'coxswain@localhost',
};

export interface Kept {
  /** This ref's last commit holds what the agent had not committed. */
  readonly uncommitted?: string;
  /** What the agent had committed. */
  readonly committed?: string;
}

/**
 * Makes sure that nothing an agent wrote is lost with its work tree. Its commits are held by a ref, and so is
 * what it has not committed, in a commit on top of them. Throws if that can't be done; then the tree has to
 * stay.
 */
export async function keepWork(
  run: RunFiles,
  workspace: RunWorkspace,
  places: Places,
  delivered?: string,
): Promise<Kept> {
  const head = await commitOf('HEAD', workspace, places);
  const rest = existsSync(workspace.tree) ? await commitRest(run, workspace, places, head) : undefined;
  const last = rest ?? head;
  const kept = last !== undefined && last !== workspace.base ? await hold(last, run, places) : undefined;
  // The agent may have committed on a branch, switched to another one, and answered with the first commit.
  if (delivered !== undefined && !(await isWithin(delivered, last ?? workspace.base, workspace, places)))
    await hold(delivered, run, places);
  if (kept === undefined) return {};
  return rest === undefined ? { committed: kept } : { uncommitted: kept };
}

async function commitOf(name: string, workspace: RunWorkspace, places: Places): Promise<string | undefined> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  return (await treeGit(words, workspace, places).catch(() => '')).trim() || undefined;
}

async function isWithin(
  commit: string,
  later: string,
  workspace: RunWorkspace,
  places: Places,
): Promise<boolean> {
  const asked = treeGit(['merge-base', '--is-ancestor', commit, later], workspace, places);
  return await asked.then(
    () => true,
    () => false,
  );
}

/** With our own index: the agent's stays as it is, and a lock that a killed git left on it does not matter. */
async function commitRest(
  run: RunFiles,
  workspace: RunWorkspace,
  places: Places,
  head: string | undefined,
): Promise<string | undefined> {
  const index = run.path('index');
  const [own, more] = [join(workspace.git_dir, 'index'), { env: { ...AUTHOR, GIT_INDEX_FILE: index } }];
  try {
    if (existsSync(own)) copyFileSync(own, index);
    await treeGit(['add', '--all', '--', '.'], workspace, places, more);
    await refuseWhatStaysOut(workspace, places, more);
    const tree = (await treeGit(['write-tree'], workspace, places, more)).trim();
    if (tree === (await treeOf(head ?? workspace.base, workspace, places))) return undefined;
    const parents = head === undefined ? [] : ['-p', head];
    const input = `What run ${run.name} had not committed\n`;
    return (await treeGit(['commit-tree', ...parents, tree], workspace, places, { ...more, input })).trim();
  } finally {
    rmSync(index, { force: true });
  }
}

async function treeOf(commit: string, workspace: RunWorkspace, places: Places): Promise<string> {
  return (await treeGit(['rev-parse', `${commit}^{tree}`], workspace, places)).trim();
}

/** For a repository within the tree, git records only its commit, not its contents. */
async function refuseWhatStaysOut(
  workspace: RunWorkspace,
  places: Places,
  more: { readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const listed = namesIn(await treeGit(['ls-files', '--stage', '-z'], workspace, places, more));
  const known = new Set(
    namesIn(await treeGit(['ls-tree', '-r', '-z', workspace.base], workspace, places)).map(nameIn),
  );
  const inner = listed
    .filter((line) => line.startsWith(GITLINK))
    .map(nameIn)
    .find((name) => !known.has(name));
  if (inner !== undefined) throw new GitFailure(`${inner} is a repository of its own`);
  const dirty = await treeGit(
    ['diff-files', '--name-only', '-z', '--ignore-submodules=none'],
    workspace,
    places,
    more,
  );
  const [first] = namesIn(dirty);
  if (first !== undefined) throw new GitFailure(`${first} has changes in a repository of its own`);
}

function nameIn(line: string): string {
  return line.slice(line.indexOf('\t') + 1);
}

/** Never replaces another ref: a run that was lost and started anew has left its work under the same name. */
async function hold(commit: string, run: RunFiles, { repository, env }: Places): Promise<string> {
  const root = repository ?? run.folder;
  for (let count = 1; count <= REFS_MAX; count += 1) {
    const ref = `${NAMESPACE}/${run.name}${count === 1 ? '' : `-${count}`}`;
    const there = await plainGit(['rev-parse', '--verify', '--quiet', ref], { root, env }).catch(() => '');
    if (there.trim() === commit) return ref;
    if (there !== '') continue;
    try {
      // The empty argument means: only if the ref does not exist yet.
      await plainGit(['update-ref', ref, commit, ''], { root, env });
      return ref;
    } catch (error) {
      if (count === REFS_MAX) throw error;
    }
  }
  throw new GitFailure(`${REFS_MAX} runs of the name ${run.name} have left something`);
}
