import type { Clock } from '../../kernel/clock.ts';
import type { Seen } from './sdk.ts';

const HEADER_STEP_MS = 1000;
/** How much faster or slower one clock may run than another: old bounds widen at this rate. */
const DRIFT = 0.0002;

const shared = new WeakMap<Clock, Map<string, StoreTime>>();

/**
 * The store's time, as far as it can be known from outside: a header gives it to the second, at some moment
 * between request and response. Each answer narrows the bounds. They are relative to our monotonic clock, so
 * setting this machine's clock changes nothing.
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
    // The clocks have drifted since the header was written, which may be as long ago as we have waited.
    const aged_ms = Math.max(0, received_ms - sent_ms) * DRIFT;
    const low = date_ms - received_ms - aged_ms;
    const high = date_ms + HEADER_STEP_MS - sent_ms + aged_ms;
    const slack_ms = this.#slack_ms(received_ms);
    const [knownLow, knownHigh] = [this.#low - slack_ms, this.#high + slack_ms];
    this.#learnt_ms = received_ms;
    // The bounds contradict each other: one of the clocks was set, or this machine slept. The latest answer
    // counts.
    const contradicts = low > knownHigh || high < knownLow;
    this.#low = contradicts ? low : Math.max(low, knownLow);
    this.#high = contradicts ? high : Math.min(high, knownHigh);
  }

  /** A lower bound of the store's time. By it an expiry is seen late, never early. */
  earliest_ms(): number {
    const now_ms = this.#clock.elapsed_ms();
    return Math.floor(now_ms + this.#low - this.#slack_ms(now_ms));
  }

  /** An upper bound of the store's time. For callers that rely on something not having expired yet. */
  latest_ms(): number {
    const now_ms = this.#clock.elapsed_ms();
    return Math.ceil(now_ms + this.#high + this.#slack_ms(now_ms));
  }

  /**
   * The best guess, where nothing depends on it: a correctly set local clock is more precise than a header.
   * Short processes have seen only one answer, and their rows should still be in the order in which they
   * came.
   */
  likely_ms(): number {
    return Math.min(Math.max(this.#clock.now_ms(), this.earliest_ms()), this.latest_ms());
  }

  /** All clients of the same servers, with the same clock, share what they learn. */
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
