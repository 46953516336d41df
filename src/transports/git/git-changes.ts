import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type GitCall, git, namesIn } from '../../child-process/git.ts';

/** Newest first. A push of more commits imports a history, and current work is at its end. */
const COMMITS_MAX = 1000;
const NO_OBJECT = /^0+$/;
const OBJECT = /^[0-9a-f]{40,64}$/;
/** Any other name could be read as a pattern, or is the address of an unnamed remote. */
const REMOTE = /^[\w][\w./-]*$/;

const NAMES = ['--name-only', '-z', '--no-renames'] as const;

/**
 * The files that the commit about to be made changes, by their names in the work tree; for a rename, both
 * names. A merge brings in commits of other branches: only files that differ from all of its parents count.
 */
export async function stagedFiles(call: GitCall, merging = false): Promise<string[]> {
  const differing = async (from: readonly string[]) =>
    namesIn(await git(['diff', '--cached', '--no-relative', '--no-ext-diff', ...NAMES, ...from, '--'], call));
  const heads = merging ? Promise.resolve(headsOfMerge(call.env)) : linesOf('MERGE_HEAD', call);
  const [staged, merged] = await Promise.all([differing([]), heads]);
  let files = staged;
  for (const parent of merged) {
    const own = new Set(await differing([parent]));
    files = files.filter((name) => own.has(name));
  }
  return files;
}

/** While `git merge` itself runs there is no MERGE_HEAD yet; git names the heads in its environment. */
function headsOfMerge(env: NodeJS.ProcessEnv): string[] {
  const heads = Object.keys(env).map((name) => name.replace(/^GITHEAD_/, ''));
  return heads.filter((head) => OBJECT.test(head));
}

/**
 * The files changed by commits that are about to be pushed and that, as far as we know, this remote does not
 * have yet.
 */
export async function pushedFiles(remote: string, lines: string, call: GitCall): Promise<string[]> {
  const [pushed, known]: [string[], string[]] = [[], []];
  for (const line of lines.split('\n')) {
    const [, local = '', , there = ''] = line.trim().split(' ');
    // Deleting a remote branch pushes no commits.
    if (!OBJECT.test(local) || NO_OBJECT.test(local)) continue;
    pushed.push(local);
    if (OBJECT.test(there) && !NO_OBJECT.test(there)) known.push(there);
  }
  if (pushed.length === 0) return [];
  // At the boundary of a shallow clone, a commit looks as if it had added every file.
  const cutOff = (await linesOf('shallow', call)).filter((line) => OBJECT.test(line));
  const excluded = [...known, ...cutOff].map((object) => `^${object}`);
  const range = ['--ignore-missing', `--max-count=${COMMITS_MAX}`, '--stdin'];
  const tracked = REMOTE.test(remote) ? ['--not', `--remotes=${remote}`] : [];
  const input = `${[...pushed, ...excluded].join('\n')}\n`;
  const commits = await git(['rev-list', ...range, ...tracked], { ...call, input });
  return await filesOf(commits, call);
}

export interface RebasePlan {
  /** `--root`: all commits of the branch are made again. */
  readonly upstream: string;
  /** Where they are made again; undefined: on the upstream. */
  readonly onto: string | undefined;
  /** Undefined: the one that is checked out. */
  readonly branch: string | undefined;
}

/**
 * What a rebase puts together itself, as a merge does: the files that the commits to be made again have changed and that are
 * different on the new base as well. The other files come from either side as they are.
 */
export async function rebasedFiles(
  { upstream, onto = upstream, branch = 'HEAD' }: RebasePlan,
  call: GitCall,
): Promise<string[]> {
  const isAll = upstream === '--root';
  if (onto === '--root') return [];
  const base = isAll ? undefined : (await git(['merge-base', upstream, branch], call)).trim();
  const differing =
    base === undefined
      ? await git(['ls-tree', '-r', '-z', '--name-only', '--full-tree', onto], call)
      : await git(['diff-tree', '-r', ...NAMES, base, onto, '--'], call);
  const range = isAll ? [branch] : ['--right-only', '--cherry-pick', `${upstream}...${branch}`];
  const input = await git(['rev-list', '--no-merges', ...range, '--'], call);
  const there = new Set(namesIn(differing));
  return (await filesOf(input, call)).filter((name) => there.has(name));
}

/** What these commits change, one on each line; of a merge, only files that differ from all parents. */
async function filesOf(commits: string, call: GitCall): Promise<string[]> {
  const differences = ['diff-tree', '--stdin', '-r', '-c', '--root', '--no-commit-id', ...NAMES];
  return [...new Set(namesIn(await git(differences, { ...call, input: commits })))];
}

/** The lines of a file in git's own folder. */
async function linesOf(name: string, call: GitCall): Promise<string[]> {
  const path = (await git(['rev-parse', '--git-path', name], call)).replace(/\n$/, '');
  const text = await readFile(resolve(call.cwd, path), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}
