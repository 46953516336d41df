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
