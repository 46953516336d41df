import { type Stats, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreFailure } from '../../kernel/refusal.ts';

const WAL_HEADER_BYTES = 32;
const WAL_FRAME_HEADER_BYTES = 24;

/**
 * Looks before every batch and every read whether the files at the path are still the ones that were opened. SQLite
 * itself goes on with what it has open: a commit would be acknowledged and lost, a read would answer from the past, and
 * without the common -shm two processes would write over each other.
 */
export class FileGuard {
  readonly #path: string;
  readonly #database: DatabaseSync;
  #file: Stats | undefined;
  #wal: Stats | undefined;
  #shm: Stats | undefined;

  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    this.#file = statSync(path);
  }

  check(): void {
    this.#file = same(this.#path, this.#file);
    this.#wal = same(`${this.#path}-wal`, this.#wal, () => this.#wasReset());
    this.#shm = same(`${this.#path}-shm`, this.#shm);
  }

  /** A -wal may shrink when another program has copied all of it into the file: then it has the frames SQLite counts. */
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
