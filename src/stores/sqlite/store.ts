import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '../../kernel/json.ts';
import type { Decision, Needs, Taking } from '../../ledger/decision.ts';
import { type LogEntry, logRow, type Request, type Unplaced } from '../../ledger/log.ts';
import { recall } from '../../ledger/optimistic.ts';
import { deliberate, LoadedSet, overLimits, propose } from '../../ledger/proposal.ts';
import type { Outcome, Store, StoreContext } from '../../ledger/store.ts';
import { isBusy, storeFailure } from './errors.ts';
import { openFile } from './file.ts';
import { Watch } from './watch.ts';
import { Writer } from './writer.ts';

interface OpenedFile {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly writer: Writer;
  readonly watch: Watch;
  users: number;
}

/**
 * One connection per file and process. A second one would not group with the first, and closing a file that is open
 * elsewhere in the process drops POSIX locks.
 */
const opened = new Map<string, Promise<OpenedFile>>();

export async function openSqlite(path: string, context: StoreContext): Promise<Store> {
  const key = realName(path);
  let file = opened.get(key);
  if (file === undefined) {
    file = openOnce(key, context);
    opened.set(key, file);
    file.catch(() => opened.delete(key));
  }
  const ready = await file;
  ready.users += 1;
  return new SqliteStore(ready, context);
}

async function openOnce(path: string, context: StoreContext): Promise<OpenedFile> {
  const database = await openFile(path, context.clock);
  const writer = new Writer(database, path, context.clock, context.random);
  return { path, database, writer, watch: new Watch(path, writer, context.clock), users: 0 };
}

function realName(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

const READ_PAGE = 1000;
const RECOVERY_MS_MAX = 2000;

class SqliteStore implements Store {
  readonly #file: OpenedFile;
  readonly #context: StoreContext;
  readonly #closing = new AbortController();

  constructor(file: OpenedFile, context: StoreContext) {
    this.#file = file;
    this.#context = context;
  }

  get dropped(): number {
    return this.#file.writer.dropped;
  }

  run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    return new Promise((resolve, reject) => {
      this.#file.writer.submit({
        execute: () => {
          const outcome = this.#decide(request, decision);
          // What was committed before under this id may still be on its way to the disk, too.
          return { promises: outcome.status === 'committed', answer: () => resolve(outcome) };
        },
        fail: reject,
      });
    });
  }

  /** Inside the writer's transaction nobody else is changing anything: the plain decision is the take. */
  take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    return this.run(request, taking.decision);
  }

  /** Steps 3 to 6 of an operation's way, within one transaction that other callers share. */
  #decide<A extends JsonObject>(request: Request, decision: Decision<A>): Outcome<A> {
    const { statements } = this.#file.writer;
    const { clock, entities } = this.#context;
    // An id of our own making never comes again: nothing to look up, and nothing to keep an index entry for.
    const named = request.input_digest !== '';
    const seen = named ? statements.seen(request, clock.now_ms()) : undefined;
    if (seen !== undefined) return recall<A>(request, seen);
    for (;;) {
      const now_ms = clock.now_ms();
      const loaded = new LoadedSet();
      const rounds = deliberate(decision, loaded, () => now_ms);
      let step = rounds.next();
      while (!step.done) {
        this.#load(request.project, step.value, loaded);
        step = rounds.next();
      }
      const verdict = step.value;
      if (verdict.verdict === 'refuse') return { status: 'refused', refusal: verdict.refusal };
      // Nobody can come between deciding and committing here, so what was read needs no checking; time can pass, though.
      const { not_after_ms } = verdict;
      if (not_after_ms !== undefined && clock.now_ms() >= not_after_ms && now_ms < not_after_ms) continue;

      const proposal = propose(entities, loaded, verdict.events, now_ms, not_after_ms);
      const tooLarge = overLimits(proposal);
      if (tooLarge !== undefined) return { status: 'refused', refusal: tooLarge };
      const position = this.#file.writer.nextPosition();
      const row = logRow(request, verdict.answer, verdict.events, now_ms, clock.elapsed_ms());
      statements.append(position, row, named ? request.input_digest : null);
      for (const write of proposal.writes) statements.write(request.project, write, position);
      return { status: 'committed', answer: verdict.answer, position, repeated: false };
    }
  }

  #load(project: string, needs: Needs, into: LoadedSet): void {
    const { statements } = this.#file.writer;
    for (const key of needs.keys ?? []) into.put(key, statements.record(project, key));
    for (const range of needs.ranges ?? []) into.putList(range, statements.range(project, range));
  }

  async find(project: string, needs: Needs) {
    const { database } = this.#file;
    return await this.#reading(() => {
      const loaded = new LoadedSet();
      // One snapshot for all of it.
      database.exec('BEGIN');
      try {
        this.#load(project, needs, loaded);
      } finally {
        // Some errors have ended it already; they must not be hidden by another.
        if (database.isTransaction) database.exec('COMMIT');
      }
      return { loaded, now_ms: this.#context.clock.now_ms() };
    });
  }

  /** Readers never wait for writers, but for a moment for whoever recovers the file after a crash. */
  async #reading<T>(read: () => T): Promise<T> {
    const { clock } = this.#context;
    const started_ms = clock.elapsed_ms();
    for (;;) {
      try {
        this.#file.writer.checkFile();
        return read();
      } catch (error) {
        if (!isBusy(error) || clock.elapsed_ms() - started_ms > RECOVERY_MS_MAX)
          throw storeFailure(error, this.#file.path);
      }
      await clock.sleep(2);
    }
  }

  note(row: Unplaced): void {
    this.#file.writer.note(row);
  }

  async read(project: string, after: number, limit: number) {
    const { statements } = this.#file.writer;
    return await this.#reading(() => {
      const entries: LogEntry[] = [];
      const size = Math.min(READ_PAGE, limit);
      for (let position = after; entries.length < limit; ) {
        const page = statements.read(position, size);
        for (const entry of page)
          if (entry.project === project && entries.length < limit) entries.push(entry);
        const last = page.at(-1);
        if (last === undefined || page.length < size) break;
        position = last.position;
      }
      return { entries, safe: statements.lastPosition() };
    });
  }

  watch(_project: string, signal: AbortSignal): AsyncIterable<void> {
    return this.#file.watch.watch([signal, this.#closing.signal]);
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#file.users -= 1;
    if (this.#file.users > 0) return;
    opened.delete(this.#file.path);
    await this.#file.writer.close();
  }
}
