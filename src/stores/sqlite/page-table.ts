/** The -shm consists of blocks, each with the page numbers of so many frames, and behind them the slots in which SQLite looks them up. */
export const BLOCK_BYTES = 32_768;
const PAGES_OF_BLOCK = 4096;
const SLOTS_OF_BLOCK = 8192;
/** Words at the beginning of the first block, which has so many page numbers less. */
const HEADER_WORDS = 34;
const PAGES_OF_FIRST = PAGES_OF_BLOCK - HEADER_WORDS;
const HASH_FACTOR = 383;

/** `unfinished`: right as far as frames count; behind them is what another process writes, or left when it was killed. */
export type TableState = 'whole' | 'unfinished' | 'damaged';

export function blocksOf(frames: number): number {
  return frames <= PAGES_OF_FIRST ? 1 : 1 + Math.ceil((frames - PAGES_OF_FIRST) / PAGES_OF_BLOCK);
}

export interface TableCheck {
  readonly blocks: readonly Buffer[];
  /** How many of them count. */
  readonly frames: number;
  /** Pages of the database. */
  readonly pages: number;
  /** No other process changes the table, because this one has the write lock. */
  readonly isLocked: boolean;
  /** The page of a frame, as the -wal has it. */
  pageInWal(frame: number): number;
}

/**
 * Whether SQLite finds the pages of the -wal by this table. It trusts the table without a look at the frames, so a wrong entry makes it
 * read an older content of a page, and build the next commit on that.
 *
 * The slots follow from the page numbers and their order. So both are compared with each other, which costs some microseconds where
 * reading the page numbers from the -wal would cost milliseconds. Only a page number that is wrong by a multiple of 8,192 has the
 * same slot; it is asked for in the -wal if the database has no such page, and all of them are before frames are copied.
 */
export function checkTable(check: TableCheck): TableState {
  let state: TableState = 'whole';
  const count = blocksOf(check.frames);
  for (let block = 0; block < count && state !== 'damaged'; block += 1) state = checkBlock(check, block);
  return state;
}

const expected = new Uint16Array(SLOTS_OF_BLOCK);
const expectedBytes = Buffer.from(expected.buffer);
const zeros = Buffer.alloc(BLOCK_BYTES / 2);

function checkBlock({ blocks, frames, pages, isLocked, pageInWal }: TableCheck, block: number): TableState {
  const bytes = blocks[block] as Buffer;
  const before = framesBefore(block);
  const numbers = numbersOf(bytes, block);
  const used = Math.min(frames - before, numbers.length);
  expected.fill(0);
  for (let index = 0; index < used; index += 1) {
    const page = numbers[index] as number;
    if (page === 0) return 'damaged';
    if (page > pages && pageInWal(before + index + 1) !== page) return 'damaged';
    let slot = Math.imul(page, HASH_FACTOR) & (SLOTS_OF_BLOCK - 1);
    while (expected[slot] !== 0) slot = (slot + 1) & (SLOTS_OF_BLOCK - 1);
    expected[slot] = index + 1;
  }
  const isExact = expectedBytes.compare(bytes, BLOCK_BYTES / 2) === 0;
  const rest = BLOCK_BYTES / 2 - 4 * (numbers.length - used);
  if (isExact && zeros.compare(bytes, rest, BLOCK_BYTES / 2, rest) === 0) return 'whole';
  // SQLite empties everything behind the last frame if the next page number is not 0. Otherwise it would be taken for its own.
  if (isLocked && (numbers[used] ?? 0) === 0) return 'damaged';
  const slots = new Uint16Array(bytes.buffer, bytes.byteOffset + BLOCK_BYTES / 2, SLOTS_OF_BLOCK);
  return slots.every((found, slot) => found === expected[slot] || (expected[slot] === 0 && found > used))
    ? 'unfinished'
    : 'damaged';
}

/** Where the table has the page of a frame. */
export function pageOf(blocks: readonly Buffer[], frame: number): number {
  const block = blocksOf(frame) - 1;
  return numbersOf(blocks[block] as Buffer, block)[frame - framesBefore(block) - 1] as number;
}

function framesBefore(block: number): number {
  return block === 0 ? 0 : PAGES_OF_FIRST + (block - 1) * PAGES_OF_BLOCK;
}

function numbersOf(bytes: Buffer, block: number): Uint32Array {
  const skipped = block === 0 ? HEADER_WORDS : 0;
  return new Uint32Array(bytes.buffer, bytes.byteOffset + skipped * 4, PAGES_OF_BLOCK - skipped);
}
