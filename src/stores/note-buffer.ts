import type { Unplaced } from '../ledger/log.ts';

const BUFFER_MAX = 10_000;

export interface NoteWriter {
  /** How long a row may wait for others to be written with it. */
  readonly flush_after_ms: number;
  readonly rows_per_call: number;
  /** Returns how many rows it wrote; throws if it wrote none. */
  write(rows: readonly Unplaced[]): Promise<number>;
}

/**
 * Audit rows of reads and refusals: collected for a moment and written together in the background. Rows that
 * can't be written are dropped and counted; no caller waits for them.
 */
export class NoteBuffer {
  dropped = 0;
  readonly #writer: NoteWriter;
  #rows: Unplaced[] = [];
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(writer: NoteWriter) {
    this.#writer = writer;
  }

  add(row: Unplaced): void {
    if (this.#rows.length >= BUFFER_MAX) {
      this.dropped += 1;
      return;
    }
    this.#rows.push(row);
    this.#timer ??= setTimeout(() => void this.flush(), this.#writer.flush_after_ms).unref();
  }

  /**
   * For a group of commits that is sent now and takes the rows along. If the group fails, the caller counts
   * them with `drop`.
   */
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
      const rows = this.take(this.#writer.rows_per_call);
      const written = await this.#writer.write(rows).catch(() => 0);
      this.drop(rows.length - written);
    }
  }
}
