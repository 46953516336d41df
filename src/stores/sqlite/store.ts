import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Command, Decision, Needs, Outcome, Taking } from '../../ledger/decision.ts';
import type { LogEntry, Request, Unplaced } from '../../ledger/log.ts';
import { LoadedSet } from '../../ledger/proposal.ts';
import type { Store, StoreContext } from '../../ledger/store-port.ts';
import { SqliteTrail } from './audit-trail.ts';
import { decideInside, loadInto } from './deciding.ts';
import { isBusy, storeFailure } from './errors.ts';
import { leaveOpen, openFile } from './file.ts';
import type { Follower } from './seat/follower.ts';
import type { Seat } from './seat/seat.ts';
import { Watch } from './watch.ts';
import { Writer } from './writer.ts';

/** What a store on top of this one can use of it (stores/files). */
export interface OpenedFile {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly writer: Writer;
  readonly watch: Watch;
  /** Only in processes that live long enough to take the seat or to commit through it. */
  seat: Seat | undefined;
  users: number;
}

/**
 * One connection per file and process. A second one would not share batches with the first, and closing a
 * file that is open elsewhere in the process drops POSIX locks.
 */
const opened = new Map<string, Promise<OpenedFile>>();

/** `attach` is called once for each file, before anything is written to it. */
type Attach = (file: OpenedFile) => Promise<void> | void;

export async function openSqlite(path: string, context: StoreContext, attach?: Attach): Promise<Store> {
  return (await openSqliteFile(path, context, attach)).store;
}

export async function openSqliteFile(
  path: string,
  context: StoreContext,
  attach?: Attach,
): Promise<{ store: Store; file: OpenedFile }> {
  const key = realName(path);
  let file = opened.get(key);
  if (file === undefined) {
    file = openOnce(key, context, attach);
    opened.set(key, file);
    file.catch(() => opened.delete(key));
  }
  const ready = await file;
  ready.users += 1;
  if (context.sits === true && ready.seat === undefined) {
    // Short-lived processes don't open a socket.
    const { Seat } = await import('./seat/seat.ts');
    ready.seat ??= new Seat(key, ready.writer, context);
  }
  return { store: new SqliteStore(ready, context), file: ready };
}

async function openOnce(path: string, context: StoreContext, attach?: Attach): Promise<OpenedFile> {
  const database = await openFile(path, context);
  const writer = new Writer(database, path, context);
  try {
    writer.checkAnswered();
  } catch (error) {
    await writer.close();
    throw error;
  }
  const watch = new Watch(path, writer, context.clock);
  const file = { path, database, writer, watch, seat: undefined, users: 0 };
  await attach?.(file);
  return file;
}

function realName(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

const READ_PAGE = 1000;
const RECOVERY_MS_MAX = 2000;

class SqliteStore implements Store {
  readonly inOrder = true;
  readonly #file: OpenedFile;
  readonly #context: StoreContext;
  /** Ends this store's watchers; undefined while there are none. */
  #closing: AbortController | undefined;
  #closed = false;
  #trail: SqliteTrail | undefined;

  constructor(file: OpenedFile, context: StoreContext) {
    this.#file = file;
    this.#context = context;
  }

  get trail(): SqliteTrail {
    this.#trail ??= new SqliteTrail(this.#file.database, this.#file.writer, (read) => this.#reading(read));
    return this.#trail;
  }

  get dropped(): number {
    return this.#file.writer.dropped;
  }

  run<A extends JsonObject>(request: Request, decision: Decision<A>): Promise<Outcome<A>> {
    const { seat } = this.#file;
    const { command } = decision;
    if (seat?.follower !== undefined && command !== undefined)
      return this.#follow(seat.follower, request, decision, command);
    const outcome = this.#direct(request, decision);
    seat?.consider();
    return outcome;
  }

  /**
   * The process that sits decides and commits for us, and checks that the file is still in its place. If it
   * does not answer, we do it ourselves, unless it has been done.
   */
  async #follow<A extends JsonObject>(
    follower: Follower,
    request: Request,
    decision: Decision<A>,
    command: Command,
  ): Promise<Outcome<A>> {
    const outcome = await follower.call(request, command);
    if (outcome.status === 'unanswered') return await this.#direct(request, decision, outcome.after);
    return outcome as Outcome<A>;
  }

  #direct<A extends JsonObject>(
    request: Request,
    decision: Decision<A>,
    resent_after?: number,
  ): Promise<Outcome<A>> {
    const { writer } = this.#file;
    return new Promise((resolve, reject) => {
      writer.submit({
        execute: () => {
          const outcome = decideInside(writer, this.#context, request, decision, resent_after);
          // A commit made earlier under this id may also still be on its way to the disk.
          return { promises: outcome.status === 'committed', answer: () => resolve(outcome) };
        },
        fail: reject,
        // Our own calls are here at once, while the neighbours' calls have to travel: without this, ours
        // would be in every batch and theirs in every other.
        yields: this.#file.seat?.serves === true,
      });
    });
  }

  /** Inside the writer's transaction no other process changes anything, so a take is the plain decision. */
  take<A extends JsonObject>(request: Request, taking: Taking<A>): Promise<Outcome<A>> {
    return this.run(request, taking.decision);
  }

  async find(project: string, needs: Needs) {
    const { database } = this.#file;
    const { records, statements } = this.#file.writer;
    return await this.#reading(() => {
      const loaded = new LoadedSet();
      statements.beginReading();
      try {
        records.catchUp();
        loadInto(records, project, needs, loaded);
      } finally {
        // Some errors have ended the transaction already; a second error must not hide them.
        if (database.isTransaction) statements.endReading();
      }
      return { loaded, now_ms: this.#context.clock.now_ms() };
    });
  }

  /** Readers never wait for writers, only briefly for a process that recovers the file after a crash. */
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
    const follower = this.#file.seat?.follower;
    if (follower === undefined) this.#file.writer.note(row);
    else follower.note(row);
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
    this.#closing ??= new AbortController();
    if (this.#closed) this.#closing.abort();
    return this.#file.watch.watch([signal, this.#closing.signal]);
  }

  async describe(): Promise<JsonObject> {
    const { writer, seat, path } = this.#file;
    const row = await this.#reading(() => writer.statements.seat.row());
    const base = { engine: 'sqlite', file: path, commits: seat?.commits ?? 'directly' };
    if (row === undefined || row.expires_at_ms === 0) return base;
    const { Follower } = await import('./seat/follower.ts');
    const reachable = await Follower.isThere(path, row.socket, this.#context.clock);
    return { ...base, seat: { pid: row.pid, since: isoTime(row.taken_at_ms), reachable } };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#closing?.abort();
    this.#file.users -= 1;
    if (this.#file.users > 0) return;
    opened.delete(this.#file.path);
    await this.#file.seat?.close();
    const { brief, leaves } = this.#context;
    if (leaves === true) leaveOpen();
    if (brief === true || leaves === true) await this.#file.writer.leave();
    else await this.#file.writer.close();
  }
}
