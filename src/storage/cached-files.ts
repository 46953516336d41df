import { type Stats, statSync } from 'node:fs';
import type { Clock } from '../kernel/clock.ts';
import { type FileText, readBounded, unreadable } from './read-bounded.ts';

/** How long a look at the disk is considered current. */
const LOOK_MS = 1000;

type Stamp = Pick<Stats, 'mtimeMs' | 'ctimeMs' | 'size' | 'ino'>;

interface Kept<T> {
  readonly stamp: Stamp;
  readonly value: Promise<T>;
}

/**
 * Values derived from files, each recomputed when its file has changed. The stamp is taken before the text is
 * read: a write in between is noticed by the next look.
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

  /** The first of them that exists; a file that can't be read counts as existing. */
  async first(paths: readonly string[]): Promise<T | undefined> {
    for (const path of paths) {
      const stat = lookAt(path);
      if (typeof stat === 'string') return await this.#meaning(path, { ok: false, reason: stat });
      if (stat !== undefined) return await this.get(path, stat);
    }
    return undefined;
  }

  /** Forgets all other files. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
  }
}

/**
 * Returns the same answer for a second. A caller that asks while a look is under way waits for its result,
 * and gets nothing older.
 */
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

/** Undefined: nothing is there. A text: something is there, and this is why it can't be read. */
function lookAt(path: string): Stats | string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return unreadable(error);
  }
}
