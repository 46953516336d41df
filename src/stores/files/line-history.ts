import type { LogEntry } from '../../ledger/log.ts';
import type { Statements } from '../sqlite/statements.ts';
import type { Chapter, Chapters } from './chapters.ts';
import { entriesOf } from './entries.ts';
import type { EventsFile } from './events-file.ts';

/** The rows in chapters, read from the log each time they are asked for. */
export class History {
  readonly #file: EventsFile;
  readonly #chapters: Chapters;
  readonly #home: string;
  readonly #statements: Statements;

  constructor(file: EventsFile, chapters: Chapters, home: string, statements: Statements) {
    this.#file = file;
    this.#chapters = chapters;
    this.#home = home;
    this.#statements = statements;
  }

  /** The position up to which the rows are in chapters. */
  get end(): number {
    return this.#chapters.end;
  }

  *after(position: number): Iterable<LogEntry> {
    for (let chapter = this.#chapters.after(position); chapter !== undefined; ) {
      for (const entry of this.#rows(chapter)) if (entry.position > position) yield entry;
      chapter = this.#chapters.after(chapter.last);
    }
  }

  *below(position: number): Iterable<LogEntry> {
    for (let chapter = this.#chapters.below(position); chapter !== undefined; ) {
      for (const entry of [...this.#rows(chapter)].reverse()) if (entry.position < position) yield entry;
      chapter = this.#chapters.below(chapter.first);
    }
  }

  *#rows({ offset, bytes, position_before, at_ms_before }: Chapter): Iterable<LogEntry> {
    const stretch = { from: offset, to: offset + bytes, home: this.#home };
    const before = { position: position_before, at_ms: at_ms_before };
    const asTakenIn = (_record: unknown, position: number) => this.#statements.entryAt(position)?.events[0];
    for (const { entry } of entriesOf(this.#file, { ...stretch, ...before }, asTakenIn)) yield entry;
  }
}
