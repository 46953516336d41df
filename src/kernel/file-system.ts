import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';

export interface FileStat {
  readonly mtimeMs: number;
  readonly ino: number;
  readonly dev: number;
  readonly mode?: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Everything that paths and workspaces need of a disk. Read only; paths use `/` on every platform. */
export interface FileSystem {
  readonly windows: boolean;
  /** undefined when nothing is there, or nothing can be there (a file as parent, a name too long). */
  lstat(path: string): FileStat | undefined;
  readlink(path: string): string;
  /** Asked only on Windows, where it turns an 8.3 short name into the real one. */
  realpath(path: string): string;
  readFile(path: string): string;
  readdir(path: string): string[];
}

const NOTHING_THERE = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const nodeFileSystem: FileSystem = {
  windows: process.platform === 'win32',
  lstat(path) {
    try {
      return lstatSync(path, { throwIfNoEntry: false });
    } catch (error) {
      if (NOTHING_THERE.has(errorCode(error))) return undefined;
      throw error;
    }
  },
  readlink: (path) => readlinkSync(path),
  realpath: (path) => realpathSync.native(path),
  readFile: (path) => readFileSync(path, 'utf8'),
  readdir: (path) => readdirSync(path),
};

/**
 * How long a folder that was seen is assumed to still be a folder. To put a link in its place, a process has
 * to move the folder away first and then ask for a path through the link in another call; no process does
 * that within so short a time. A path that is missing or no folder is looked at each time: a new link counts
 * at once.
 */
const KNOWN_MS = 3;

/**
 * The same file system, faster for many paths: a path's folders are mostly those of the path before, and each
 * stat costs microseconds.
 */
export function knowingFolders(fs: FileSystem, nowMs: () => number): FileSystem {
  const known = new Map<string, FileStat>();
  let since_ms = Number.NEGATIVE_INFINITY;
  return {
    ...fs,
    lstat(path) {
      const now_ms = nowMs();
      const age_ms = now_ms - since_ms;
      if (!(age_ms >= 0 && age_ms < KNOWN_MS)) {
        known.clear();
        since_ms = now_ms;
      }
      const folder = known.get(path);
      if (folder !== undefined) return folder;
      const found = fs.lstat(path);
      if (found?.isDirectory() === true) known.set(path, found);
      return found;
    },
  };
}
