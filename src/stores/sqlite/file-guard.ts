import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { AnsweredMark } from './answered-mark.ts';
import { isBusy, isDamage } from './errors.ts';
import { leaveOpen } from './file.ts';
import { checkTable, pageOf, type TableState } from './page-table.ts';
import type { Wal } from './wal.ts';
import { isSameGeneration, isSameState, WalIndex, type WalState } from './wal-index.ts';

/**
 * Within this time after a check of the paths they are not checked again: it would cost a single caller a twentieth
 * of its time. A program that removes the files within so short a time also removes what was committed
 * before.
 */
const LOOK_EVERY_MS = 1;
/** Between two full checks, only the folder and the main file are checked. */
const FULL_LOOK_EVERY_MS = 200;
/** Older kernels and file systems have a coarse folder time; a change within one step would not show. */
const SETTLED_MS = 50;
/** A state that another process changes while it is compared is read again. */
const LOOKS_MAX = 10;
/** As many as SQLite itself would let pass before it copies them into the main file. */
const CHECKPOINT_FRAMES = 1000;

export interface GuardedFiles {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly wal: Wal;
  readonly clock: Clock;
  readonly brief: boolean;
  readonly lasting: boolean;
  /** What this process has in memory may have been read by a wrong table of pages. */
  forget(): void;
}

/**
 * Sees to it that nothing is answered that the files no longer have. SQLite itself continues with the files it has open, and reads
 * back none of what it wrote: a commit into a file that was cut, replaced or deleted would be acknowledged and lost.
 *
 * - The paths, before a batch or a read: are they the files that were opened? A file that is moved, deleted or replaced changes its
 *   folder's time. The main file changes only when frames are copied into it.
 * - The end of the -wal, under the write lock before each commit and once more before its answer: is the last frame there?
 * - All frames that are not copied yet, before they are copied: a damaged frame never gets into the main file.
 * - The -shm's table of pages, whenever the file's time has changed: under the write lock before a commit, before a read, and before
 *   frames are copied. If it is wrong, SQLite is made to build it anew, and what was read by it is decided anew.
 */
export class FileGuard {
  readonly #path: string;
  readonly #folderPath: string;
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #wal: Wal;
  readonly #index: WalIndex;
  readonly #brief: boolean;
  /** Undefined: what this process answers need not survive a power cut, nor be missed; or there can be no mark here. */
  readonly #mark: AnsweredMark | undefined;
  readonly #forget: () => void;
  #folder: Stats | undefined;
  #file: Stats | undefined;
  #walFile: Stats | undefined;
  #shm: Stats | undefined;
  #seen: WalState | undefined;
  #before: WalState | undefined;
  #after: WalState | undefined;
  /** The last one that this process has seen. */
  #last: WalState | undefined;
  /** The -shm's time when its table was last seen to be right: as far as frames count, and behind them too. */
  #readable_ms: number | undefined;
  #writable_ms: number | undefined;
  /** What SQLite had written when frames were last copied. */
  #tried: WalState | undefined;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #lookedFully_ms = Number.NEGATIVE_INFINITY;
  /** Once something is missing in a file, nothing that SQLite does later makes up for it. */
  #failure: StoreFailure | undefined;

  constructor({ path, database, wal, clock, brief, lasting, forget }: GuardedFiles) {
    this.#path = path;
    this.#folderPath = dirname(path);
    this.#database = database;
    this.#wal = wal;
    this.#clock = clock;
    this.#brief = brief;
    this.#forget = forget;
    this.#index = new WalIndex(path);
    this.#mark = lasting ? AnsweredMark.open(path) : undefined;
    if (!brief) this.#file = statSync(path);
  }

