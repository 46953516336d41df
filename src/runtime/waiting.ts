import type { Clock } from '../kernel/clock.ts';
import { hintsOf } from '../ledger/hints.ts';
import type { LogEntry } from '../ledger/log.ts';
import type { Store } from '../ledger/store-port.ts';

/** Says when it is worth looking again. A hint: too many do no harm but cost, and one may be late. */
export interface Hints {
  /** Resolves when the log may have grown since it last did, at a moment of the monotonic clock, or when the caller is gone. */
  next(until_ms: number): Promise<void>;
  close(): void;
}

/** Looking again sooner than this finds nothing new that the next look would not. */
const LOOK_EVERY_MS = 15;
const OVERDUE_MS = 250;
/** More rows than this at once are not read one by one: all waiters look again. */
const ROWS_MAX = 64;

export type Matters = (row: LogEntry) => boolean;

interface Listener {
  readonly matters: Matters;
  wake(): void;
}

/**
 * Follows the log for all who wait in this process: each row is read once, and wakes only those to whom it can matter.
 * Others who wait write rows too, to say that they still do; fifty waiters must not wake each other all the time.
 */
class Follower {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #project: string;
  readonly #listeners = new Set<Listener>();
  #over: AbortController | undefined;

  constructor(store: Store, clock: Clock, project: string) {
    this.#store = store;
    this.#clock = clock;
    this.#project = project;
  }

  add(listener: Listener): void {
    this.#listeners.add(listener);
    if (this.#over !== undefined) return;
    const over = new AbortController();
    this.#over = over;
    // A store that can't tell us now is looked at when the time comes; what it can't do at all, the look itself says.
    this.#follow(over.signal)
      .catch(() => {})
      .finally(() => {
        over.abort();
        if (this.#over === over) this.#over = undefined;
        this.#wakeAll();
      });
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#over?.abort();
    this.#over = undefined;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const hints = hintsOf(this.#store, this.#project, signal);
    let heard = hints.next();
    let position = await this.#pass(undefined);
    for (;;) {
      const { done } = await heard;
      if (done === true || signal.aborted) return;
      // Before the rows are read, so that what is written meanwhile is heard too.
      heard = hints.next();
      position = await this.#pass(position);
      await this.#clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  /** Wakes the listeners to whom the rows after the position matter, or all of them when that can't be told. Answers the position it got to. */
  async #pass(position: number | undefined): Promise<number | undefined> {
    try {
      const after = position ?? Number.MAX_SAFE_INTEGER;
      const { entries, safe } = await this.#store.read(this.#project, after, ROWS_MAX);
      const last = entries.at(-1);
      // None: what we heard of is there but behind a commit still under way, so it can't be read in order yet.
      if (last === undefined || entries.length === ROWS_MAX) {
        this.#wakeAll();
        return Math.max(position ?? 0, safe);
      }
      for (const listener of [...this.#listeners]) if (entries.some(listener.matters)) listener.wake();
      return last.position;
    } catch {
      this.#wakeAll();
      return position;
    }
  }

  #wakeAll(): void {
    for (const listener of [...this.#listeners]) listener.wake();
  }
}

const followers = new WeakMap<Store, Map<string, Follower>>();

function followerOf(store: Store, clock: Clock, project: string): Follower {
  const ofStore = followers.get(store) ?? new Map<string, Follower>();
  followers.set(store, ofStore);
  const follower = ofStore.get(project) ?? new Follower(store, clock, project);
  ofStore.set(project, follower);
  return follower;
}

/** Listens from now on: what is committed between this and the first `next` is not missed. */
export function storeHints(
  store: Store,
  clock: Clock,
  project: string,
  gone: AbortSignal,
  matters: Matters,
): Hints {
  const follower = followerOf(store, clock, project);
  let heard = Promise.withResolvers<void>();
  const listener = { matters, wake: () => heard.resolve() };
  follower.add(listener);
  return {
    async next(until_ms) {
      const timer = new AbortController();
      const signal = AbortSignal.any([timer.signal, gone]);
      const late = clock.sleep(Math.max(0, until_ms - clock.elapsed_ms()), signal).catch(() => {});
      await Promise.race([heard.promise, late]);
      timer.abort();
      heard = Promise.withResolvers<void>();
    },
    close: () => follower.remove(listener),
  };
}

/** Who waits. */
export interface Waiting {
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  elapsed_ms(): number;
}

/** Something that another agent has to let go. Meanwhile `renew` says that the caller still wants it. */
export interface Awaited<T> {
  readonly timeout_ms: number;
  /** At least this often `renew` says that the caller still waits. */
  readonly renew_ms: number;
  /** Takes it if it can be had. Looking must commit nothing. */
  attempt(): Promise<T | undefined>;
  renew(): Promise<void>;
  /** After an attempt: after how long it may become possible by the passing of time alone, without a hint. */
  soonest_ms(): number;
}

/**
 * The one way to wait for others: no polling, no commit but to say that one is still there. Undefined when the time is up
 * or the caller has gone. `hints` were opened before whatever made the caller wait.
 */
export async function waitFor<T>(step: Waiting, hints: Hints, awaited: Awaited<T>): Promise<T | undefined> {
  const deadline_ms = step.elapsed_ms() + awaited.timeout_ms;
  let renewed_ms = step.elapsed_ms();
  for (;;) {
    if (step.signal.aborted) return undefined;
    const got = await awaited.attempt();
    if (got !== undefined) return got;
    if (step.elapsed_ms() >= deadline_ms) return undefined;
    if (step.elapsed_ms() >= renewed_ms + awaited.renew_ms) {
      await awaited.renew();
      renewed_ms = step.elapsed_ms();
    }
    const left_ms = awaited.soonest_ms();
    // It should have come: then our clock and the store's differ, and asking without a pause would not help.
    const soonest_ms = step.elapsed_ms() + (left_ms > 0 ? left_ms + 1 : OVERDUE_MS);
    await hints.next(Math.min(deadline_ms, renewed_ms + awaited.renew_ms, soonest_ms));
  }
}
