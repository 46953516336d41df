import type { Clock } from '../../kernel/clock.ts';

const GATHERED_SHARE = 0.75;
const GATHER_MS_MAX = 0.4;
/**
 * How many calls in a row may be served alone before checking whether there are other callers by now. As long
 * as there are none, the number grows from check to check. A check takes a fifth of the time of a single
 * caller's call.
 */
const ALONE_MIN = 8;
const ALONE_MAX = 64;

/**
 * Decides when a batch begins: at once for a single caller; with many callers, when most of them have
 * arrived.
 */
export class Gathering {
  readonly #clock: Clock;
  #lastBatch = 0;
  /** Batches since it last waited for more callers. */
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
   * Alone the last time and alone now: waiting a turn of the event loop would only delay the call. From time
   * to time it waits all the same: calls that come through sockets arrive one after the other, and would
   * otherwise never be grouped. It always waits at least a microtask, because the caller may itself be inside
   * a transaction.
   */
  async wait(waiting: readonly unknown[]): Promise<void> {
    if (this.#lastBatch <= 1 && waiting.length <= 1 && this.#unwaited < this.#alone) return;
    this.#unwaited = 0;
    await this.#untilMostAreHere(waiting);
    this.#alone = waiting.length > 1 ? ALONE_MIN : Math.min(ALONE_MAX, this.#alone * 2);
  }

  /**
   * Waits until the I/O of this turn is done, so that requests that arrived together are decided together.
   * Callers that were answered together ask again together, a few turns later; callers within this process
   * must not be served twice in the meantime.
   */
  async #untilMostAreHere(waiting: readonly unknown[]): Promise<void> {
    const expected = this.#lastBatch * GATHERED_SHARE;
    const started_ms = this.#clock.elapsed_ms();
    do await new Promise(setImmediate);
    while (waiting.length < expected && this.#clock.elapsed_ms() - started_ms < GATHER_MS_MAX);
  }
}
