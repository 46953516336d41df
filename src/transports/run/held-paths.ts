import { execFile } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { git, namesIn } from '../../child-process/git.ts';
import { checkLocks, checkLocksMore, checkLocksNeeds } from '../../features/locks/index.ts';
import { type Area, isFolderPlace, overlap } from '../../kernel/area.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { normaliseArea } from '../../kernel/path.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';

const LINKS_MS_MAX = 2000;
const LINKS_BYTES_MAX = 64 * 1024 * 1024;

/** Where locks are looked up, and the repository that they are about. */
export type LockedPlace = Pick<Coxswain, 'store' | 'project' | 'workspace'>;

/** What other agents hold, as paths that a program would write. */
export interface HeldPaths {
  readonly paths: ReadonlySet<string>;
  /** Those, and the names of held files that are not there: a file that is put in their place is held as well. */
  readonly watched: ReadonlySet<string>;
  /** Files with more hard links than were found. */
  readonly unfound: readonly string[];
  /** When the first of their locks runs out by itself. */
  readonly until_ms: number;
}

/**
 * The files and folders that other agents hold, in every work tree of the repository: a lock is on a file's name in the repository.
 * A file that is held and does not exist yet has no path that could be protected; it is noticed when it is written.
 */
export async function heldPaths(
  place: LockedPlace,
  agent_id: string,
  env: NodeJS.ProcessEnv,
): Promise<HeldPaths> {
  const held = await heldAreas(place, agent_id);
  const until_ms = Math.min(...held.map(({ until_ms: each }) => each));
  const roots = held.length === 0 ? [] : await workTrees(place, env);
  const [found, missing]: [string[], string[]] = [[], []];
  for (const root of roots)
    for (const { area } of held) {
      const paths = await pathsOf(area, root, env);
      found.push(...paths);
      if (paths.length === 0 && area.pattern === undefined) missing.push(join(root, area.place));
    }
  const { paths, unfound } = await withLinks(found, roots);
  return { paths, watched: new Set([...paths, ...missing]), unfound, until_ms };
}

async function heldAreas(
  { store, project, workspace }: LockedPlace,
  agent_id: string,
): Promise<{ area: Area; until_ms: number }[]> {
  let found = await store.find(project, checkLocksNeeds(undefined));
  const more = checkLocksMore(undefined, found.loaded);
  if (more !== undefined) found = await store.find(project, more);
  const locks = checkLocks(undefined, found.loaded, found.now_ms).locks as JsonObject[];
  return locks
    .filter(({ locked_by }) => locked_by !== agent_id)
    .flatMap(({ file_path, expires_at }) => {
      const normal = normaliseArea(file_path as string, workspace);
      return normal.ok ? [{ area: normal.area, until_ms: Date.parse(expires_at as string) }] : [];
    });
}

async function workTrees({ workspace }: LockedPlace, env: NodeJS.ProcessEnv): Promise<string[]> {
  const own = realpathSync(workspace.root);
  const { gitCommonDir } = workspace;
  if (gitCommonDir === undefined) return [own];
  const main = realpathSync(dirname(gitCommonDir));
  // Git needs as long for its answer as all the rest together, before each shell command of a client.
  if (basename(gitCommonDir) === '.git') return [...new Set([own, main, ...linkedWorkTrees(gitCommonDir)])];
  const text = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: workspace.root, env }).catch(
    () => '',
  );
  const others = namesIn(text).flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []));
  return [...new Set([own, ...others])];
}

/** As git notes them: each in a folder with the path of the work tree's `.git`. */
function linkedWorkTrees(gitCommonDir: string): string[] {
  const folder = join(gitCommonDir, 'worktrees');
  return namesOf(folder).flatMap((name) => {
    try {
      const path = readFileSync(join(folder, name, 'gitdir'), 'utf8').replace(/\n$/, '');
      return [realpathSync(dirname(resolve(folder, name, path)))];
    } catch {
      return []; // It was removed, and git has not tidied up yet.
    }
  });
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function pathsOf(area: Area, root: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (area.pattern !== undefined) return await matching(area, root, env);
  const path = join(root, area.place);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || isFolderPlace(area.place) !== found.isDirectory()) return [];
  // A mount is on what a link leads to, and that has a lock of its own.
  return found.isDirectory() || found.isFile() ? [realpathSync(path)] : [];
}

/** A pattern holds the files that match it now; one that is made later is noticed when it is written. */
async function matching(area: Area, root: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = namesIn(await git(words, { cwd: root, env }).catch(() => ''));
  return names
    .filter((place) => overlap(area, { place }))
    .map((place) => join(root, place))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => realpathSync(path));
}

/** With every other name in the work trees that leads to the same file: a hard link is another way to write it. */
async function withLinks(
  found: readonly string[],
  roots: readonly string[],
): Promise<{ paths: Set<string>; unfound: string[] }> {
  const paths = new Set(found);
  const linked = new Map<string, { path: string; links: number }>();
  const add = (path: string) => {
    const { ino, dev, nlink } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
    if (nlink !== undefined && nlink > 1) linked.set(`${dev}:${ino}`, { path, links: nlink });
  };
  for (const path of paths) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) add(path);
    else for (const name of await manyNamed([path])) add(name);
  }
  if (linked.size === 0) return { paths, unfound: [] };
  const named = new Map<string, number>();
  for (const path of await manyNamed(roots)) {
    const { ino, dev } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
    const file = `${dev}:${ino}`;
    if (!linked.has(file)) continue;
    paths.add(path);
    named.set(file, (named.get(file) ?? 0) + 1);
  }
  const unfound = [...linked].filter(([file, { links }]) => (named.get(file) ?? 0) < links);
  return { paths, unfound: unfound.map(([, { path }]) => path) };
}

/** The files below these folders that have more than one name. */
async function manyNamed(folders: readonly string[]): Promise<string[]> {
  const text = await new Promise<string>((resolve) => {
    execFile(
      'find',
      [...folders, '-xdev', '-type', 'f', '-links', '+1', '-print0'],
      { timeout: LINKS_MS_MAX, maxBuffer: LINKS_BYTES_MAX },
      (_error, stdout) => resolve(stdout),
    );
  });
  return [...new Set(namesIn(text))];
}
