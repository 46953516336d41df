import type { StoreTime } from './time.ts';

/** How many commits within a millisecond get stamps of their own before stamps run ahead of the clock. */
const PER_MS = 1024;

/**
 * Orders commits before they have a position: by the store's time, and later than every stamp this process
 * has seen. So everything a commit relied on comes before it, however wrong any machine's clock is.
 */
export class Stamps {
  readonly #time: StoreTime;
  #last = 0;

  constructor(time: StoreTime) {
    this.#time = time;
  }

  saw(stamp: number): void {
    if (stamp > this.#last) this.#last = stamp;
  }

  next(): number {
    this.#last = Math.max(this.#last + 1, Math.floor(this.#time.likely_ms()) * PER_MS);
    return this.#last;
  }
}
