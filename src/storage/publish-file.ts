import { link, lstat, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../kernel/hash.ts';
import { makeFolder, syncFolder, writeLasting } from './lasting.ts';
import { errorCode, unlessMissing } from './real-path.ts';
import { PlaceProblem, type Publication, type Published } from './storage-place.ts';

interface Publishing extends Publication {
  /** Resolved anew each time: a folder on the way may have become a link. */
  target(): Promise<string>;
  /** The file with the new contents. */
  readonly staged: string;
  /** The same for every process that finishes the same promotion. */
  readonly tag: string;
}

/** In each round another process has made progress; this many rounds mean a fault. */
const ROUNDS_MAX = 10;
const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV'];

/** Two calls within one process may publish the same file at the same time. */
let count = 0;

const asideStart = (tag: string) => `.cox-${tag}-`;

/**
 * Replaces the old contents by the new in one step. The new contents are complete beside the target, under a
 * name that all processes finishing this promotion share. Only one of them moves it into place; one that was
 * stopped half-way and wakes up late finds nothing left to move.
 */
export async function publishFile(publishing: Publishing): Promise<Published> {
  const { draft_hash, old_hash, staged, tag, path } = publishing;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const target = await publishing.target();
    const aside = join(dirname(target), `${asideStart(tag)}${sha256(path).slice(0, 12)}.new`);
    const before = await hashOf(target);
    if (before === draft_hash || before !== old_hash) {
      await rm(aside, { force: true });
      if (before === draft_hash) return 'published';
      return 'conflict';
    }
    const bytes = await unlessMissing(readFile(staged));
    if (bytes === undefined || sha256(bytes) !== draft_hash) {
      // The process that has finished it meanwhile has also removed the staged contents.
      return (await hashOf(target)) === draft_hash ? 'published' : 'lost';
    }
    await putAside(aside, bytes, await modeFor(target, staged));
    // Writing took time, so look again.
    if ((await hashOf(target)) !== old_hash) continue;
    if (await moveIntoPlace(aside, target, old_hash === null)) {
      await syncFolder(dirname(target));
      return 'published';
    }
  }
  throw new PlaceProblem(`${JSON.stringify(path)} changes too often to be replaced.`);
}

async function putAside(aside: string, bytes: Uint8Array, mode: number): Promise<void> {
  count += 1;
  const own = `${aside}.${process.pid}.${count}`;
  await makeFolder(dirname(aside));
  try {
    await writeLasting(own, bytes, mode);
    await rename(own, aside);
  } catch (error) {
    await rm(own, { force: true }).catch(() => {});
    throw error;
  }
}

/** False: another process was quicker, with this or with other contents. */
async function moveIntoPlace(aside: string, target: string, mustBeNew: boolean): Promise<boolean> {
  try {
    // A link never replaces a file: one that another process has created at this very moment stays.
    if (mustBeNew && (await linked(aside, target))) await rm(aside, { force: true });
    else await rename(aside, target);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** False: this disk has no links. */
async function linked(aside: string, target: string): Promise<boolean> {
  try {
    await link(aside, target);
    return true;
  } catch (error) {
    if (NO_HARD_LINKS.includes(errorCode(error))) return false;
    throw error;
  }
}

async function hashOf(target: string): Promise<string | null> {
  const bytes = await unlessMissing(readFile(target));
  return bytes === undefined ? null : sha256(bytes);
}

/** An asset keeps its mode; a new one has its draft's. */
async function modeFor(target: string, staged: string): Promise<number> {
  const found = (await unlessMissing(lstat(target))) ?? (await lstat(staged));
  return found.mode & 0o777;
}

/** Removes what processes that were stopped half-way have left beside it. */
export async function removeAsides(target: string, tag: string): Promise<void> {
  const folder = dirname(target);
  for (const name of (await unlessMissing(readdir(folder))) ?? [])
    if (name.startsWith(asideStart(tag))) await rm(join(folder, name), { force: true });
}
