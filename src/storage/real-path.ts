import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { PlaceProblem } from './storage-place.ts';

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Undefined where there is nothing; every other trouble is thrown. */
export async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Not by the way of a promise: that takes ten times as long as the answer. */
export function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * `folder/path`, with no symlink on the way from the folder on: whoever writes there writes there. `path` has slashes, and no name
 * in it may lead elsewhere.
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
