import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';

/** A timer that is due comes so late at most on a machine with nothing else to do. */
const LATE_MS = 10;
/** However busy the machine is: a caller wants an answer. */
const ENOUGH_MS = 60_000;

/**
 * How long a process has waited for others to leave the file. On a machine with more to do than it has processors for, a pause of
 * some milliseconds takes half a second, and so does the commit of the process that is waited for. So a pause counts for
 * as long as it was meant to be. Of 200 processes that were started at once, up to 133 took the others for stuck before.
 *
 * SQLite's own waiting blocks the process and starves some: one of four made 874 commits, another none.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #started_ms: number;
  #waited_ms = 0;
  #moved_ms = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#started_ms = clock.elapsed_ms();
  }

  /** Another process made progress: it is slow perhaps, but not stuck. */
  moved(): void {
    this.#moved_ms = this.#waited_ms;
  }

  /** `stuck_ms`: without progress of any process; `wait_ms_max`: in all. */
  isOver(stuck_ms: number, wait_ms_max: number): boolean {
    return (
      this.#waited_ms - this.#moved_ms > stuck_ms ||
      this.#waited_ms > wait_ms_max ||
      this.#clock.elapsed_ms() - this.#started_ms > Math.max(ENOUGH_MS, wait_ms_max)
    );
  }

  /**
   * A random time that gets shorter the longer this process has waited, but never so short that the waiting processes take the
   * processor from the one that writes: 32 of them made 25 commits a second.
   */
  async pause(): Promise<void> {
    const pause_ms = 1 + this.#random.fraction() * Math.max(8, 16 - this.#waited_ms / 20);
    const began_ms = this.#clock.elapsed_ms();
    await this.#clock.sleep(pause_ms);
    this.#waited_ms += Math.min(this.#clock.elapsed_ms() - began_ms, pause_ms + LATE_MS);
  }
}
