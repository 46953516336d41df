import type { EventsFile } from './events-file.ts';

const CHUNK_BYTES = 1024 * 1024;
/** A longer line without an end is not read into memory. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

export interface Line {
  readonly offset: number;
  /** Without the line end; undefined when it is too long to be a line. */
  readonly bytes: Buffer | undefined;
  /** Where the next line begins. */
  readonly next: number;
  /** False: the file ends before the line does. */
  readonly ended: boolean;
}

/**
 * The lines between two offsets, in memory that does not grow with the file. A line's bytes are valid until
 * the next one is read.
 */
export function* linesOf(file: EventsFile, from: number, to: number): Iterable<Line> {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let start = from;
  while (start < to) {
    const filled = file.read(chunk.subarray(0, Math.min(chunk.length, to - start)), start);
    if (filled === 0) return;
    const data = chunk.subarray(0, filled);
    let used = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, used)) {
      const bytes = data.subarray(used, textEnd(data, used, end));
      yield { offset: start + used, bytes, next: start + end + 1, ended: true };
      used = end + 1;
    }
    if (used > 0) {
      start += used;
      continue;
    }
    if (start + filled >= to) {
      yield { offset: start, bytes: data, next: to, ended: false };
      return;
    }
    if (chunk.length < LINE_BYTES_MAX) {
      chunk = Buffer.allocUnsafe(chunk.length * 4);
      continue;
    }
    const next = pastLine(file, start + filled, to);
    yield { offset: start, bytes: undefined, next, ended: next < to };
    start = next;
  }
}

/**
 * A checkout on Windows, or an editor, ends every line with two characters. Both belong to the line end, not
 * to the text.
 */
function textEnd(data: Buffer, from: number, end: number): number {
  return end > from && data[end - 1] === RETURN ? end - 1 : end;
}

function pastLine(file: EventsFile, from: number, to: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let start = from; start < to; start += chunk.length) {
    const filled = file.read(chunk.subarray(0, Math.min(chunk.length, to - start)), start);
    const end = chunk.subarray(0, filled).indexOf(NEWLINE);
    if (end !== -1) return start + end + 1;
  }
  return to;
}
