import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';

/** How long a proposal waits at most where the file system sends no events: network disks, containers. */
const LOOK_MS = 500;
/**
 * Further folders are polled: a machine has a limited number of watches, and other programs need some too.
 */
const WATCHED_MAX = 200;

/** Yields at once, and whenever something may have arrived in the inbox or in one of its folders. */
export async function* arrivals(
  inbox: string,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<void> {
  const ears = new Ears(inbox);
  try {
    while (!signal.aborted) {
      // Before the look that follows, so that what arrives during it is noticed.
      const heard = ears.listen();
      yield;
      if (signal.aborted) return;
      const waited = new AbortController();
      const stop = () => waited.abort();
      signal.addEventListener('abort', stop);
      await Promise.race([heard, clock.sleep(LOOK_MS, waited.signal).catch(() => {})]);
      waited.abort();
      signal.removeEventListener('abort', stop);
    }
  } finally {
    ears.close();
  }
}

/** Only hints: an arrival that is missed is found by the next look. */
class Ears {
  readonly #inbox: string;
  readonly #watchers = new Map<string, FSWatcher>();
  #wake: () => void = () => {};

  constructor(inbox: string) {
    this.#inbox = inbox;
  }

  /** Resolves with the next event. */
  listen(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    for (const folder of [this.#inbox, ...foldersOf(this.#inbox)]) this.#open(folder);
    return promise;
  }

  #open(folder: string): void {
    if (this.#watchers.has(folder) || this.#watchers.size >= WATCHED_MAX) return;
    try {
      const watcher = watch(folder, { persistent: false }, (kind) => {
        // The folder itself may be what was removed: the one that replaces it is watched anew.
        if (kind === 'rename') this.#drop(folder);
        this.#wake();
      });
      watcher.on('error', () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // Not there yet, or not watchable.
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  close(): void {
    for (const folder of [...this.#watchers.keys()]) this.#drop(folder);
  }
}

function foldersOf(inbox: string): string[] {
  try {
    return readdirSync(inbox, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(inbox, name));
  } catch {
    return [];
  }
}
