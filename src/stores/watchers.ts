interface Watcher {
  readonly project: string;
  /** The log may have grown since this watcher last looked. */
  stale: boolean;
  wake: () => void;
}

const nobody = () => {};

export interface WatchedSource {
  /** There is a watcher; called again for each one that joins. */
  begin(): void;
  /** The last watcher has gone. */
  end(): void;
  /** Whether a watcher is waiting at this moment: then the process has to stay alive. */
  waits(someone: boolean): void;
}

/**
 * The watchers in this process that want to hear when a log may have grown. Where the news comes from is up
 * to the store.
 */
export class Watchers {
  readonly #source: WatchedSource;
  readonly #watchers = new Set<Watcher>();
  #waiting = 0;
  #closed = false;

  constructor(source: WatchedSource) {
    this.#source = source;
  }

  get projects(): Set<string> {
    return new Set([...this.#watchers].map(({ project }) => project));
  }

  /** `missed`: something may have been committed between the caller's last look and now. */
  async *watch(project: string, signal: AbortSignal, missed: () => boolean): AsyncIterable<void> {
    if (signal.aborted || this.#closed) return;
    const watcher: Watcher = { project, stale: missed(), wake: nobody };
    const leave = () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#source.end();
      watcher.wake();
    };
    signal.addEventListener('abort', leave);
    this.#watchers.add(watcher);
    this.#source.begin();
    try {
      for (;;) {
        if (!watcher.stale) await this.#news(watcher);
        if (signal.aborted || this.#closed) return;
        watcher.stale = false;
        yield;
        if (signal.aborted || this.#closed) return;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Undefined: the watchers of every project. */
  wake(project?: string): void {
    for (const watcher of this.#watchers) {
      if (project !== undefined && watcher.project !== project) continue;
      watcher.stale = true;
      watcher.wake();
    }
  }

  close(): void {
    this.#closed = true;
    this.#source.end();
    for (const watcher of this.#watchers) watcher.wake();
  }

  async #news(watcher: Watcher): Promise<void> {
    this.#waiting += 1;
    this.#source.waits(true);
    await new Promise<void>((resolve) => {
      watcher.wake = resolve;
    });
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#source.waits(false);
  }
}
