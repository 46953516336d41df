import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Unplaced } from '../../ledger/log.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import type { Journal, JournalPlace } from '../sqlite/journal-port.ts';
import type { Statements } from '../sqlite/statements.ts';
import { Chapters } from './chapters.ts';
import { type End, EventsFile, NO_END } from './events-file.ts';
import type { Layout } from './folder-layout.ts';
import { forgetAll, tellOfNewLog } from './forget.ts';
import { ingest } from './ingest.ts';
import { History } from './line-history.ts';
import { flatLine, readOwn } from './log-line.ts';

const NEWLINE = 0x0a;
const LINE_END = /\r?\n/;

interface Known extends End {
  readonly home: string;
}

/**
 * Keeps the records beside a log of plain lines. Each transaction first makes sure that the log is the one it
 * knows. Lines that were appended but not taken in yet (by a process that died before its commit, or by
 * another implementation) are taken in. A torn end is cut. When it is another log (an older one was checked
 * out), everything is rebuilt from it.
 */
export class FilesJournal implements Journal {
  readonly #layout: Layout;
  readonly #file: EventsFile;
  readonly #context: StoreContext;
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #chapters: Chapters;
  readonly history: History;
  readonly #read: StatementSync;
  readonly #note: StatementSync;
  #known: Known | undefined;
  /** The length at which a reader last compared the end. */
  #compared: number | undefined;
  #buffer: string[] = [];
  #buffered = 0;
  /** The log's end before this transaction appended to it. */
  #flushedFrom: number | undefined;

  constructor(layout: Layout, database: DatabaseSync, statements: Statements, context: StoreContext) {
    this.#layout = layout;
    this.#file = new EventsFile(layout.log, context.lasting !== false);
    this.#context = context;
    this.#database = database;
    this.#statements = statements;
    this.#chapters = new Chapters(database);
    this.#read = database.prepare('SELECT bytes, tail, home FROM journal');
    this.#note = database.prepare('UPDATE journal SET bytes = ?, tail = ?');
    this.history = new History(this.#file, this.#chapters, this.#noted().home, statements);
  }

  /** The project to which lines of other programs belong. */
  get home(): string {
    return this.#noted().home;
  }

  /** Whether a program may have written the log without updating the file. Costs one stat of each. */
  isBehind(): boolean {
    const { bytes, replaced } = this.#file.look();
    const noted = this.#noted();
    if (replaced || bytes !== noted.bytes) return true;
    // While no process had it open, another log of the same length may have been put there.
    if (this.#compared === bytes || this.#known !== undefined) return false;
    this.#compared = bytes;
    return this.#file.endAt(bytes).tail !== noted.tail;
  }

  catchUp(): boolean {
    this.#flushedFrom = undefined;
    const { bytes, replaced } = this.#file.look();
    const known = this.#known;
    const noted = this.#noted();
    this.#known = noted;
    if (bytes === noted.bytes && !replaced && known?.bytes === bytes && known.tail === noted.tail)
      return false;
    if (bytes === noted.bytes && this.#file.endAt(bytes).tail === noted.tail) return false;
    if (bytes > noted.bytes && this.#file.endAt(noted.bytes).tail === noted.tail) {
      this.#ingest(noted.bytes, bytes);
      return true;
    }
    this.#startAnew(noted, bytes);
    return true;
  }

  /**
   * Another log than the one that was known. A reader that continues from its position still finds new rows.
   */
  #startAnew(noted: Known, bytes: number): void {
    const before = forgetAll(this.#database, this.#statements, this.#layout, this.#context.clock.now_ms());
    this.#ingest(0, bytes);
    if (noted.bytes > 0)
      tellOfNewLog(this.#statements, this.#context.clock.now_ms(), { ...before, home: noted.home });
  }

  #ingest(from: number, to: number): void {
    const target = { statements: this.#statements, chapters: this.#chapters, context: this.#context };
    const end = ingest(this.#file, target, { from, to, home: this.#noted().home });
    if (end < to) this.#cut(end, to);
    this.#remember(this.#file.endAt(end));
  }

  /**
   * An unfinished line or commit promised nothing to any caller. The bytes of other programs are kept all the
   * same.
   */
  #cut(end: number, to: number): void {
    const torn = Buffer.alloc(to - end);
    const read = this.#file.read(torn, end);
    mkdirSync(this.#layout.aside, { recursive: true });
    writeFileSync(join(this.#layout.aside, `torn-at-${end}.txt`), torn.subarray(0, read));
    this.#file.cut(end);
  }

  append(position: number, row: Unplaced, input_digest: string | null): JournalPlace {
    const retryable = input_digest === null ? undefined : { input_digest, answer: row.result };
    if (this.#buffer.length === 0 && this.#endsWithinLine()) this.#put('\n');
    const offset = this.#end().bytes + this.#buffered;
    const of = row.events.length;
    let bytes = 0;
    for (const [n, event] of row.events.entries()) {
      bytes += this.#put(`${flatLine(row, position, event, n + 1, of, n === 0 ? retryable : undefined)}\n`);
    }
    return [offset, bytes];
  }

  #put(text: string): number {
    const bytes = Buffer.byteLength(text);
    this.#buffer.push(text);
    this.#buffered += bytes;
    return bytes;
  }

  /** Some programs leave out the end of the last line. */
  #endsWithinLine(): boolean {
    const { bytes } = this.#end();
    if (bytes === 0) return false;
    const last = Buffer.alloc(1);
    this.#file.read(last, bytes - 1);
    return last[0] !== NEWLINE;
  }

  flush(): void {
    if (this.#buffer.length === 0) return;
    const { bytes: at } = this.#end();
    const bytes = Buffer.from(this.#buffer.join(''));
    this.#buffer = [];
    this.#buffered = 0;
    this.#file.append(bytes, at);
    this.#flushedFrom = at;
    this.#remember(this.#file.endAt(at + bytes.length));
  }

  abandon(): void {
    const from = this.#flushedFrom;
    this.#flushedFrom = undefined;
    if (from !== undefined) this.#takeBack(from);
    this.#buffer = [];
    this.#buffered = 0;
    this.#known = undefined;
  }

  /**
   * The transaction failed, so nothing of it may stay in the log. A full disk ends the transaction and
   * releases the write lock; the lines can be removed only if no other process holds the lock and has taken
   * them in. Otherwise they have been committed.
   */
  #takeBack(from: number): void {
    try {
      if (!this.#database.isTransaction) this.#statements.begin();
      if (this.#noted().bytes === from) this.#file.cut(from);
    } catch {
      // Another process is writing: it will find the lines.
    }
  }

  sync(): void {
    this.#file.sync();
  }

  eventsAt([offset, bytes]: JournalPlace): readonly EventBody[] {
    const buffer = Buffer.allocUnsafe(bytes);
    const read = this.#file.read(buffer, offset);
    const lines = buffer.toString('utf8', 0, read).split(LINE_END).slice(0, -1);
    return lines.map((line) => {
      const own = readOwn(parsed(line), line);
      if (own !== undefined && !('damaged' in own)) return own.event;
      throw new StoreFailure('store_damaged', `The log was changed at byte ${offset} after it was written.`, {
        details: { kind: 'changed', file: this.#layout.log },
      });
    });
  }

  close(): void {
    this.#file.close();
  }

  #end(): End {
    return this.#known ?? NO_END;
  }

  #noted(): Known {
    return this.#read.get() as unknown as Known;
  }

  #remember(end: End): void {
    this.#known = { ...this.#noted(), ...end };
    this.#note.run(end.bytes, end.tail);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
