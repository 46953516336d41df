import { closeSync, fdatasyncSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';

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
