import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Unplaced } from '../../ledger/log.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import { isBusy, storeFailure } from './errors.ts';
import { FileGuard } from './file-guard.ts';
import { Gathering } from './gathering.ts';
import { ownRow } from './own-row.ts';
import { Records } from './records.ts';
import { Statements } from './statements.ts';
import { Wal } from './wal.ts';

/** A decision waiting to be made inside the writer's transaction. */
export interface Job {
  /** Synchronous: no transaction is ever open across an await. */
  execute(): Executed;
  fail(error: Error): void;
  /** Lets one batch of others go first. Set to false once it has. */
  yields?: boolean;
}

interface Executed {
  /** Whether its answer promises something, so that it must be on disk first. A refusal promises nothing. */
  readonly promises: boolean;
  answer(): void;
}

const BATCH_MAX = 128;
/** Nobody at all has committed for so long: the one who holds the file is stopped or stuck. */
const STUCK_MS = 2000;
/** Others commit, but not we: the wait is not fair enough to help, so say it rather than hang. */
const WAIT_MS_MAX = 10_000;
const NOTES_MAX = 20_000;
const NOTES_DELAY_MS = 50;
const NOTES_WAIT_MS = 20;
/** So many rows of the log may be ahead of the table of records; whoever opens the file reads them, at some 10 µs each. */
const AHEAD_MAX = 2000;
/** What is no burden for a hook to fold: the next one then reads nothing. */
const AHEAD_FEW = 64;
/** After so long without a commit there is time for it. */
const QUIET_MS = 100;
/** The next to open the file reads through what is left; a megabyte takes it about a millisecond. */
const LEFT_BYTES_MAX = 1024 * 1024;
/** Who has committed so often will go on: room in the -wal, which takes milliseconds, is worth it then. */
const RESERVES_AFTER = 8;
/** What takes a hook milliseconds, one of so many does for all: closing, and folding what somebody else left. */
const ONE_OF_THEM = 16;

/**
 * One process's only way to write a file. Calls that come in while another transaction is under way, or in the same turn
 * of the event loop, share the next one, and many transactions share a sync: that is where the speed of many callers
 * comes from.
 */
export class Writer {
  readonly statements: Statements;
  /** Only meaningful inside a transaction. */
  readonly records: Records;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #wal: Wal;
  readonly #guard: FileGuard | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #brief: boolean;
  readonly #gathering: Gathering;
  #queue: Job[] = [];
  #notes: Unplaced[] = [];
  #notesTimer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | undefined;
  #foldTimer: NodeJS.Timeout | undefined;
  /** Undefined: it has only read so far. */
  #committed_ms: number | undefined;
  #unreported = 0;
  #batches = 0;
  #closed = false;
  dropped = 0;
  /** Called inside every transaction, just before its commit. */
  beforeCommit: () => void = () => {};
  /** Called after every commit of this process. */
  onCommit: () => void = () => {};

  constructor(database: DatabaseSync, path: string, context: StoreContext) {
    const { clock, random, entities, brief = false, lasting = true } = context;
    this.#database = database;
    this.#path = path;
    this.#clock = clock;
    this.#random = random;
    this.#brief = brief;
    this.#gathering = new Gathering(clock);
    this.#wal = new Wal(path, { brief, lasting });
    // Gone before anybody could have moved the file away from under it.
    this.#guard = brief ? undefined : new FileGuard(path, database, this.#wal, clock);
    this.statements = new Statements(database);
    this.records = new Records(this.statements, entities);
  }

