import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { BLOCK_BYTES, blocksOf } from './page-table.ts';

/** What SQLite's processes know together of the -wal. */
export interface WalState {
  /** So many frames are valid; what is behind them is not read. */
  readonly frames: number;
  readonly page_bytes: number;
  /** Of the database. */
  readonly pages: number;
  /** Counts commits, and begins anew when a process builds the -shm anew. */
  readonly changes: number;
  /** As they stand in the file, in each of its frames. */
  readonly salts: readonly [number, number];
  /** Of the last frame and all before it. */
  readonly checksums: readonly [number, number];
  /** So many frames have been copied into the main file, and so many a process has begun to copy. */
  readonly copied: number;
  readonly copying: number;
}

const INDEX_HEADER_BYTES = 48;
const INDEX_READ_BYTES = 132;

/**
 * The beginning of the -shm, in this machine's byte order (https://sqlite.org/walformat.html). It is read by a handle of our own,
 * which must stay open as long as the database: closing it would drop SQLite's locks.
 */
export class WalIndex {
  readonly #handle: number;
  readonly #bytes = Buffer.alloc(INDEX_READ_BYTES);
  readonly #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, INDEX_READ_BYTES);
  readonly #blocks: Buffer[] = [];

  constructor(path: string) {
    this.#handle = openSync(`${path}-shm`, 'r+');
  }

  /**
   * Changes at once when another program writes into the file or cuts it. SQLite writes by its mapping of the file, which changes the
   * time only when it first touches a page of it, or one that was written back to the disk since.
   */
  changed_ms(): number {
    return fstatSync(this.#handle).ctimeMs;
  }

  /** Its table of the pages of so many frames, until the next call; undefined: the file is too short. */
  blocks(frames: number): readonly Buffer[] | undefined {
    const count = blocksOf(frames);
    while (this.#blocks.length < count) this.#blocks.push(Buffer.alloc(BLOCK_BYTES));
    for (let block = 0; block < count; block += 1) {
      const bytes = this.#blocks[block] as Buffer;
      if (readSync(this.#handle, bytes, 0, BLOCK_BYTES, block * BLOCK_BYTES) < BLOCK_BYTES) return undefined;
    }
    return this.#blocks;
  }

  /** The next process that begins a transaction, this one too, then builds the table anew from the -wal. With the write lock. */
  invalidate(): void {
    writeSync(this.#handle, Buffer.alloc(2 * INDEX_HEADER_BYTES), 0, 2 * INDEX_HEADER_BYTES, 0);
  }

  /** Undefined: a process is changing it at this moment, or has to build it anew. */
  read(): WalState | undefined {
    if (readSync(this.#handle, this.#bytes, 0, INDEX_READ_BYTES, 0) < INDEX_READ_BYTES) return undefined;
    const isWhole =
      this.#bytes.compare(this.#bytes, INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES, 0, INDEX_HEADER_BYTES) ===
      0;
    if (!isWhole || this.#bytes[12] === 0) return undefined;
    const size = this.#short(14);
    return {
      changes: this.#word(8),
      frames: this.#word(16),
      pages: this.#word(20),
      page_bytes: size === 1 ? 65_536 : size,
      checksums: [this.#word(24), this.#word(28)],
      salts: [this.#bytes.readUInt32LE(32), this.#bytes.readUInt32LE(36)],
      copied: this.#word(96),
      copying: this.#word(128),
    };
  }

  close(): void {
    closeSync(this.#handle);
  }

  #word(at: number): number {
    return this.#view.getUint32(at, LITTLE_ENDIAN);
  }

  #short(at: number): number {
    return this.#view.getUint16(at, LITTLE_ENDIAN);
  }
}

/** Of this machine. */
export const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Nothing was written and nothing copied from one to the other. */
export function isSameState(one: WalState | undefined, other: WalState): boolean {
  return (
    one !== undefined &&
    one.frames === other.frames &&
    one.checksums[0] === other.checksums[0] &&
    one.checksums[1] === other.checksums[1] &&
    isSameGeneration(one, other)
  );
}

/** SQLite has not started again at the beginning of the file in between. */
export function isSameGeneration(one: WalState, other: WalState): boolean {
  return one.salts[0] === other.salts[0] && one.salts[1] === other.salts[1];
}
