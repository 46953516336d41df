import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import { StoreFailure } from '../../kernel/refusal.ts';

const WAL_HEADER_BYTES = 32;
const WAL_FRAME_HEADER_BYTES = 24;
/**
 * Within this time after a check the files are not checked again: it would cost a single caller a twentieth
 * of its time. A program that removes the files within so short a time also removes what was committed
 * before.
 */
const LOOK_EVERY_MS = 1;
/** Between two full checks, only the folder, the file's size and the first byte of the -wal are checked. */
const FULL_LOOK_EVERY_MS = 200;
/** Older kernels and file systems have a coarse folder time; a change within one step would not show. */
const SETTLED_MS = 50;

/**
 * Checks before a batch or a read whether the files at the path are still the ones that were opened. SQLite
 * itself continues with the files it has open: a commit would be acknowledged and lost, a read would return
 * old data, and without a common -shm two processes would overwrite each other's writes.
 *
 * Reading the -wal's own times before every commit would make every commit slower by a third: since Linux
 * 6.13 a write after such a read gives the file a new time, and fsync has to write that too. A file that is
 * moved, deleted or replaced changes its folder's time, and an emptied one has no first byte, so these are
 * checked instead.
 */
export class FileGuard {
  readonly #path: string;
  readonly #folderPath: string;
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #walFile: Wal;
  #folder: Stats | undefined;
  #file: Stats | undefined;
  #wal: Stats | undefined;
  #shm: Stats | undefined;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #lookedFully_ms = Number.NEGATIVE_INFINITY;

  constructor(path: string, database: DatabaseSync, wal: Wal, clock: Clock) {
    this.#path = path;
    this.#folderPath = dirname(path);
    this.#database = database;
    this.#walFile = wal;
    this.#clock = clock;
    this.#file = statSync(path);
  }

  check(): void {
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#looked_ms < LOOK_EVERY_MS) return;
    if (now_ms - this.#lookedFully_ms >= FULL_LOOK_EVERY_MS || !this.#seemsUntouched())
      this.#lookFully(now_ms);
    this.#looked_ms = now_ms;
  }

  #lookFully(now_ms: number): void {
    const folder = statSync(this.#folderPath, { throwIfNoEntry: false });
    this.#file = same(this.#path, this.#file);
    this.#wal = same(`${this.#path}-wal`, this.#wal, () => this.#wasReset());
    this.#shm = same(`${this.#path}-shm`, this.#shm);
    // Read before the files, so that a change in between shows the next time.
    this.#folder = folder;
    this.#lookedFully_ms = now_ms;
  }

  #seemsUntouched(): boolean {
    if (this.#folder === undefined) return false;
    const folder = statSync(this.#folderPath, { throwIfNoEntry: false });
    if (folder?.ino !== this.#folder.ino || folder.mtimeMs !== this.#folder.mtimeMs) return false;
    if (this.#clock.now_ms() - folder.mtimeMs < SETTLED_MS) return false;
    const file = statSync(this.#path, { throwIfNoEntry: false });
    if (file === undefined || file.size < (this.#file?.size ?? 0)) return false;
    this.#file = file;
    return !this.#walFile.isEmpty();
  }

  /**
   * A -wal may shrink when another program has copied all of it into the file: then it has the frames SQLite
   * counts.
   */
  #wasReset(): boolean {
    try {
      const { log } = this.#database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number };
      const { page_size } = this.#database.prepare('PRAGMA page_size').get() as { page_size: number };
      const bytes = statSync(`${this.#path}-wal`).size;
      return log <= 0 || bytes >= WAL_HEADER_BYTES + log * (WAL_FRAME_HEADER_BYTES + page_size);
    } catch {
      return false;
    }
  }
}

function same(path: string, before: Stats | undefined, mayShrink = () => false): Stats | undefined {
  const now = statSync(path, { throwIfNoEntry: false });
  if (before === undefined) return now;
  if (now?.ino !== before.ino || now.dev !== before.dev)
    throw new StoreFailure('store_moved', `${path} is no longer the file that was opened.`);
  if (now.size < before.size && !mayShrink())
    throw new StoreFailure('store_moved', `${path} was cut short while it was open.`);
  return now;
}

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
