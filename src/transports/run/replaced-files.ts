import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Tells when another file is put in the place of one of these, as an editor does that saves by renaming: the mount stays with the old one. */
export class ReplacedFiles {
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #told: () => void;
  #names: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  constructor(told: () => void) {
    this.#told = told;
  }

  watch(paths: Iterable<string>): void {
    const names = new Map<string, Set<string>>();
    for (const path of paths) {
      const folder = dirname(path);
      names.set(folder, (names.get(folder) ?? new Set()).add(basename(path)));
    }
    this.#names = names;
    for (const folder of this.#watchers.keys()) if (!names.has(folder)) this.#forget(folder);
    for (const folder of names.keys()) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  close(): void {
    for (const folder of [...this.#watchers.keys()]) this.#forget(folder);
  }

  /** Where the system gives no watch, it is seen at the next look. */
  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, (event, name) => {
        if (event === 'rename' && (name === null || this.#names.get(folder)?.has(name) === true))
          this.#told();
      });
      watcher.on('error', () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
    } catch {}
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
