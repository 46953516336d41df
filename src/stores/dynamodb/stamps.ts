import type { StoreTime } from './time.ts';

/** So many commits in a millisecond have stamps of their own before they run ahead of the time. */
const PER_MS = 1024;

/**
 * The order of commits before they have a position: by the store's time, and later than every stamp this process has seen. So
 * whatever a commit went by stands before it, whoever's clock is how wrong.
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
