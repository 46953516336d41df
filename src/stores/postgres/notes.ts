import type { Unplaced } from '../../ledger/log.ts';
import { type Database, STEP_MS_MAX } from './database.ts';
import { EPOCH, list } from './write-group.ts';

const BUFFER_MAX = 10_000;
const FLUSH_AFTER_MS = 100;
const ROWS_PER_CALL = 500;
const ADD_NOTES = { name: 'cox_add_notes', text: 'SELECT coxswain.add_notes($1, $2) AS r' };

/**
 * Audit rows of reads and refusals. They ride in the next group of commits; when none comes they are written on their
 * own, without waiting for the disk. What could not be written is dropped and counted, never waited for.
 */
export class Notes {
  dropped = 0;
  readonly #database: Database;
  #rows: Unplaced[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #flushed: (projects: Iterable<string>) => void;

  constructor(database: Database, flushed: (projects: Iterable<string>) => void) {
    this.#database = database;
    this.#flushed = flushed;
  }

  add(row: Unplaced): void {
    if (this.#rows.length >= BUFFER_MAX) {
      this.dropped += 1;
      return;
    }
    this.#rows.push(row);
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref();
  }

  /** For a group that goes now; if it fails, the rows have to be counted with `drop`. */
  take(count: number): Unplaced[] {
    return this.#rows.length === 0 ? [] : this.#rows.splice(0, count);
  }

  drop(count: number): void {
    this.dropped += count;
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing ??= this.#flushAll().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flushAll(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.take(ROWS_PER_CALL);
      const values = [EPOCH, list(rows.map((row) => JSON.stringify(row)))];
      const deadline_ms = this.#database.clock.elapsed_ms() + STEP_MS_MAX;
      try {
        // Not repeated when the line breaks: a row written twice would be worse than one that is counted as dropped.
        await this.#database.call(ADD_NOTES, () => values, deadline_ms, false);
        this.#flushed(new Set(rows.map(({ project }) => project)));
      } catch {
        this.drop(rows.length);
      }
    }
  }
}
