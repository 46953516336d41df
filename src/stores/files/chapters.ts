import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** A stretch of the log whose rows are read from the log, not from the file. */
export interface Chapter {
  /** Positions of its first and its last row. */
  readonly first: number;
  readonly last: number;
  readonly offset: number;
  readonly bytes: number;
  /** Position of the row before it. */
  readonly position_before: number;
  readonly at_ms_before: number;
}

/**
 * Where to find the rows of a log that was read in as a whole. One entry covers a thousand rows: writing a
 * row for each would take longer than everything else in reading a log of a million events.
 */
export class Chapters {
  readonly #last: StatementSync;
  readonly #add: StatementSync;
  readonly #at: StatementSync;
  readonly #before: StatementSync;

  constructor(database: DatabaseSync) {
    this.#last = database.prepare('SELECT coalesce(max(last), 0) AS last FROM chapters');
    this.#add = database.prepare('INSERT INTO chapters VALUES (?, ?, ?, ?, ?, ?)');
    this.#at = database.prepare('SELECT * FROM chapters WHERE last > ? ORDER BY first LIMIT 1');
    this.#before = database.prepare('SELECT * FROM chapters WHERE first < ? ORDER BY first DESC LIMIT 1');
  }

  /** The position of the last row in any chapter. */
  get end(): number {
    return (this.#last.get() as { last: number }).last;
  }

  add({ first, last, offset, bytes, position_before, at_ms_before }: Chapter): void {
    this.#add.run(first, last, offset, bytes, position_before, Math.floor(at_ms_before));
  }

  /** The first chapter with rows after a position. */
  after(position: number): Chapter | undefined {
    return this.#at.get(position) as Chapter | undefined;
  }

  /** The last chapter with rows below a position. */
  below(position: number): Chapter | undefined {
    return this.#before.get(position) as Chapter | undefined;
  }
}
