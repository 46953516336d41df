import type { Clock } from '../../kernel/clock.ts';
import type { Seen } from './sdk.ts';

const HEADER_STEP_MS = 1000;
/** How much faster or slower a clock may run than another: bounds that were learnt long ago grow apart by this. */
const DRIFT = 0.0002;

const shared = new WeakMap<Clock, Map<string, StoreTime>>();

/**
 * The store's time as far as one can know it from outside: a header says it to the second, somewhere between asking and
 * answering. Each answer narrows the bounds; by our monotonic clock, so that setting this machine's clock changes nothing.
 */
export class StoreTime {
  readonly #clock: Clock;
  /** Store time minus monotonic time is between these, as of `#learnt_ms`. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #learnt_ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  learn({ sent_ms, received_ms, date_ms }: Seen): void {
    // Since it was said, which may be as long ago as we have waited, the clocks have run on.
    const aged_ms = Math.max(0, received_ms - sent_ms) * DRIFT;
    const low = date_ms - received_ms - aged_ms;
    const high = date_ms + HEADER_STEP_MS - sent_ms + aged_ms;
    const slack_ms = this.#slack_ms(received_ms);
    const [knownLow, knownHigh] = [this.#low - slack_ms, this.#high + slack_ms];
    this.#learnt_ms = received_ms;
    // Bounds that contradict each other: somebody's clock was set, or this machine slept. What was said last holds.
    const contradicts = low > knownHigh || high < knownLow;
    this.#low = contradicts ? low : Math.max(low, knownLow);
    this.#high = contradicts ? high : Math.min(high, knownHigh);
  }

  /** It is at least so late there. Whoever goes by it sees an expiry late, never early. */
  earliest_ms(): number {
    const now_ms = this.#clock.elapsed_ms();
    return Math.floor(now_ms + this.#low - this.#slack_ms(now_ms));
  }

  /** It is at most so late there. Whoever relies on something that has not yet run out goes by this. */
  latest_ms(): number {
    const now_ms = this.#clock.elapsed_ms();
    return Math.ceil(now_ms + this.#high + this.#slack_ms(now_ms));
  }

  /**
   * The best guess, where nothing is decided by it: a clock of this machine that is set right knows more than a header. Short
   * processes have seen one answer, and their rows should still stand in the order in which they came.
   */
  likely_ms(): number {
    return Math.min(Math.max(this.#clock.now_ms(), this.earliest_ms()), this.latest_ms());
  }

  /** All who ask the same servers, by the same clock, learn together. */
  static of(clock: Clock, servers: string): StoreTime {
    const known = shared.get(clock) ?? new Map<string, StoreTime>();
    shared.set(clock, known);
    const time = known.get(servers) ?? new StoreTime(clock);
    known.set(servers, time);
    return time;
  }

  #slack_ms(now_ms: number): number {
    return Number.isFinite(this.#low) ? Math.max(0, now_ms - this.#learnt_ms) * DRIFT : 0;
  }
}
