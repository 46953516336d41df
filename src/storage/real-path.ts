import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { PlaceProblem } from './storage-place.ts';

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Undefined when the file is missing; every other error is thrown. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Synchronous: a promise takes ten times as long as the call. */
export function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * `folder/path`, with no symlink below the folder: a write there goes there and nowhere else. `path` uses
 * slashes, and no name in it may lead elsewhere.
 */
export async function realPath(folder: string, path: string): Promise<string> {
  let at = folder;
  const names = path.split('/');
  for (const [index, name] of names.entries()) {
    if (name === '' || name === '.' || name === '..' || name.includes('\\') || name.includes('\0'))
      throw new PlaceProblem(`${JSON.stringify(path)} is no path below its folder.`);
    at = join(at, name);
    const stat = lstatIfThere(at);
    if (stat?.isSymbolicLink()) throw new PlaceProblem(`${JSON.stringify(path)} goes through a symlink.`);
    const isLast = index === names.length - 1;
    if (stat !== undefined && !isLast && !stat.isDirectory())
      throw new PlaceProblem(`${JSON.stringify(path)} goes through a file.`);
  }
  return at;
}
