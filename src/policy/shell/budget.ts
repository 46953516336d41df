const STEPS_MAX = 10_000;
const DEPTH_MAX = 40;

/**
 * How much of a command line is looked at. A function that calls itself twice, or loops in loops, would otherwise be followed
 * for ever; a hook has a few milliseconds.
 */
export class Budget {
  #steps = 0;
  #depth = 0;
  #exceeded = false;

  /** Something was left out. */
  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** One step; false when there are none left. */
  step(): boolean {
    this.#steps += 1;
    if (this.#steps <= STEPS_MAX) return true;
    this.#exceeded = true;
    return false;
  }

  end(): void {
    this.#steps = STEPS_MAX;
  }

  /** One level further in, where there is one left. */
  deeper<T>(otherwise: T, run: () => T): T {
    if (this.#depth >= DEPTH_MAX || !this.step()) {
      this.#exceeded = true;
      return otherwise;
    }
    this.#depth += 1;
    const result = run();
    this.#depth -= 1;
    return result;
  }
}
