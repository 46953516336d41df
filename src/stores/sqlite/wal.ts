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
import { LITTLE_ENDIAN, type WalState } from './wal-index.ts';

/** What SQLite writes before it starts again at the beginning (`CHECKPOINT_FRAMES` in file-guard.ts), plus one fold. */
const RESERVED_BYTES = 12 * 1024 * 1024;
const ZEROS_BYTES = 1024 * 1024;

const HEADER_BYTES = 32;
/** Behind them stands their checksum. */
const HEADER_SUMMED_BYTES = 24;
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

  /**
   * The page of each frame after the copied ones; undefined if one of them no longer has its checksum. SQLite itself looks at those only
   * when it recovers the file.
   */
  intactPages({ frames, page_bytes, salts, copied }: Frames): number[] | undefined {
    const frame_bytes = FRAME_HEADER_BYTES + page_bytes;
    const chunk = Buffer.alloc(FRAMES_AT_ONCE * frame_bytes);
    const words = new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length / 4);
    const pages: number[] = [];
    let sums = this.#checksumsAt(copied, frame_bytes);
    for (let first = copied; first < frames; first += FRAMES_AT_ONCE) {
      const count = Math.min(FRAMES_AT_ONCE, frames - first);
      const at = HEADER_BYTES + first * frame_bytes;
      if (readSync(this.#handle, chunk, 0, count * frame_bytes, at) < count * frame_bytes) return undefined;
      for (let byte = 0; byte < count * frame_bytes; byte += frame_bytes) {
        if (chunk.readUInt32LE(byte + 8) !== salts[0] || chunk.readUInt32LE(byte + 12) !== salts[1])
          return undefined;
        if (sums !== undefined) {
          const word = byte / 4;
          sums = addUp(words, word, word + 2, sums);
          sums = addUp(words, word + FRAME_HEADER_BYTES / 4, word + frame_bytes / 4, sums);
          if (chunk.readUInt32BE(byte + 16) !== sums[0] || chunk.readUInt32BE(byte + 20) !== sums[1])
            return undefined;
        }
        pages.push(chunk.readUInt32BE(byte));
      }
    }
    return pages;
  }

  /** Whether SQLite would find all frames if it had to recover the file. */
  isRecoverable(state: Frames): boolean {
    const { frames, salts } = state;
    if (frames === 0) return true;
    const head = Buffer.alloc(HEADER_BYTES);
    const words = new Uint32Array(head.buffer, head.byteOffset, HEADER_BYTES / 4);
    readSync(this.#handle, head, 0, HEADER_BYTES, 0);
    const magic = head.readUInt32BE(0);
    if (magic >>> 1 !== MAGIC >>> 1) return false;
    if (head.readUInt32LE(16) !== salts[0] || head.readUInt32LE(20) !== salts[1]) return false;
    const [sum1, sum2] = addUp(words, 0, HEADER_SUMMED_BYTES / 4, [0, 0]);
    if (
      (magic === MAGIC) === LITTLE_ENDIAN &&
      (head.readUInt32BE(24) !== sum1 || head.readUInt32BE(28) !== sum2)
    )
      return false;
    return this.intactPages({ ...state, copied: 0 }) !== undefined;
  }

  /** Counted from 1. */
  pageOf(frame: number, page_bytes: number): number {
    readSync(
      this.#handle,
      this.#head,
      0,
      FRAME_HEADER_BYTES,
      HEADER_BYTES + (frame - 1) * (FRAME_HEADER_BYTES + page_bytes),
    );
    return this.#head.readUInt32BE(0);
  }

  /** Where the sums begin that the next frame goes on with; undefined: made by a machine of the other byte order. */
  #checksumsAt(frames: number, frame_bytes: number): Sums | undefined {
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

type Frames = Pick<WalState, 'frames' | 'page_bytes' | 'salts' | 'copied'>;
type Sums = readonly [number, number];

/** SQLite's checksum, in words of two. */
function addUp(words: Uint32Array, from: number, end: number, before: Sums): Sums {
  let sum1 = before[0] | 0;
  let sum2 = before[1] | 0;
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
