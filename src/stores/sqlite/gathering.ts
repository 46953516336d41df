import type { Clock } from '../../kernel/clock.ts';

const GATHERED_SHARE = 0.75;
const GATHER_MS_MAX = 0.4;
/**
 * So many calls in a row may each be served alone, before a look whether there are others by now; more from look to look, as long
 * as there are none. A look takes a fifth as long as the call of somebody who is alone.
 */
const ALONE_MIN = 8;
const ALONE_MAX = 64;

/** When a batch begins: at once for a caller who is alone, and when most of them are here where there are many. */
export class Gathering {
  readonly #clock: Clock;
  #lastBatch = 0;
  /** Batches since it last waited for others to come. */
  #unwaited = 0;
  #alone = ALONE_MIN;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  took(count: number): void {
    this.#lastBatch = count;
    this.#unwaited += 1;
  }

  /**
   * Alone the last time and alone now: a turn of the event loop would only make it wait. From time to time a turn is taken all
   * the same: those who come through sockets are handed in one after the other, and would never be grouped.
   * At least a moment passes: whoever hands something in may be inside a transaction itself.
   */
  async wait(waiting: readonly unknown[]): Promise<void> {
    if (this.#lastBatch <= 1 && waiting.length <= 1 && this.#unwaited < this.#alone) return;
    this.#unwaited = 0;
    await this.#untilMostAreHere(waiting);
    this.#alone = waiting.length > 1 ? ALONE_MIN : Math.min(ALONE_MAX, this.#alone * 2);
  }

  /**
   * After I/O of this turn: requests that arrived together are decided together. Those who were answered together will
   * ask again together, a few turns later; whoever calls within this process is not to be served twice meanwhile.
   */
  async #untilMostAreHere(waiting: readonly unknown[]): Promise<void> {
    const expected = this.#lastBatch * GATHERED_SHARE;
    const started_ms = this.#clock.elapsed_ms();
    do await new Promise(setImmediate);
    while (waiting.length < expected && this.#clock.elapsed_ms() - started_ms < GATHER_MS_MAX);
  }
}
