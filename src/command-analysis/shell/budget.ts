import { machineTime_ms } from '../../kernel/clock.ts';

const STEPS_MAX = 10_000;
/** The cost of the steps is known, but not what else the machine does: a hook must answer. */
const TIME_MS_MAX = 250;
const STEPS_PER_LOOK = 64;
const DEPTH_MAX = 40;
const CHARS_MAX = 256 * 1024;
const INNER_CHARS_MAX = 32 * 1024;
/** The parser's cost is quadratic in the number of unclosed braces: 20,000 of them take two seconds. */
const OPEN_BRACES = /(?:\{[^\s{}]*){200}/;

/**
 * How much of a command line is followed. A function that calls itself twice, or nested loops, would
 * otherwise be followed for ever; a hook has a few milliseconds.
 */
export class Budget {
  #steps = 0;
  /** Of all nested scripts: text that doubles itself through eval ends here. */
  #chars = 0;
  #depth = 0;
  #exceeded = false;
  readonly #until_ms = machineTime_ms() + TIME_MS_MAX;

  /** Something was left out. */
  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** May a script be read? */
  holds(script: string, inner: boolean): boolean {
    if (inner) this.#chars += script.length;
    return script.length <= CHARS_MAX && this.#chars <= INNER_CHARS_MAX && !OPEN_BRACES.test(script);
  }

  /** One step; false when there are none left. */
  step(): boolean {
    this.#steps += 1;
    const late = this.#steps % STEPS_PER_LOOK === 0 && machineTime_ms() > this.#until_ms;
    if (late) this.#steps = STEPS_MAX;
    if (this.#steps < STEPS_MAX) return true;
    this.#exceeded = true;
    return false;
  }

  end(): void {
    this.#steps = STEPS_MAX;
  }

  /** One nesting level deeper, if one is left. */
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
