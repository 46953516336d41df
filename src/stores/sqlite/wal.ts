import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * What SQLite writes before it starts again at the beginning (`wal_autocheckpoint` in file.ts), plus one
 * fold.
 */
const RESERVED_BYTES = 12 * 1024 * 1024;
const ZEROS_BYTES = 1024 * 1024;

/**
 * The -wal, to put on disk what SQLite has written into it. SQLite commits without waiting (`synchronous =
 * NORMAL`), and a commit is answered once a sync that began after it has ended. So the file's write lock is
 * not held while the disk works, other processes commit meanwhile, and one sync serves all of them: it covers
 * everything before it in the file, including what other processes wrote and what this commit builds on.
 */
export class Wal {
  readonly #handle: number;
  readonly #byte = Buffer.alloc(1);

  readonly #lasting: boolean;

  constructor(path: string, { brief, lasting }: { readonly brief: boolean; readonly lasting: boolean }) {
    this.#lasting = lasting;
    // SQLite does not lock this file (its locks are on the other two), so a second handle on it drops none.
    this.#handle = openSync(`${path}-wal`, 'r+');
    // If a hook finds something in it, the process that wrote that has already synced the folder.
    if (lasting && (!brief || this.isEmpty())) syncFolder(dirname(path));
  }

  sync(): void {
    if (this.#lasting) fdatasyncSync(this.#handle);
  }

  /**
   * Extends the file to its final length. A sync is half as fast while the file grows, because its new length
   * has to be stored as well (measured: 200 µs, then 120), and most processes end before it has stopped
   * growing by itself. SQLite does not read what is behind its last frame.
   *
   * Only while this process has the write lock, so that no other process writes behind the end meanwhile.
   */
  reserve(): void {
    if (!this.#lasting) return;
    const length = this.bytes();
    const zeros = Buffer.alloc(ZEROS_BYTES);
    try {
      for (let at = length; at < RESERVED_BYTES; )
        at += writeSync(this.#handle, zeros, 0, Math.min(ZEROS_BYTES, RESERVED_BYTES - at), at);
    } catch {
      // A disk without room for it may still have room for the next commit.
      ftruncateSync(this.#handle, length);
    }
  }

  isEmpty(): boolean {
    return readSync(this.#handle, this.#byte, 0, 1, 0) === 0;
  }

  bytes(): number {
    return fstatSync(this.#handle).size;
  }

  close(): void {
    closeSync(this.#handle);
  }
}

/** The existence of the files must survive too. Windows can't sync a folder, and need not. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
