import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** What SQLite writes before it starts again at the beginning (`CHECKPOINT_FRAMES` in file-guard.ts), plus one fold. */
const RESERVED_BYTES = 12 * 1024 * 1024;
const ZEROS_BYTES = 1024 * 1024;

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** A magic number with its last bit set means checksums over words of the other byte order. */
const MAGIC = 0x377f0682;
const FRAMES_AT_ONCE = 32;

/**
 * The -wal, to put on disk what SQLite has written into it, and to see that it is still there. SQLite commits without waiting
 * (`synchronous = NORMAL`), and a commit is answered once a sync that began after it has ended. So the file's write lock is
 * not held while the disk works, other processes commit meanwhile, and one sync serves all of them: it covers
 * everything before it in the file, including what other processes wrote and what this commit builds on.
 */
export class Wal {
  readonly #handle: number;
  readonly #byte = Buffer.alloc(1);
  readonly #head = Buffer.alloc(FRAME_HEADER_BYTES);
  readonly #lasting: boolean;

  constructor(path: string, { brief, lasting }: { readonly brief: boolean; readonly lasting: boolean }) {
    this.#lasting = lasting;
    // SQLite does not lock this file (its locks are on the other two), so a second handle on it drops none.
    this.#handle = openSync(`${path}-wal`, 'r+');
    // If a hook finds something in it, the process that wrote that has already synced the folder.
    if (lasting && (!brief || this.isEmpty())) syncFolder(dirname(path));
  }

  sync(): void {
    if (this.#lasting) fdatasyncSync(this.#handle);
  }

  /**
   * Extends the file to its final length. A sync is half as fast while the file grows, because its new length
   * has to be stored as well (measured: 200 µs, then 120), and most processes end before it has stopped
   * growing by itself. SQLite does not read what is behind its last frame.
   *
   * Only while this process has the write lock, so that no other process writes behind the end meanwhile.
   */
  reserve(): void {
    if (!this.#lasting) return;
    const length = this.bytes();
    const zeros = Buffer.alloc(ZEROS_BYTES);
    try {
      for (let at = length; at < RESERVED_BYTES; )
        at += writeSync(this.#handle, zeros, 0, Math.min(ZEROS_BYTES, RESERVED_BYTES - at), at);
    } catch {
      // A disk without room for it may still have room for the next commit.
      ftruncateSync(this.#handle, length);
    }
  }

  isEmpty(): boolean {
    return readSync(this.#handle, this.#byte, 0, 1, 0) === 0;
  }

  bytes(): number {
    return fstatSync(this.#handle).size;
  }

  /**
   * Whether the last frame that SQLite counts is there as it was written, to its end. A file that was cut has lost it, unless it
   * lost nothing. Read instead of asking for the file's length: since Linux 6.13 a write after such a question gives the file a new
   * time, which a sync then has to put on disk too, and commits would be slower by a third.
   */
  hasLastFrame(state: WalState): boolean {
    if (state.frames === 0) return true;
    const end = HEADER_BYTES + state.frames * (FRAME_HEADER_BYTES + state.page_bytes);
    return this.hasLastHeader(state) && readSync(this.#handle, this.#byte, 0, 1, end - 1) === 1;
  }

  /** Its beginning only. */
  hasLastHeader({ frames, page_bytes, salts, checksums }: WalState): boolean {
    if (frames === 0) return true;
    const head = this.#head;
    const start = HEADER_BYTES + (frames - 1) * (FRAME_HEADER_BYTES + page_bytes);
    return (
      readSync(this.#handle, head, 0, FRAME_HEADER_BYTES, start) === FRAME_HEADER_BYTES &&
      head.readUInt32LE(8) === salts[0] &&
      head.readUInt32LE(12) === salts[1] &&
      head.readUInt32BE(16) === checksums[0] &&
      head.readUInt32BE(20) === checksums[1]
    );
  }

  /** Whether each frame after the copied ones still has its checksum: SQLite itself looks only when it recovers the file. */
  isIntact({ frames, page_bytes, salts, copied }: WalState): boolean {
    const frame_bytes = FRAME_HEADER_BYTES + page_bytes;
    const chunk = Buffer.alloc(FRAMES_AT_ONCE * frame_bytes);
    const words = new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length / 4);
    const start = this.#checksumsAt(copied, frame_bytes);
    if (start === undefined) return true;
    let [sum1, sum2] = start;
    for (let first = copied; first < frames; first += FRAMES_AT_ONCE) {
      const count = Math.min(FRAMES_AT_ONCE, frames - first);
      const at = HEADER_BYTES + first * frame_bytes;
      if (readSync(this.#handle, chunk, 0, count * frame_bytes, at) < count * frame_bytes) return false;
      for (let frame = 0; frame < count; frame += 1) {
        const byte = frame * frame_bytes;
        const word = byte / 4;
        if (chunk.readUInt32LE(byte + 8) !== salts[0] || chunk.readUInt32LE(byte + 12) !== salts[1])
          return false;
        [sum1, sum2] = addUp(words, word, word + 2, sum1, sum2);
        [sum1, sum2] = addUp(words, word + FRAME_HEADER_BYTES / 4, word + frame_bytes / 4, sum1, sum2);
        if (chunk.readUInt32BE(byte + 16) !== sum1 || chunk.readUInt32BE(byte + 20) !== sum2) return false;
      }
    }
    return true;
  }

  /** Where the sums begin that the next frame goes on with; undefined: made by a machine of the other byte order. */
  #checksumsAt(frames: number, frame_bytes: number): [number, number] | undefined {
    const head = Buffer.alloc(HEADER_BYTES);
    readSync(this.#handle, head, 0, HEADER_BYTES, 0);
    if ((head.readUInt32BE(0) === MAGIC) !== LITTLE_ENDIAN) return undefined;
    if (frames === 0) return [head.readUInt32BE(24), head.readUInt32BE(28)];
    readSync(this.#handle, head, 0, FRAME_HEADER_BYTES, HEADER_BYTES + (frames - 1) * frame_bytes);
    return [head.readUInt32BE(16), head.readUInt32BE(20)];
  }

  close(): void {
    closeSync(this.#handle);
  }
}

/** SQLite's checksum, in words of two. */
function addUp(
  words: Uint32Array,
  from: number,
  end: number,
  before1: number,
  before2: number,
): [number, number] {
  let sum1 = before1 | 0;
  let sum2 = before2 | 0;
  for (let at = from; at < end; at += 2) {
    sum1 = (sum1 + (words[at] as number) + sum2) | 0;
    sum2 = (sum2 + (words[at + 1] as number) + sum1) | 0;
  }
  return [sum1 >>> 0, sum2 >>> 0];
}

/** The existence of the files must survive too. Windows can't sync a folder, and need not. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What SQLite's processes know together of the -wal. */
export interface WalState {
  /** So many frames are valid; what is behind them is not read. */
  readonly frames: number;
  readonly page_bytes: number;
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

  constructor(path: string) {
    this.#handle = openSync(`${path}-shm`, 'r');
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
      frames: this.#word(16),
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

const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Nothing was written and nothing copied from one to the other. */
export function isSameState(one: WalState, other: WalState): boolean {
  return (
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
