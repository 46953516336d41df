import { limits } from '../../kernel/limits.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import type { Statements } from '../sqlite/statements.ts';
import type { Chapters } from './chapters.ts';
import { entriesOf, type ReadEntry, type Stretch } from './entries.ts';
import type { EventsFile } from './events-file.ts';
import { Fold } from './fold.ts';
import { tellOf } from './tell-of.ts';

/** A longer stretch is read in as chapters. */
const ROWS_BYTES_MAX = 256 * 1024;
const CHAPTER_ROWS = 1000;

export interface Target {
  readonly statements: Statements;
  readonly chapters: Chapters;
  readonly context: StoreContext;
}

/**
 * Reads a stretch of the log into records and rows. In the writer's transaction: all of it counts, or
 * nothing.
 */
export function ingest(
  file: EventsFile,
  { statements, chapters, context }: Target,
  { from, to, home }: Pick<Stretch, 'from' | 'to' | 'home'>,
): number {
  const fold = new Fold(context.entities, statements);
  const before = { position: statements.lastPosition(), at_ms: 0 };
  // If there are rows already, the stretch comes after them; chapters can only be at the beginning of a log.
  const rows =
    to - from > ROWS_BYTES_MAX && before.position === 0 ? new ChapterRows(chapters) : new PlainRows();
  const reading = entriesOf(file, { from, to, home, ...before }, (record) => {
    const about = context.foreign?.about(record);
    return about === undefined ? undefined : context.foreign?.eventOf(record, fold.stateOf(home, about));
  });
  const now_ms = context.clock.now_ms();
  let position = before.position;
  let last_ms = 0;
  for (let read = reading.next(); ; read = reading.next()) {
    if (read.done) {
      const inChapters = rows.end();
      // A row in the file too: positions are counted from it.
      if (inChapters > 0)
        tellOf(
          statements,
          'log_read',
          { home, position: position + 1, at_ms: last_ms },
          { rows: inChapters },
        );
      fold.flush();
      return read.value;
    }
    const { entry, input_digest } = read.value;
    if (rows instanceof PlainRows && entry.position > position + 1)
      statements.announceGap(position + 1, entry.position - 1);
    position = entry.position;
    last_ms = entry.at_ms;
    const mayComeAgain = input_digest !== null && now_ms - entry.at_ms < limits.operation_kept_ms;
    // What a foreign line meant when it came can't be read from the line alone.
    const interpreted = !read.value.own && entry.events.length > 0;
    if (rows.add(read.value) || mayComeAgain || interpreted) insertRow(statements, read.value);
    if (entry.events.length > 0) fold.apply(entry);
  }
}

function insertRow(statements: Statements, { entry, input_digest, place, own }: ReadEntry): void {
  const { position, project, at_ms, agent_id, operation, operation_id, events, ...rest } = entry;
  statements.insertRow({
    ...{ position, project, at_ms, agent_id, operation, operation_id, input_digest },
    body: JSON.stringify(own ? { ...rest, at: place } : { ...rest, events }),
  });
}

/** Every row is stored. */
class PlainRows {
  add(_read: ReadEntry): boolean {
    return true;
  }

  end(): number {
    return 0;
  }
}

class ChapterRows {
  readonly #chapters: Chapters;
  #rows = 0;
  #written = 0;
  #first: ReadEntry | undefined;
  #last: ReadEntry | undefined;
  #before = { position: 0, at_ms: 0 };

  constructor(chapters: Chapters) {
    this.#chapters = chapters;
  }

  add(read: ReadEntry): boolean {
    this.#first ??= read;
    this.#last = read;
    this.#rows += 1;
    if (this.#rows >= CHAPTER_ROWS) this.end();
    return false;
  }

  /** Returns how many rows there are now. */
  end(): number {
    if (this.#first === undefined || this.#last === undefined) return this.#written;
    const [offset] = this.#first.place;
    const [lastOffset, lastBytes] = this.#last.place;
    const { position: last, at_ms } = this.#last.entry;
    this.#chapters.add({
      first: this.#first.entry.position,
      last,
      offset,
      bytes: lastOffset + lastBytes - offset,
      position_before: this.#before.position,
      at_ms_before: this.#before.at_ms,
    });
    this.#before = { position: last, at_ms };
    this.#first = undefined;
    this.#written += this.#rows;
    this.#rows = 0;
    return this.#written;
  }
}
