import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';
import type { WaitingLine } from './waiting-line.ts';

/** A timer that is due comes so late at most on a machine with nothing else to do. */
const LATE_MS = 10;
/** However busy the machine is: a caller wants an answer. */
const ENOUGH_MS = 60_000;
/** Most waits are over sooner. Only then does a process get in line. */
const IN_LINE_AFTER_MS = 40;
/** For each process that is before it, a process in line waits so much longer between two tries. */
const FOR_EACH_MS = 12;
const PAUSE_MS_MAX = 1000;
/** With more than so many in line, each has to wait for longer by itself, and so has to be given more time. */
const CROWD = 16;

interface Place {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * How long a process has waited for others to leave the file. On a machine with more to do than it has processors for, a pause of
 * some milliseconds takes half a second, and so does the commit of the process that is waited for. So a pause counts for
 * as long as it was meant to be. Of 200 processes that were started at once, up to 133 took the others for stuck before.
 *
 * SQLite's own waiting blocks the process and starves some: one of four made 874 commits, another none.
 */
export class Patience {
  readonly #place: Place;
  readonly #started_ms: number;
  #line: WaitingLine | undefined;
  #waited_ms = 0;
  #moved_ms = 0;

  constructor(place: Place) {
    this.#place = place;
    this.#started_ms = place.clock.elapsed_ms();
  }

  /** Another process made progress: it is slow perhaps, but not stuck. */
  moved(): void {
    this.#moved_ms = this.#waited_ms;
  }

  /** `stuck_ms`: without progress of any process; `wait_ms_max`: in all. */
  isOver(stuck_ms: number, wait_ms_max: number): boolean {
    const longer = Math.max(1, (this.#line?.length ?? 1) / CROWD);
    return (
      this.#waited_ms - this.#moved_ms > stuck_ms * longer ||
      this.#waited_ms > wait_ms_max * longer ||
      this.#place.clock.elapsed_ms() - this.#started_ms > Math.max(ENOUGH_MS, wait_ms_max)
    );
  }

  /** Tries that follow each other more closely would take the processor from the one that writes: 32 processes made 25 commits a second. */
  async pause(): Promise<void> {
    const { clock, random } = this.#place;
    if (this.#waited_ms > IN_LINE_AFTER_MS) await this.#getInLine();
    const before = this.#line?.look();
    const span_ms = before === undefined ? 16 : Math.min(PAUSE_MS_MAX, 8 + before * FOR_EACH_MS);
    // Others that leave may make it the first meanwhile: so not all of it.
    const pause_ms = 1 + span_ms * random.fraction();
    const began_ms = clock.elapsed_ms();
    await clock.sleep(pause_ms);
    this.#waited_ms += Math.min(clock.elapsed_ms() - began_ms, pause_ms + LATE_MS);
  }

  async #getInLine(): Promise<void> {
    if (this.#line !== undefined) return;
    const { WaitingLine } = await import('./waiting-line.ts');
    this.#line = new WaitingLine(this.#place.path, this.#place.clock.now_ms());
  }

  /** The file was got, or is given up. */
  end(): void {
    this.#line?.leave();
    this.#line = undefined;
  }
}

/** What a process that waits remembers from one try to the next. */
export interface Waited {
  patience?: Patience;
  /** Of the file; undefined: unknown, or not looked at yet. */
  version?: number | undefined;
}
