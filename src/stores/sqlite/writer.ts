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
import { Patience, type Waited } from './patience.ts';
import { Records } from './records.ts';
import { Statements } from './statements.ts';
import { Wal } from './wal.ts';

/** A decision waiting to be made inside the writer's transaction. */
export interface Job {
  /** Synchronous: no transaction is ever open across an await. */
  execute(): Executed;
  fail(error: Error): void;
  /** Lets one batch of other jobs go first. Set to false once it has. */
  yields?: boolean;
}

interface Executed {
  /** Whether its answer promises something and so must be on disk first. A refusal promises nothing. */
  readonly promises: boolean;
  answer(): void;
}

const BATCH_MAX = 128;
/** No process has committed for so long: the process that holds the file is stopped or stuck. */
const STUCK_MS = 2000;
/** Other processes commit, but this one does not get its turn: report that rather than hang. */
const WAIT_MS_MAX = 10_000;
const NOTES_MAX = 20_000;
const NOTES_DELAY_MS = 50;
const NOTES_WAIT_MS = 20;
/** How many rows of the log the table of records may lack. A process that opens the file reads them, at some 10 µs each. */
const AHEAD_MAX = 2000;
/** So few that a hook can fold them: the next hook then has nothing to read. */
const AHEAD_FEW = 64;
/** After this long without a commit there is time to fold. */
const QUIET_MS = 100;
/** The next process to open the file reads through what is left; a megabyte takes it about a millisecond. */
const LEFT_BYTES_MAX = 1024 * 1024;
/** A process with this many commits will go on: reserving room in the -wal, which takes milliseconds, is then worthwhile. */
const RESERVES_AFTER = 8;
/** Work that costs a hook milliseconds is done by one in so many: closing the file, and folding what other processes left. */
const ONE_OF_THEM = 16;

/**
 * The only way for a process to write a file. Calls that come in while another transaction is under way, or
 * in the same turn of the event loop, share the next one, and many transactions share a sync: that is where
 * the speed of many callers comes from.
 */
