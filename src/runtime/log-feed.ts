import type { Clock } from '../kernel/clock.ts';
import { hintsOf } from '../ledger/hints.ts';
import type { LogEntry } from '../ledger/log.ts';
import type { Store } from '../ledger/store-port.ts';

export type Rows = readonly LogEntry[];

const PAGE_ROWS = 500;
/** Between two looks while a lot is written: what comes in one look is passed on together. */
const PACE_MS = 50;
/** With many listeners it is longer: passing on costs a write for each, and must not cost those who write to the log. */
const HEARD_PER_MS_MAX = 2;
/** A hint may come before its row can be read in order, and there is no second hint. */
const LOOK_EVERY_MS = 1_000;

/** Follows the log of a project for any number of listeners: each row is read once, however many there are. */
export class LogFeed {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #project: string;
  readonly #listeners = new Set<(rows: Rows) => void>();
  #users = 0;
  /** Up to here every listener has heard everything. */
  #position = 0;
  #started: Promise<void> | undefined;
  #over = new AbortController();

  constructor(store: Store, clock: Clock, project: string) {
    this.#store = store;
    this.#clock = clock;
    this.#project = project;
  }

  /**
   * Hands every row after a position to `hear`, in order, none twice and none left out. What lies behind comes first,
   * through `catchUp`, page by page; answering false there ends it. Without a position: from now on.
   * Answers how to leave; undefined when it was left during the catching up, `ahead` when the log has not come that far.
   */
  async listen(
    after: number | undefined,
    catchUp: (rows: Rows) => Promise<boolean>,
    hear: (rows: Rows) => void,
  ): Promise<(() => void) | 'ahead' | undefined> {
    this.#users += 1;
    try {
      await this.#start();
      const from = after ?? this.#position;
      if (from > this.#position && from > (await this.#end())) return this.#leave('ahead');
      for (let position = from; position < this.#position; ) {
        // Rows beyond it come by the feed itself.
        const goal = this.#position;
        const { entries } = await this.#store.read(this.#project, position, PAGE_ROWS);
        const rows = entries.filter((row) => row.position <= goal);
        if (rows.length > 0 && !(await catchUp(rows))) return this.#leave(undefined);
        position = rows.length < PAGE_ROWS ? goal : (rows.at(-1)?.position ?? goal);
      }
      const listener = (rows: Rows) => hearAfter(from, rows, hear);
      this.#listeners.add(listener);
      return () => {
        if (this.#listeners.delete(listener)) this.#leave(undefined);
      };
    } catch (error) {
      this.#leave(undefined);
      throw error;
    }
  }

  #leave<T>(answer: T): T {
    this.#users -= 1;
    if (this.#users > 0) return answer;
    this.#over.abort();
    this.#started = undefined;
    return answer;
  }

  #start(): Promise<void> {
    this.#started ??= this.#begin().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #begin(): Promise<void> {
    const over = new AbortController();
    this.#over = over;
    this.#position = await this.#end();
    void this.#follow(over.signal);
  }

  /** How far the log can be read by now; we may not have come to it yet. */
  async #end(): Promise<number> {
    return (await this.#store.read(this.#project, Number.MAX_SAFE_INTEGER, 1)).safe;
  }

  /** A store that went away is asked again; its rows are still there when it is back. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#followWhileItLasts(signal);
      } catch {
        await this.#clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
      }
    }
  }

  async #followWhileItLasts(signal: AbortSignal): Promise<void> {
    const hints = hintsOf(this.#store, this.#project, signal);
    let heard = hints.next();
    for (;;) {
      const late = new AbortController();
      const hint = await Promise.race([heard, this.#nap(AbortSignal.any([signal, late.signal]))]);
      late.abort();
      if (signal.aborted) return;
      // A store that was closed tells nothing more; what it is asked next, it says itself.
      if (hint?.done === true) throw new Error('the store was closed');
      // Before the rows are read, so that what is written meanwhile is heard too.
      if (hint !== undefined) heard = hints.next();
      await this.#pass(signal);
      const pace_ms = Math.max(PACE_MS, this.#listeners.size / HEARD_PER_MS_MAX);
      await this.#clock.sleep(pace_ms, signal).catch(() => {});
    }
  }

  async #nap(signal: AbortSignal): Promise<undefined> {
    await this.#clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
  }

  async #pass(signal: AbortSignal): Promise<void> {
    for (let full = true; full && !signal.aborted; ) {
      const { entries } = await this.#store.read(this.#project, this.#position, PAGE_ROWS);
      const last = entries.at(-1);
      if (last === undefined || signal.aborted) return;
      this.#position = last.position;
      for (const hear of [...this.#listeners]) hear(entries);
      full = entries.length === PAGE_ROWS;
    }
  }
}

/** A listener that followed the same log on another server may have been further than this one: it is not sent those rows again. */
function hearAfter(position: number, rows: Rows, hear: (rows: Rows) => void): void {
  // Nearly always all rows, and then all listeners share the list: its text is made once.
  const fresh = (rows[0]?.position ?? 0) > position ? rows : rows.filter((row) => row.position > position);
  if (fresh.length > 0) hear(fresh);
}
