import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { limits } from '../kernel/limits.ts';
import { errorCode } from './real-path.ts';

/** What a file contains, or why it can't be read. */
export type FileText =
  | { readonly ok: true; readonly text: string; readonly inode: string }
  | { readonly ok: false; readonly reason: string; readonly missing?: boolean };

const bytes_max = limits.fleet_file_bytes_max;
/**
 * One shared buffer: allocating one for each of a thousand files takes longer than reading them. It is only
 * used synchronously.
 */
let room: Buffer | undefined;

/** `links: false`: a path that has become a link is not followed. */
export function readBounded(path: string, { links = true }: { links?: boolean } = {}): FileText {
  let file: number | undefined;
  try {
    // Reading a pipe of that name would wait for ever.
    const flags =
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (links ? 0 : (constants.O_NOFOLLOW ?? 0));
    file = openSync(path, flags);
    const stat = fstatSync(file);
    if (!stat.isFile()) return { ok: false, reason: 'not a file' };
    room ??= Buffer.allocUnsafe(bytes_max + 1);
    const bytes = room;
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read)
      read = readSync(file, bytes, size, bytes.length - size, null);
    if (size > bytes_max) return { ok: false, reason: `larger than ${bytes_max} bytes` };
    // A caller that wrote it back would write something else.
    if (!isUtf8(bytes.subarray(0, size))) return { ok: false, reason: 'no UTF-8 text' };
    return { ok: true, text: bytes.toString('utf8', 0, size), inode: `${stat.dev}:${stat.ino}` };
  } catch (error) {
    return { ok: false, reason: unreadable(error), missing: errorCode(error) === 'ENOENT' };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function unreadable(error: unknown): string {
  const code = errorCode(error);
  return `can’t be read${code === '' ? '' : ` (${code})`}`;
}