export class Writer {
  readonly statements: Statements;
  /** Only meaningful inside a transaction. */
  readonly records: Records;
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #wal: Wal;
  readonly #guard: FileGuard;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #brief: boolean;
  readonly #leaves: boolean;
  readonly #gathering: Gathering;
  #queue: Job[] = [];
  #notes: Unplaced[] = [];
  #notesTimer: NodeJS.Timeout | undefined;
  #pumping: Promise<void> | undefined;
  #foldTimer: NodeJS.Timeout | undefined;
  /** Undefined: this process has only read so far. */
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
    const { clock, random, entities, brief = false, leaves = brief, lasting = true } = context;
    this.#database = database;
    this.#path = path;
    this.#clock = clock;
    this.#random = random;
    this.#brief = brief;
    this.#leaves = leaves;
    this.#gathering = new Gathering(clock);
    this.#wal = new Wal(path, { brief: leaves, lasting });
    this.statements = new Statements(database);
    this.records = new Records(this.statements, entities);
    const forget = () => this.records.forget();
    this.#guard = new FileGuard({ path, database, wal: this.#wal, clock, brief, lasting, forget });
  }

  /** Throws when the file at the path is no longer the one that was opened. */
  checkFile(): void {
    if (this.#closed) throw new StoreFailure('database_unavailable', `${this.#path} has been closed.`);
    this.#guard.check();
  }

  submit(job: Job): void {
    this.#queue.push(job);
    this.#pumping ??= this.#pump(false);
  }

  /** Runs work inside a shared transaction and resolves once it is committed; `lasting`: once it is on disk. */
  inTransaction<T>(work: () => T, lasting: boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const execute = () => {
        const result = work();
        return { promises: lasting, answer: () => resolve(result) };
      };
      this.submit({ execute, fail: reject });
    });
  }

  /** Written with the next commit; if none comes soon, by itself. */
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
    this.statements.journal?.close();
    this.#guard.close();
  }

  /** Throws if commits that were answered are no longer there when the file is opened. */
  checkAnswered(): void {
    if (!this.#brief) this.#guard.checkAnswered(() => this.statements.lastPosition());
  }

  /**
   * The process is about to end, and its handles with it. The process that closes a file last writes all of
   * the -wal back into it and syncs both, which takes a hook longer than its commit. So that is postponed
   * until there is enough to write back.
   */
  async leave(): Promise<void> {
    // Waiting a turn of the event loop for further calls would cost it a millisecond.
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
    // One of them failed and made the others fail, so each gets a transaction of its own.
    for (const job of batch) {
      await this.#tryBatch(() => [job]);
    }
  }

  /** `all`: the jobs will not be committed; each is told that it can't be. */
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

  /** Commits the jobs that `take` returns, all or nothing. Returns the jobs that have to be retried one by one. */
  async #tryBatch(take: (all: boolean) => Job[]): Promise<Job[]> {
    let batch: Job[] | undefined;
    const done: Executed[] = [];
    try {
      await this.#transact(STUCK_MS, WAIT_MS_MAX, () => {
        // Taken only now, so that jobs which came while we waited for the file are included.
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
    this.#guard.copyFrames();
    return [];
  }

  /**
   * The file's write lock is free again by now: other processes commit while our sync runs. Syncing in
   * another thread, with the next batch decided meanwhile, was tried and showed no gain beyond noise; this is
   * less code.
   */
  #acknowledge(batch: readonly Job[], done: readonly Executed[]): void {
    try {
      if (done.some(({ promises }) => promises)) {
        (this.statements.journal ?? this.#wal).sync();
        this.#guard.beforeAnswer(this.records.position);
      }
    } catch (error) {
      const message = `The disk did not take it: it may or may not be kept. Repeat it with the same operation_id. (${error})`;
      const failure =
        error instanceof StoreFailure
          ? error
          : new StoreFailure('database_unavailable', message, { cause: error });
      for (const job of batch) job.fail(failure);
      return;
    }
    for (const { answer } of done) answer();
  }

  /** Rows of reads and refusals when there is no commit to take them along: not worth an fsync, nor a long wait. */
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
   * One transaction, with the file's write lock from its start. From there to the commit nothing is awaited: a read of this
   * process would find itself inside the transaction. So the wait is in here: after a function that is awaited, others run first.
   */
  async #transact(stuck_ms: number, wait_ms_max: number, body: () => void): Promise<void> {
    const waited: Waited = {};
    try {
      while (!this.#begins(waited, stuck_ms, wait_ms_max)) await waited.patience?.pause();
    } finally {
      waited.patience?.end();
    }
    const notes = this.#notes;
    const unreported = this.#unreported;
    try {
      const othersCame = this.#catchUp();
      body();
      if (this.#shouldFold(othersCame)) this.records.fold();
      this.beforeCommit();
      this.statements.journal?.flush();
      this.#guard.beforeCommit();
      this.statements.commit();
    } catch (error) {
      this.#rollback();
      this.#notes = notes;
      this.#unreported = unreported;
      throw error;
    }
  }

  /** Whether the transaction has begun; if not, `waited` says for how long to be patient. */
  #begins(waited: Waited, stuck_ms: number, wait_ms_max: number): boolean {
    this.checkFile();
    try {
      this.statements.begin();
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      waited.patience ??= new Patience({ path: this.#path, clock: this.#clock, random: this.#random });
      const version = this.#committedVersion();
      if (version !== waited.version) waited.patience.moved();
      waited.version = version;
      if (waited.patience.isOver(stuck_ms, wait_ms_max)) throw error;
      return false;
    }
  }

  /**
   * A process that writes alone lets the table follow later, many rows at a time. When other processes write
   * too, the table is kept up with the log: each of them would otherwise read all the rows it lacks, each
   * time.
   */
  #shouldFold(othersCame: boolean): boolean {
    const { behind } = this.records;
    if (this.statements.journal !== undefined) return true;
    if (this.#leaves) return behind <= AHEAD_FEW || this.#isItsTurn;
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
    // The next process to open the file can do it as well.
    await this.#transact(NOTES_WAIT_MS, NOTES_WAIT_MS, () => this.records.fold()).catch(() => {});
  }

  /** Folds when there is little to do, so that no other process has to read the rows that the table lacks. */
  #scheduleFold(): void {
    if (this.#brief || this.#closed || this.records.behind === 0) return;
    this.#foldTimer ??= setTimeout(() => {
      this.#foldTimer = undefined;
      if (this.#clock.elapsed_ms() - (this.#committed_ms ?? 0) < QUIET_MS / 2) this.#scheduleFold();
      // There is no hurry: the next commit of any job will do.
      else this.inTransaction(() => this.records.fold(), false).catch(() => {});
    }, QUIET_MS).unref();
  }

  /** Names the process that is most likely stopped in the middle of a commit: the one that sits makes most commits. */
  #stuck(error: unknown): Error {
    const failure = storeFailure(error, this.#path);
    const seat = this.statements.seat.row();
    if (seat === undefined || seat.expires_at_ms === 0) return failure;
    const message = `${failure.message} Process ${seat.pid} commits for the others; if it is stopped, continue or end it.`;
    return new StoreFailure('database_unavailable', message, { cause: error, details: { pid: seat.pid } });
  }

  /** Changes while other processes commit. Unknown while another process is recovering the file after a crash. */
  #committedVersion(): number | undefined {
    try {
      return this.statements.dataVersion();
    } catch (error) {
      if (isBusy(error)) return undefined;
      throw error;
    }
  }

  /** Returns whether there was something to catch up with. */
  #catchUp(): boolean {
    if (this.statements.journal?.catchUp() !== true) return this.records.catchUp();
    this.records.startAnew();
    return true;
  }

  #rollback(): void {
    // Positions handed out in the failed transaction are free again.
    this.records.forget();
    this.statements.journal?.abandon();
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}
