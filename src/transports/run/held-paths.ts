import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { git, namesIn } from '../../child-process/git.ts';
import { checkLocks, checkLocksMore, checkLocksNeeds } from '../../features/locks/index.ts';
import { type Area, isFolderPlace, overlap } from '../../kernel/area.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { normaliseArea } from '../../kernel/path.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';

const LINKS_MS_MAX = 2000;

/** What other agents hold, as paths that a program would write. */
export interface HeldPaths {
  readonly paths: ReadonlySet<string>;
  /** When the first of their locks runs out by itself. */
  readonly until_ms: number;
}

/**
 * The files and folders that other agents hold, in every work tree of the repository: a lock is on a file's name in the repository.
 * A file that is held and does not exist yet has no path that could be protected; it is noticed when it is written.
 */
export async function heldPaths(
  coxswain: Coxswain,
  agent_id: string,
  env: NodeJS.ProcessEnv,
): Promise<HeldPaths> {
  const held = await heldAreas(coxswain, agent_id);
  const until_ms = Math.min(...held.map(({ until_ms: each }) => each));
  if (held.length === 0) return { paths: new Set(), until_ms };
  const roots = await workTrees(coxswain, env);
  const found: string[] = [];
  for (const root of roots) for (const { area } of held) found.push(...(await pathsOf(area, root, env)));
  return { paths: new Set(found), until_ms };
}

async function heldAreas(
  { store, project, workspace }: Coxswain,
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

async function workTrees({ workspace }: Coxswain, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (workspace.gitCommonDir === undefined) return [workspace.root];
  const text = await git(['worktree', 'list', '--porcelain', '-z'], { cwd: workspace.root, env }).catch(
    () => '',
  );
  const others = namesIn(text).flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []));
  return [...new Set([workspace.root, ...others])];
}

async function pathsOf(area: Area, root: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (area.pattern !== undefined) return await matching(area, root, env);
  const path = join(root, area.place);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || isFolderPlace(area.place) !== found.isDirectory()) return [];
  if (found.isDirectory()) return [path.replace(/\/$/, '')];
  // A mount is on what a link leads to, and that has a lock of its own.
  if (!found.isFile()) return [];
  return found.nlink > 1 ? await namesOf(path, root) : [path];
}

/** A pattern holds the files that match it now; one that is made later is noticed when it is written. */
async function matching(area: Area, root: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = namesIn(await git(words, { cwd: root, env }).catch(() => ''));
  return names
    .filter((place) => overlap(area, { place }))
    .map((place) => join(root, place))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Every name in the work tree that leads to the same file: a hard link is another way to write it. */
async function namesOf(path: string, root: string): Promise<string[]> {
  const text = await new Promise<string>((resolve) => {
    execFile(
      'find',
      [root, '-xdev', '-samefile', path, '-print0'],
      { timeout: LINKS_MS_MAX },
      (_error, stdout) => resolve(stdout),
    );
  });
  return [...new Set([path, ...namesIn(text)])];
}