  /** Throws when what is at the path is no longer what was opened. */
  checkFile(): void {
    if (this.#closed) throw new StoreFailure('database_unavailable', `${this.#path} has been closed.`);
    this.#guard?.check();
  }

  submit(job: Job): void {
    this.#queue.push(job);
    this.#pumping ??= this.#pump(false);
  }

  /** Work inside a transaction that others share, and what it gave once that is committed; `lasting`: and on disk. */
  inTransaction<T>(work: () => T, lasting: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const execute = () => {
        const result = work();
        return { promises: lasting, answer: () => resolve(result) };
      };
      this.submit({ execute, fail: reject });
    });
  }

  /** Rides in the next commit; if none comes soon, it is written by itself. */
  note(row: Unplaced): void {
    if (this.#closed || this.#notes.length >= NOTES_MAX) this.#drop(1);
    else this.#notes.push(row);
    this.#scheduleNotes();
  }

  async close(): Promise<void> {
    await this.#flush();
    clearTimeout(this.#foldTimer);
    if (this.#committed_ms !== undefined && this.records.behind > 0) await this.#foldBeforeLeaving();
    this.#closed = true;
    this.#wal.close();
    this.statements.journal?.close();
    this.#database.close();
  }

  /**
   * The process is about to end, and takes its handles with it. Whoever closes a file last writes all of the -wal back into it
   * and syncs both, which takes a hook longer than its commit; so that is left until there is something to write back.
   */
  async leave(): Promise<void> {
    // A turn of the event loop, in which others might still come, takes it a millisecond.
    if (this.#queue.length + this.#notes.length > 0) await this.#flush();
    if (this.#isItsTurn && this.#wal.bytes() > LEFT_BYTES_MAX) await this.close();
    this.#closed = true;
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#notesTimer);
    await this.#pumping;
    this.#pumping = this.#pump(true);
    await this.#pumping;
    clearTimeout(this.#notesTimer);
  }

  #scheduleNotes(): void {
    if (this.#notes.length === 0) return;
    this.#notesTimer ??= setTimeout(() => {
      this.#notesTimer = undefined;
      this.#pumping ??= this.#pump(true);
    }, NOTES_DELAY_MS).unref();
  }

  async #pump(flushNotes: boolean): Promise<void> {
    for (;;) {
      await this.#gathering.wait(this.#queue);
      if (this.#queue.length > 0) await this.#writeBatch();
      else if (flushNotes && this.#notes.length > 0) await this.#writeNotes();
      else break;
    }
    this.#pumping = undefined;
    this.#scheduleNotes();
  }

  async #writeBatch(): Promise<void> {
    const batch = await this.#tryBatch((all) => this.#takeBatch(all));
    // One of them failed and took the others with it, so each gets a transaction of its own.
    for (const job of batch) {
      await this.#tryBatch(() => [job]);
    }
  }

  /** `all`: they are not to be committed but to be told that they can't be. */
  #takeBatch(all: boolean): Job[] {
    const patient = all ? [] : this.#queue.filter((job) => job.yields === true);
    if (patient.length === 0 || patient.length === this.#queue.length)
      return this.#queue.splice(0, all ? this.#queue.length : BATCH_MAX);
    this.#queue = this.#queue.filter((job) => job.yields !== true);
    const batch = this.#queue.splice(0, BATCH_MAX);
    for (const job of patient) job.yields = false;
    this.#queue.unshift(...patient);
    return batch;
  }

  /** Commits what `take` gives, all or nothing. Answers the jobs that have to be tried again one by one. */
  async #tryBatch(take: (all: boolean) => Job[]): Promise<Job[]> {
    let batch: Job[] | undefined;
    const done: Executed[] = [];
    try {
      await this.#transact(STUCK_MS, WAIT_MS_MAX, () => {
        // Taken only now: whoever came while we waited for the file rides along.
        batch = take(false);
        this.#gathering.took(batch.length);
        this.#batches += 1;
        if (this.#batches === RESERVES_AFTER && !this.#brief) this.#wal.reserve();
        this.#appendNotes();
        for (const job of batch) done.push(job.execute());
      });
    } catch (error) {
      if (batch !== undefined && batch.length > 1) return batch;
      const failure = isBusy(error) ? this.#stuck(error) : storeFailure(error, this.#path);
      for (const job of batch ?? take(true)) job.fail(failure);
      return [];
    }
    this.#acknowledge(batch ?? [], done);
    this.#committed();
    return [];
  }

  /**
   * The file's write lock is free again by now: others commit while the disk works for us. Syncing in another thread, with
   * the next batch decided meanwhile, was tried and showed no gain beyond noise; this is less code.
   */
  #acknowledge(batch: readonly Job[], done: readonly Executed[]): void {
    try {
      if (done.some(({ promises }) => promises)) (this.statements.journal ?? this.#wal).sync();
    } catch (error) {
      const message = `The disk did not take it: it may or may not be kept. Repeat it with the same operation_id. (${error})`;
      for (const job of batch) job.fail(new StoreFailure('database_unavailable', message, { cause: error }));
      return;
    }
    for (const { answer } of done) answer();
  }

  /** Rows of reads and refusals when there is no commit to ride in: not worth an fsync, nor a long wait. */
  async #writeNotes(): Promise<void> {
    try {
      await this.#transact(NOTES_WAIT_MS, NOTES_WAIT_MS, () => this.#appendNotes());
      this.#committed();
    } catch {
      this.#drop(this.#notes.length);
      this.#notes = [];
    }
  }

  #appendNotes(): void {
    if (this.#notes.length === 0) return;
    const rows = this.#notes;
    this.#notes = [];
    if (this.#unreported > 0 && rows[0] !== undefined) {
      const dropped = ownRow(rows[0], 'audit_rows_dropped', { result: { dropped: this.#unreported } });
      this.statements.append(this.records.nextPosition(), dropped, null);
      this.#unreported = 0;
    }
    for (const row of rows) this.statements.append(this.records.nextPosition(), row, null);
  }

  #drop(count: number): void {
    this.dropped += count;
    this.#unreported += count;
  }

  /**
   * One transaction, with the file's write lock from its start. SQLite's own waiting blocks the process and starves some
   * (one of four made 874 commits, another none), so we wait here: with a random pause that gets shorter the longer one
   * has waited.
   * From there to the commit nothing is awaited: a read of this process would find itself inside the transaction.
   */
  async #transact(stuck_ms: number, wait_ms_max: number, body: () => void): Promise<void> {
    const started_ms = this.#clock.elapsed_ms();
    let moved_ms = started_ms;
    let version: number | undefined;
    for (;;) {
      this.checkFile();
      try {
        this.statements.begin();
        break;
      } catch (error) {
        if (!isBusy(error)) throw error;
        const now_ms = this.#clock.elapsed_ms();
        const current = this.#committedVersion();
        if (current !== version) moved_ms = now_ms;
        version = current;
        if (now_ms - moved_ms > stuck_ms || now_ms - started_ms > wait_ms_max) throw error;
        await this.#clock.sleep(this.#pause_ms(now_ms - started_ms));
      }
    }
    const notes = this.#notes;
    const unreported = this.#unreported;
    try {
      const othersCame = this.#catchUp();
      body();
      if (this.#shouldFold(othersCame)) this.records.fold();
      this.beforeCommit();
      this.statements.journal?.flush();
      this.statements.commit();
    } catch (error) {
      this.#rollback();
      this.#notes = notes;
      this.#unreported = unreported;
      throw error;
    }
  }

  /**
   * Alone, one lets the table follow later, many rows at a time. Where others write too it is kept up with the log: each of
   * them would read all of what is ahead, each time.
   */
  #shouldFold(othersCame: boolean): boolean {
    const { behind } = this.records;
    if (this.statements.journal !== undefined) return true;
    if (this.#brief) return behind <= AHEAD_FEW || this.#isItsTurn;
    return othersCame || behind > AHEAD_MAX;
  }

  get #isItsTurn(): boolean {
    return this.records.position > 0 && this.records.position % ONE_OF_THEM === 0;
  }

  #committed(): void {
    this.#committed_ms = this.#clock.elapsed_ms();
    this.#scheduleFold();
    this.onCommit();
  }

  async #foldBeforeLeaving(): Promise<void> {
    // Whoever opens the file next can do it as well.
    await this.#transact(NOTES_WAIT_MS, NOTES_WAIT_MS, () => this.records.fold()).catch(() => {});
  }

  /** In a quiet moment, so that nobody has to read through what is ahead of the table. */
  #scheduleFold(): void {
    if (this.#brief || this.#closed || this.records.behind === 0) return;
    this.#foldTimer ??= setTimeout(() => {
      this.#foldTimer = undefined;
      if (this.#clock.elapsed_ms() - (this.#committed_ms ?? 0) < QUIET_MS / 2) this.#scheduleFold();
      // There is no hurry: somebody else's commit is as good a moment.
      else this.inTransaction(() => this.records.fold(), false).catch(() => {});
    }, QUIET_MS).unref();
  }

  /** Names who is most likely stopped in the middle of a commit: most commits are made by whoever sits. */
  #stuck(error: unknown): Error {
    const failure = storeFailure(error, this.#path);
    const seat = this.statements.seat();
    if (seat === undefined || seat.expires_at_ms === 0) return failure;
    const message = `${failure.message} Process ${seat.pid} commits for the others; if it is stopped, continue or end it.`;
    return new StoreFailure('database_unavailable', message, { cause: error, details: { pid: seat.pid } });
  }

  /** Changes while others commit. Unknown while another process is recovering the file after a crash. */
  #committedVersion(): number | undefined {
    try {
      return this.statements.dataVersion();
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  /** Whether there was something to catch up with. */
  #catchUp(): boolean {
    if (this.statements.journal?.catchUp() !== true) return this.records.catchUp();
    this.records.startAnew();
    return true;
  }

  /** Never so short that many who wait take the processor from the one who writes: 32 of them made 25 commits a second. */
  #pause_ms(waited_ms: number): number {
    return 1 + this.#random.fraction() * Math.max(8, 16 - waited_ms / 20);
  }

  #rollback(): void {
    // Positions handed out in the failed transaction are free again.
    this.records.forget();
    this.statements.journal?.abandon();
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