  /**
   * Whether the log still has every row that was answered, when the file is opened. What is lost is said once; then the log goes on
   * from where it ends.
   */
  checkAnswered(lastPosition: () => number): void {
    // By a wrong table the log would seem to end too soon.
    this.#checkTable(this.#index.read());
    const answered = this.#mark?.read() ?? 0;
    const last = answered === 0 ? 0 : lastPosition();
    if (answered <= last) return;
    this.#mark?.set(last);
    throw new StoreFailure(
      'store_damaged',
      `${this.#path} ends at row ${last} of its log, but commits up to row ${answered} were answered: they are lost. Its files were damaged while they were open.`,
      {
        details: { last_row: last, answered_row: answered },
        remedy:
          'It is told once, and the store goes on from there: see what it has (cox status, cox log), and repeat what is missing.',
      },
    );
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    // A brief process ends before a file could be moved away.
    if (this.#brief) return;
    const now_ms = this.#clock.elapsed_ms();
    if (now_ms - this.#looked_ms < LOOK_EVERY_MS) return;
    if (now_ms - this.#lookedFully_ms >= FULL_LOOK_EVERY_MS || !this.#seemsUntouched())
      this.#lookFully(now_ms);
    this.#checkMainFile();
    this.#checkTable(this.#checkEnd());
    this.#looked_ms = now_ms;
  }

  /** With the write lock: no other process of SQLite's changes the -wal, nor the -shm's header and table. */
  beforeCommit(): void {
    const now = this.#index.read();
    if (now === undefined) throw this.#rebuild(now);
    this.#before = now;
    if (!this.#wal.hasLastFrame(now)) throw this.#wasCut();
    const changed_ms = this.#index.changed_ms();
    if (changed_ms !== this.#writable_ms) {
      const table = this.#look(now, true);
      if (table === 'damaged') throw this.#rebuild(now);
      this.#writable_ms = table === 'whole' && this.#isSettled(changed_ms) ? changed_ms : undefined;
    }
    this.#checkGoesOn(now);
  }

  /** SQLite itself builds the -shm anew if its header is damaged: from what it finds in the -wal. */
  #checkGoesOn(now: WalState): void {
    const last = this.#last;
    this.#last = now;
    if (last === undefined || !isSameGeneration(now, last)) return;
    if (now.frames < last.frames)
      throw this.#failed(
        'store_damaged',
        `${this.#path}-shm and -wal were changed by another program while they were open; commits are lost.`,
      );
    if (now.changes < last.changes) throw this.#wasRebuilt();
  }

  /** `position`: the last row of the log that is about to be answered. */
  beforeAnswer(position: number): void {
    this.#checkCommit();
    this.#mark?.set(position);
  }

  #checkCommit(): void {
    const now = this.#checkEnd();
    this.#after = now;
    const before = this.#before;
    if (now !== undefined && before !== undefined && now.changes > before.changes) this.#last = now;
    if (now === undefined || before === undefined || !isSameGeneration(now, before)) return;
    if (!this.#wal.hasLastHeader(before) && this.#isStill(now)) throw this.#wasCut();
  }

  /** As SQLite would do by itself, but not with frames that are damaged. Without the write lock. */
  copyFrames(): void {
    const now = this.#after;
    if (now === undefined || now.frames < CHECKPOINT_FRAMES) return;
    const tried = this.#tried;
    // Some reader still needs the old pages: the next try waits for as many again.
    if (tried !== undefined && isSameGeneration(tried, now) && now.frames - tried.frames < CHECKPOINT_FRAMES)
      return;
    this.#tried = now;
    try {
      this.#checkFrames();
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // What was found is told to the next caller; a file that is busy is tried again later.
      return;
    }
    this.#checkCopied();
  }

  /** What SQLite copied by a table that was damaged meanwhile may be in the wrong place. */
  #checkCopied(): void {
    try {
      this.#checkTable(this.#index.read());
    } catch {
      this.#failed(
        'store_damaged',
        `${this.#path}-shm was changed by another program while frames were copied into the file.`,
      );
    }
  }

