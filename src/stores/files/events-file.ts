import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { StoreFailure } from '../../kernel/refusal.ts';
import { syncFolder } from '../sqlite/wal.ts';

/** How much of the log's end must be unchanged for it to count as the same log. */
const TAIL_BYTES = 1024;

/** The log's end as a reader has seen it. */
export interface End {
  readonly bytes: number;
  /** Checksum of the last kilobyte before it. */
  readonly tail: number;
}

export const NO_END: End = { bytes: 0, tail: 0 };

/** `events.jsonl` as bytes. Only the holder of the writer's seat appends or cuts. */
export class EventsFile {
  readonly #path: string;
  readonly #lasting: boolean;
  #handle: number | undefined;
  #inode = 0;

  constructor(path: string, lasting: boolean) {
    this.#path = path;
    this.#lasting = lasting;
  }

  /** How long it is, and whether it is another file than the one this process knew. */
  look(): { bytes: number; replaced: boolean } {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found === undefined) {
      const replaced = this.#handle !== undefined;
      this.close();
      return { bytes: 0, replaced };
    }
    const replaced = this.#handle !== undefined && found.ino !== this.#inode;
    if (replaced) this.close();
    return { bytes: found.size, replaced };
  }

  endAt(bytes: number): End {
    if (bytes === 0) return NO_END;
    const length = Math.min(bytes, TAIL_BYTES);
    const buffer = Buffer.allocUnsafe(length);
    const read = this.read(buffer, bytes - length);
    return { bytes, tail: crc32(buffer.subarray(0, read)) };
  }

  read(into: Buffer, offset: number): number {
    let total = 0;
    while (total < into.length) {
      const got = readSync(this.#open(), into, total, into.length - total, offset + total);
      if (got === 0) break;
      total += got;
    }
    return total;
  }

  /**
   * All or nothing: what a full disk accepted in part is cut off again. Appends at the file's current end:
   * another program that has written meanwhile, though it should not, loses nothing.
   */
  append(bytes: Buffer, at: number): void {
    const handle = this.#open();
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(handle, bytes, done, bytes.length - done);
    } catch (error) {
      if (fstatSync(handle).size === at + done) this.#tryToCut(at);
      throw this.#failure(error);
    }
    const { size } = fstatSync(handle);
    if (size !== at + bytes.length)
      throw new StoreFailure(
        'database_unavailable',
        `Another program writes into ${this.#path} while Coxswain does; proposals belong into the inbox.`,
      );
  }

  cut(bytes: number): void {
    try {
      ftruncateSync(this.#open(), bytes);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  sync(): void {
    if (!this.#lasting || this.#handle === undefined) return;
    fdatasyncSync(this.#handle);
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  #open(): number {
    if (this.#handle !== undefined) return this.#handle;
    const isNew = statSync(this.#path, { throwIfNoEntry: false }) === undefined;
    try {
      mkdirSync(dirname(this.#path), { recursive: true });
      this.#handle = openSync(this.#path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
    } catch (error) {
      throw this.#failure(error);
    }
    this.#inode = fstatSync(this.#handle).ino;
    if (isNew && this.#lasting) syncFolder(dirname(this.#path));
    return this.#handle;
  }

  /** Best effort: the next writer cuts what is left. */
  #tryToCut(bytes: number): void {
    try {
      ftruncateSync(this.#open(), bytes);
    } catch {}
  }

  #failure(error: unknown): StoreFailure {
    const { code, message } = error as NodeJS.ErrnoException;
    const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
    return new StoreFailure(
      full ? 'disk_full' : 'database_unavailable',
      `${this.#path} can't be written (${message}).`,
      { cause: error },
    );
  }
}
