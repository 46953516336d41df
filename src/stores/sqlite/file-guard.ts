import {
  closeSync,
  constants,
  fchownSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { isSameGeneration, isSameState, type Wal, WalIndex, type WalState } from './wal.ts';

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
}

/**
 * Sees to it that nothing is answered that the files no longer have. SQLite itself continues with the files it has open, and reads
 * back none of what it wrote: a commit into a file that was cut, replaced or deleted would be acknowledged and lost.
 *
 * - The paths, before a batch or a read: are they the files that were opened? A file that is moved, deleted or replaced changes its
 *   folder's time. The main file changes only when frames are copied into it.
 * - The end of the -wal, under the write lock before each commit and once more before its answer: is the last frame there?
 * - All frames that are not copied yet, before they are copied: a damaged frame never gets into the main file.
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
  #folder: Stats | undefined;
  #file: Stats | undefined;
  #walFile: Stats | undefined;
  #shm: Stats | undefined;
  #seen: WalState | undefined;
  #before: WalState | undefined;
  #after: WalState | undefined;
  /** What SQLite had written when frames were last copied. */
  #tried: WalState | undefined;
  #looked_ms = Number.NEGATIVE_INFINITY;
  #lookedFully_ms = Number.NEGATIVE_INFINITY;
  /** Once something is missing in a file, nothing that SQLite does later makes up for it. */
  #failure: StoreFailure | undefined;

  constructor({ path, database, wal, clock, brief, lasting }: GuardedFiles) {
    this.#path = path;
    this.#folderPath = dirname(path);
    this.#database = database;
    this.#wal = wal;
    this.#clock = clock;
    this.#brief = brief;
    this.#index = new WalIndex(path);
    this.#mark = lasting ? AnsweredMark.open(path) : undefined;
    if (!brief) this.#file = statSync(path);
  }

  /**
   * Whether the log still has every row that was answered, when the file is opened. What is lost is said once; then the log goes on
   * from where it ends.
   */
  checkAnswered(lastPosition: () => number): void {
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
    this.#checkEnd();
    this.#looked_ms = now_ms;
  }

  /** With the write lock: no other process of SQLite's changes the -wal. */
  beforeCommit(): void {
    this.#before = this.#index.read();
    if (this.#before !== undefined && !this.#wal.hasLastFrame(this.#before)) throw this.#wasCut();
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
    }
  }

  #checkFrames(): void {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const now = this.#index.read();
      if (now === undefined || this.#wal.isIntact(now)) return;
      const later = this.#index.read();
      // Started anew by another process while we read.
      if (later === undefined || !isSameGeneration(now, later)) continue;
      throw this.#failed(
        'store_damaged',
        `${this.#path}-wal was changed by another program while it was open.`,
      );
    }
  }

  /** Closes the database, which copies all frames into the main file. */
  close(): void {
    this.#mark?.close();
    try {
      this.#checkFrames();
    } catch {
      // Damaged frames are not copied: the handles are left to the end of the process.
      return;
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
    const now = this.#index.read();
    return now !== undefined && isSameState(now, state);
  }

  #wasCut(): StoreFailure {
    return this.#failed('store_moved', `${this.#path}-wal was cut short or overwritten while it was open.`);
  }

  #failed(code: 'store_moved' | 'store_damaged', message: string): StoreFailure {
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

/** One line of a fixed length, so that it is replaced by one write. */
const LINE_BYTES = 64;
const POSITION_CHARS = 16;

/** What the mark of a file is called. */
const MARK_END = '-answered';

/**
 * The last row of the log that was answered as committed, in a small file beside the store. It is not synced: it survives every
 * process, and a power cut takes it back at most to what the disk had. If the log ends before it when the store is opened, commits
 * that were answered are lost, for example because the -wal was damaged and the process then killed.
 */
export class AnsweredMark {
  readonly #handle: number;
  /** An inode's number is used again. */
  readonly #file: string;
  readonly #bytes = Buffer.alloc(LINE_BYTES);

  private constructor(handle: number, { ino, birthtimeMs }: Stats) {
    this.#handle = handle;
    this.#file = `${ino}-${Math.round(birthtimeMs)}`;
  }

  /** Undefined: the folder can't be written, or the mark is another user's. The store does without. */
  static open(path: string): AnsweredMark | undefined {
    try {
      const file = statSync(path);
      const handle = openSync(`${path}${MARK_END}`, constants.O_RDWR | constants.O_CREAT, 0o600);
      // What root makes beside a user's store has to be the user's, as SQLite has it with its own files.
      if (process.getuid?.() === 0) fchownSync(handle, file.uid, file.gid);
      return new AnsweredMark(handle, file);
    } catch {
      return undefined;
    }
  }

  /** Of this very file; 0 if the mark is that of another one that was in its place. */
  read(): number {
    const length = readSync(this.#handle, this.#bytes, 0, LINE_BYTES, 0);
    const [position, file] = this.#bytes.toString('latin1', 0, length).trim().split(/\s+/);
    return file === this.#file && Number.isSafeInteger(Number(position)) ? Number(position) : 0;
  }

  /** Another process may have answered a later row a moment before: then that one is missed, if the file is damaged at this moment. */
  set(position: number): void {
    const line = `${String(position).padStart(POSITION_CHARS)} ${this.#file}`;
    try {
      writeSync(this.#handle, `${line.padEnd(LINE_BYTES - 1)}\n`, 0, 'latin1');
    } catch {
      // The commit is on the disk all the same.
    }
  }

  close(): void {
    closeSync(this.#handle);
  }
}
