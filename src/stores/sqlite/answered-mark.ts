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
