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

/** What SQLite writes before it starts at the beginning again (`wal_autocheckpoint` in file.ts), and a fold beyond that. */
const RESERVED_BYTES = 12 * 1024 * 1024;
const ZEROS_BYTES = 1024 * 1024;

/**
 * The -wal, to put on disk what SQLite has written into it. SQLite commits without waiting (`synchronous = NORMAL`), and a
 * commit is answered once a sync that began after it has ended. So the file's write lock is not held while the disk works,
 * other processes commit meanwhile, and one sync serves all of them: it covers everything that stands before it in the
 * file, also what other processes wrote and what this commit builds on.
 */
export class Wal {
  readonly #handle: number;
  readonly #byte = Buffer.alloc(1);

  readonly #lasting: boolean;

  constructor(path: string, { brief, lasting }: { readonly brief: boolean; readonly lasting: boolean }) {
    this.#lasting = lasting;
    // Not locked by SQLite (its locks are on the other two files), so a second handle on it drops none.
    this.#handle = openSync(`${path}-wal`, 'r+');
    // Where a hook finds something in it, whoever wrote that has done so.
    if (lasting && (!brief || this.isEmpty())) syncFolder(dirname(path));
  }

  sync(): void {
    if (this.#lasting) fdatasyncSync(this.#handle);
  }

  /**
   * Makes it as long as it will become. A sync is half as quick while the file grows, because its new length has to be kept
   * as well (measured: 200 µs, then 120), and most processes end before it has stopped growing by itself. What SQLite finds behind
   * its last frame it does not read.
   *
   * Only while this process has the write lock: nobody writes behind the end meanwhile.
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

/** That the files exist must survive too. Windows can't sync a folder, and need not. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
