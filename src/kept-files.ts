import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { Clock } from './kernel/clock.ts';
import { limits } from './kernel/limits.ts';

/** How long what was seen of the disk counts as what is there. */
const LOOK_MS = 1000;

/** What a file holds, or why that can't be said. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

type Stamp = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size' | 'ino'>;

interface Kept<T> {
  readonly stamp: Stamp;
  readonly value: Promise<T>;
}

/**
 * What files mean, each worked out again when it has changed. The stamp is taken before the text is read: whoever writes in
 * between is seen by the next look.
 */
export class KeptFiles<T> {
  readonly #meaning: (path: string, text: FileText) => T | Promise<T>;
  readonly #kept = new Map<string, Kept<T>>();

  constructor(meaning: (path: string, text: FileText) => T | Promise<T>) {
    this.#meaning = meaning;
  }

  async get(path: string, stamp: Stamp): Promise<T> {
    const kept = this.#kept.get(path);
    if (kept !== undefined && isSame(kept.stamp, stamp)) return await kept.value;
    const value = Promise.resolve(this.#meaning(path, readBounded(path)));
    this.#kept.set(path, { stamp, value });
    return await value;
  }

  /** The first of them that is there; one that can't be looked at is there. */
  async first(paths: readonly string[]): Promise<T | undefined> {
    for (const path of paths) {
      const stat = lookAt(path);
      if (typeof stat === 'string') return await this.#meaning(path, { ok: false, reason: stat });
      if (stat !== undefined) return await this.get(path, stat);
    }
    return undefined;
  }

  /** Forgets the others. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
  }
}

/** The same answer for a second. Whoever asks while somebody looks waits for what is seen, and for nothing older. */
export function glance<T>(clock: Clock, look: () => Promise<T>): () => Promise<T> {
  let looked_ms = Number.NEGATIVE_INFINITY;
  let seen: Promise<T> | undefined;
  return () => {
    const now_ms = clock.elapsed_ms();
    if (seen === undefined || now_ms - looked_ms >= LOOK_MS) {
      looked_ms = now_ms;
      seen = look();
    }
    return seen;
  };
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size && a.ino === b.ino;
}

/** Undefined: nothing is there. A text: something is, and that keeps us from it. */
function lookAt(path: string): Stats | string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return unreadable(error);
  }
}

const bytes_max = limits.fleet_file_bytes_max;
/** One for all: a fresh one for each of a thousand files takes longer than to read them. Nobody waits while it is in use. */
let room: Buffer | undefined;

function readBounded(path: string): FileText {
  let file: number | undefined;
  try {
    // A pipe under that name would keep us waiting for ever.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(file).isFile()) return { ok: false, reason: 'not a file' };
    room ??= Buffer.allocUnsafe(bytes_max + 1);
    const bytes = room;
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read)
      read = readSync(file, bytes, size, bytes.length - size, null);
    if (size > bytes_max) return { ok: false, reason: `larger than ${bytes_max} bytes` };
    return { ok: true, text: bytes.toString('utf8', 0, size) };
  } catch (error) {
    return { ok: false, reason: unreadable(error) };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function unreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
  return `can’t be read${code}`;
}