  #checkFrames(): void {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const now = this.#index.read();
      if (now === undefined || now.frames === 0) return;
      const pages = this.#wal.intactPages(now);
      const table = this.#look(now, false, pages);
      const later = this.#index.read();
      // Started anew by another process while we read.
      if (later === undefined || !isSameGeneration(now, later)) continue;
      if (pages === undefined)
        throw this.#failed(
          'store_damaged',
          `${this.#path}-wal was changed by another program while it was open.`,
        );
      if (table !== 'damaged') return;
      this.#repair();
    }
  }

  /** Without the write lock: frames may be added meanwhile. */
  #checkTable(found: WalState | undefined): void {
    const changed_ms = this.#index.changed_ms();
    if (changed_ms === this.#readable_ms || changed_ms === this.#writable_ms) return;
    let now = found;
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      if (now === undefined) return;
      const table = this.#look(now, false);
      const later = this.#index.read();
      if (later !== undefined && isSameGeneration(now, later)) {
        if (table === 'damaged') this.#repair();
        this.#readable_ms = this.#isSettled(changed_ms) ? changed_ms : undefined;
        return;
      }
      now = later;
    }
  }

  #look(state: WalState, isLocked: boolean, copied_pages: readonly number[] = []): TableState {
    const { frames, pages, copied, copying, page_bytes } = state;
    if (frames === 0) return 'unfinished';
    // SQLite reads what is copied from the main file, and writes over it in the -wal.
    if (copied > frames || (isLocked && (copied > copying || copying > frames))) return 'damaged';
    const blocks = this.#index.blocks(frames);
    if (blocks === undefined) return 'damaged';
    if (copied_pages.some((page, index) => pageOf(blocks, copied + index + 1) !== page)) return 'damaged';
    const pageInWal = (frame: number) => this.#wal.pageOf(frame, page_bytes);
    return checkTable({ blocks, frames, pages, isLocked, pageInWal });
  }

  /** A time of this very moment may be that of another change within the same step of the clock. */
  #isSettled(changed_ms: number): boolean {
    return this.#clock.now_ms() - changed_ms >= SETTLED_MS;
  }

  /** Something is wrong with the table: looks again with the write lock, and has it built anew. */
  #repair(): void {
    try {
      this.#database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      // By this table not even the first page is found, so no process gets the lock.
      if (isDamage(error)) throw this.#rebuild(this.#index.read());
      throw error;
    }
    try {
      const now = this.#index.read();
      const pages = now === undefined ? undefined : this.#wal.intactPages(now);
      if (now === undefined || this.#look(now, true, pages) === 'damaged') throw this.#rebuild(now);
    } finally {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
    }
  }

  /** With the write lock. `state`: undefined if the header is damaged too, which SQLite would mend in the same way. */
  #rebuild(state: WalState | undefined): StoreFailure {
    if (state !== undefined && !this.#wal.isRecoverable(state))
      return this.#failed(
        'store_damaged',
        `${this.#path}-shm and -wal were changed by another program while they were open.`,
      );
    this.#index.invalidate();
    if (this.#last !== undefined) this.#last = { ...this.#last, changes: 0 };
    if (state !== undefined && this.#index.blocks(state.frames) === undefined)
      return this.#failed('store_moved', `${this.#path}-shm was cut short while it was open.`);
    return this.#wasRebuilt();
  }

  #wasRebuilt(): StoreFailure {
    this.#forget();
    return new StoreFailure(
      'store_damaged',
      `${this.#path}-shm was changed by another program while it was open. It is built anew from the -wal.`,
      { remedy: 'Repeat the call: nothing that was answered is lost.' },
    );
  }

  /** Closes the database, which copies all frames into the main file. */
  close(): void {
    this.#mark?.close();
    try {
      this.#checkFrames();
    } catch (error) {
      // Damaged frames are not copied: the handles are left to the end of the process.
      leaveOpen();
      if (this.#failure !== undefined || isBusy(error)) return;
    }
    this.#wal.close();
    this.#database.close();
    this.#index.close();
  }

  /** The state whose end was seen. */
  #checkEnd(): WalState | undefined {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const now = this.#index.read();
      if (now === undefined || this.#wal.hasLastFrame(now)) return now;
      if (this.#isStill(now)) throw this.#wasCut();
    }
    return undefined;
  }

  #isStill(state: WalState): boolean {
    return isSameState(this.#index.read(), state);
  }

  #wasCut(): StoreFailure {
    return this.#failed('store_moved', `${this.#path}-wal was cut short or overwritten while it was open.`);
  }

  #failed(code: 'store_moved' | 'store_damaged', message: string): StoreFailure {
    leaveOpen();
    this.#failure ??= new StoreFailure(code, message);
    return this.#failure;
  }

  #lookFully(now_ms: number): void {
    const folder = statSync(this.#folderPath, { throwIfNoEntry: false });
    // Its size and time are the business of `#checkMainFile`.
    this.#same(this.#path, this.#file, true);
    this.#walFile = this.#same(`${this.#path}-wal`, this.#walFile, true);
    this.#shm = this.#same(`${this.#path}-shm`, this.#shm);
    // Read before the files, so that a change in between shows the next time.
    this.#folder = folder;
    this.#lookedFully_ms = now_ms;
  }

  #seemsUntouched(): boolean {
    if (this.#folder === undefined) return false;
    const folder = statSync(this.#folderPath, { throwIfNoEntry: false });
    if (folder?.ino !== this.#folder.ino || folder.mtimeMs !== this.#folder.mtimeMs) return false;
    return this.#clock.now_ms() - folder.mtimeMs >= SETTLED_MS;
  }

  /** Its time changes only while frames are copied into it. */
  #checkMainFile(): void {
    const first = this.#index.read();
    const file = statSync(this.#path, { throwIfNoEntry: false });
    const now = this.#index.read();
    const [before, seen] = [this.#file, this.#seen];
    if (first === undefined || now === undefined) return;
    // What is copied from here on shows the next time.
    this.#seen = first;
    if (!isSameFile(file, before)) throw hasMoved(this.#path);
    if (file.size < (before?.size ?? 0))
      throw this.#failed('store_moved', `${this.#path} was cut short while it was open.`);
    this.#file = file;
    if (seen === undefined || before === undefined || file.mtimeMs === before.mtimeMs) return;
    const isCopied =
      now.copied !== seen.copied ||
      now.copying !== seen.copying ||
      now.copying > now.copied ||
      !isSameGeneration(now, seen);
    if (!isCopied)
      throw this.#failed('store_damaged', `${this.#path} was changed by another program while it was open.`);
  }

  #same(path: string, before: Stats | undefined, mayShrink = false): Stats | undefined {
    const now = statSync(path, { throwIfNoEntry: false });
    if (before === undefined) return now;
    if (!isSameFile(now, before)) throw hasMoved(path);
    if (now.size < before.size && !mayShrink)
      throw this.#failed('store_moved', `${path} was cut short while it was open.`);
    return now;
  }
}

function isSameFile(now: Stats | undefined, before: Stats | undefined): now is Stats {
  return now !== undefined && (before === undefined || (now.ino === before.ino && now.dev === before.dev));
}

/** Not for good: once the file is back in its place, the process goes on. */
function hasMoved(path: string): StoreFailure {
  return new StoreFailure('store_moved', `${path} is no longer the file that was opened.`);
}
