import type { Clock } from '../../kernel/clock.ts';
import { hintsOf } from '../../ledger/hints.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { Store } from '../../ledger/store-port.ts';

/** However much happens, a client is not notified of the same resource more often than this. */
const QUIET_MS = 250;
const RETRY_MS = 1000;
const ROWS_MAX = 256;
/**
 * A row that was announced but can't be read yet is behind a commit in progress. If that commit is given up,
 * no hint follows, so we look again this many times.
 */
const LOOKS_MAX = 3;

export interface Changing {
  readonly uri: string;
  changedBy(row: LogEntry): boolean;
}

/** The log to follow. */
export interface Source {
  readonly store: Store;
  readonly project: string;
}

export interface Listening {
  /**
   * From then on nothing is missed, even if the store is away: once it is back, all resources count as
   * changed.
   */
  readonly ready: Promise<void>;
  end(): void;
}

interface Following {
  readonly over: AbortController;
  readonly ready: PromiseWithResolvers<void>;
  /** How far the log has been read; undefined until the store could say. */
  position: number | undefined;
  /** Rows may have come that we could not read. */
  blind: boolean;
}

/**
 * Reports which resources have changed, whichever process changed them: it follows the log, not this
 * process's own calls. There is one reader of the log for any number of listeners, and none without a
 * listener.
 */
export class Updates {
  readonly #resources: readonly Changing[];
  readonly #open: () => Promise<Source>;
  readonly #clock: Clock;
  readonly #listeners = new Set<(uri: string) => void>();
  #following: Following | undefined;

  constructor(resources: readonly Changing[], open: () => Promise<Source>, clock: Clock) {
    this.#resources = resources;
    this.#open = open;
    this.#clock = clock;
  }

  listen(heard: (uri: string) => void): Listening {
    // The same function twice is two listeners.
    const listener = (uri: string) => heard(uri);
    this.#listeners.add(listener);
    this.#following ??= this.#start();
    return {
      ready: this.#following.ready.promise,
      end: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.stop();
      },
    };
  }

  /** Whether there is a listener, and so the log is followed. */
  get active(): boolean {
    return this.#following !== undefined;
  }

  stop(): void {
    this.#listeners.clear();
    this.#following?.over.abort();
    this.#following?.ready.resolve();
    this.#following = undefined;
  }

  #start(): Following {
    const ready = Promise.withResolvers<void>();
    const following: Following = { over: new AbortController(), ready, position: undefined, blind: false };
    void this.#keepFollowing(following);
    return following;
  }

  async #keepFollowing(following: Following): Promise<void> {
    const { signal } = following.over;
    while (!signal.aborted) {
      // If the store can't be read, the next tool call reports why; here it only means to try again.
      await this.#open()
        .then((source) => this.#follow(source, following))
        .catch(() => {});
      following.blind ||= following.position === undefined;
      following.ready.resolve();
      await this.#clock.sleep(RETRY_MS, signal).catch(() => {});
    }
  }

  /** Until it is over or the store fails. */
  async #follow({ store, project }: Source, following: Following): Promise<void> {
    const { signal } = following.over;
    const hints = hintsOf(store, project, signal);
    // Before the position is read, so that a row written in between is noticed.
    let hint = hints.next();
    try {
      following.position ??= (await store.read(project, Number.MAX_SAFE_INTEGER, 1)).safe;
      if (following.blind) this.#publish(this.#resources, signal);
      following.blind = false;
      following.ready.resolve();
      let looks = 0;
      for (;;) {
        looks = (await this.#catchUp(store, project, following)) ? LOOKS_MAX : looks + 1;
        await this.#clock.sleep(QUIET_MS, signal).catch(() => {});
        const told = await (looks < LOOKS_MAX ? Promise.race([hint, this.#pause(signal)]) : hint);
        if (told?.done === true || signal.aborted) return;
        if (told === undefined) continue;
        looks = 0;
        hint = hints.next();
      }
    } finally {
      hints.end();
    }
  }

  async #pause(signal: AbortSignal): Promise<undefined> {
    await this.#clock.sleep(RETRY_MS, signal).catch(() => {});
  }

  /** Reports what the rows since the last time have changed. Returns whether there were any. */
  async #catchUp(store: Store, project: string, following: Following): Promise<boolean> {
    const before = following.position;
    const changed = new Set<Changing>();
    for (;;) {
      const { entries, safe } = await store.read(project, following.position ?? 0, ROWS_MAX);
      for (const resource of this.#resources)
        if (!changed.has(resource) && entries.some((row) => resource.changedBy(row))) changed.add(resource);
      following.position = entries.at(-1)?.position ?? following.position;
      if (entries.length < ROWS_MAX) break;
      if (changed.size < this.#resources.length) continue;
      // All resources count as changed, so any further rows add nothing.
      following.position = Math.max(following.position ?? 0, safe);
      break;
    }
    this.#publish(changed, following.over.signal);
    return following.position !== before;
  }

  #publish(changed: Iterable<Changing>, signal: AbortSignal): void {
    if (signal.aborted) return;
    for (const { uri } of changed) for (const listener of [...this.#listeners]) listener(uri);
  }
}
