import { limits } from '../../kernel/limits.ts';
import { type Draft, PlaceProblem } from '../storage-place.ts';

/**
 * To S3 a key is only a text. To a proxy, a file system in front of the bucket or a copying tool it is a
 * path, and `..` in it leads to another agent's objects.
 */
export function isKeyPath(path: string): boolean {
  return path
    .split('/')
    .every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'));
}

export function keyBelow(folder: string, path: string): string {
  if (!isKeyPath(path)) throw new PlaceProblem(`${JSON.stringify(path)} is no path below its folder.`);
  return `${folder}${path}`;
}

/** How a listing shows an object; undefined: only a folder marker, as some tools create them. */
export function draftOf(path: string, bytes: number): Draft | undefined {
  if (bytes === 0 && (path === '' || path.endsWith('/'))) return undefined;
  return { path, bytes, problem: problemOf(path, bytes) };
}

function problemOf(path: string, bytes: number): string | undefined {
  if (!isKeyPath(path)) return 'a name that is no path; only who manages the bucket can remove it';
  if (path.split('/').length > limits.draft_depth_max + 1) return 'too many folders deep';
  return bytes > limits.draft_bytes_max ? `larger than ${limits.draft_bytes_max} bytes` : undefined;
}
