import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { systemRandom } from '../../../kernel/ids.ts';
import type { FileChange } from '../../shared/file-change.ts';

export type { FileChange } from '../../shared/file-change.ts';

/** Another process wrote the file after the plan was made. */
export class ChangedMeanwhile extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} was changed by another program while this was planned`);
    this.path = path;
  }
}

/**
 * A person who links a configuration file to another place means the file there; replacing the link would
 * separate the two.
 */
export function linkTarget(path: string, hops_max = 40): string {
  try {
    return realpathSync(path);
  } catch {
    // A link to a file that does not exist yet, or nothing at all.
    const at = join(linkedFolder(dirname(path)), basename(path));
    if (hops_max > 0 && lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink())
      return linkTarget(resolve(dirname(at), readlinkSync(at)), hops_max - 1);
    return at;
  }
}

function linkedFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const above = dirname(folder);
    return above === folder ? folder : join(linkedFolder(above), basename(folder));
  }
}

export function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

export function modeOf(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : stat.mode & 0o7777;
}

export function sameBytes(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}

/** Creates the folder and returns the folders that did not exist before, outermost first. */
export function makeFolders(folder: string, mode?: number): string[] {
  const missing: string[] = [];
  for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at);
  return missing.filter((each) => {
    try {
      mkdirSync(each, mode === undefined ? {} : { mode });
      return true;
    } catch (error) {
      // Another process was quicker, so the folder is not ours to remove.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  });
}

/** Innermost first. A folder that is not empty, or already gone, is skipped. */
export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder);
    } catch {}
  }
}

interface Prepared {
  readonly change: FileChange;
  readonly aside: string | undefined;
  readonly folders: readonly string[];
}

/**
 * All of them or none. Every new content is complete beside its file before the first rename. If a rename
 * still fails, those already done are reverted. Returns the folders that had to be created.
 */
export function applyChanges(changes: readonly FileChange[]): string[] {
  const prepared: Prepared[] = [];
  const done: FileChange[] = [];
  try {
    for (const change of changes) assertUnchanged(change);
    for (const change of changes) prepared.push(prepare(change));
    for (const { change, aside } of prepared) {
      assertUnchanged(change);
      if (aside === undefined) rmSync(change.path);
      else renameSync(aside, change.path);
      done.push(change);
    }
  } catch (error) {
    for (const { path, before, after } of done.toReversed())
      replaceFile({ path, before: after, after: before });
    for (const { aside } of prepared) if (aside !== undefined) rmSync(aside, { force: true });
    removeFolders(prepared.flatMap(({ folders }) => folders));
    throw error;
  }
  return prepared.flatMap(({ folders }) => folders);
}

function replaceFile(change: FileChange): void {
  const { aside } = prepare(change);
  if (aside === undefined) rmSync(change.path, { force: true });
  else renameSync(aside, change.path);
}

function assertUnchanged({ path, before }: FileChange): void {
  if (!sameBytes(readBytes(path), before)) throw new ChangedMeanwhile(path);
}

/** Removes what a process killed at the wrong moment left beside a file. */
export function removeLeftovers(path: string): void {
  const folder = dirname(path);
  const start = `.${basename(path)}.`;
  const names =
    statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder) : [];
  for (const name of names)
    if (name.startsWith(start) && ASIDE.test(name.slice(start.length)))
      rmSync(join(folder, name), { force: true });
}

const ASIDE = /^[0-9a-f]{12}\.new$/;

function prepare(change: FileChange): Prepared {
  const { path, after, mode } = change;
  if (after === undefined) return { change, aside: undefined, folders: [] };
  const folders = makeFolders(dirname(path));
  const tag = Buffer.from(systemRandom.bytes(6)).toString('hex');
  const aside = join(dirname(path), `.${basename(path)}.${tag}.new`);
  try {
    writeAside(aside, after, path, mode);
  } catch (error) {
    rmSync(aside, { force: true });
    removeFolders(folders);
    throw error;
  }
  return { change, aside, folders };
}

function writeAside(aside: string, bytes: Buffer, path: string, mode: number | undefined): void {
  const old = statSync(path, { throwIfNoEntry: false });
  const file = openSync(aside, 'wx', mode ?? 0o666);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (old === undefined && mode === undefined) return;
  try {
    if (old !== undefined) chownSync(aside, old.uid, old.gid);
  } catch {} // Only root can change a file's owner; every other user already owns the files they write.
  chmodSync(aside, mode ?? (old?.mode ?? 0o600) & 0o7777);
}
