import { until, WAIT_MS_MAX } from './until.ts';

/** So many times as long each time. The last is longer than a call to a store that still answers. */
const LONGER = 4;
const ATTEMPTS_MAX = 4;

/** One attempt at a case that goes by how long something lasts, such as a lease or a silence. */
export class Pace {
  readonly attempt: number;
  readonly limit_ms: number;
  isSlow = false;

  constructor(attempt: number, limit_ms: number) {
    this.attempt = attempt;
    this.limit_ms = limit_ms;
  }

  /** What has to be over well before the limit; otherwise what follows says nothing. */
  async within<T>(doing: () => Promise<T>): Promise<T> {
    return await this.beating()(doing);
  }

  /** For what comes true when the limit is over. */
  async until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
    return await until(look, 2 * this.limit_ms + WAIT_MS_MAX);
  }

  /** The same of what is done again and again: counted from the beginning of one time to the end of the next. */
  beating(): <T>(doing: () => Promise<T>) => Promise<T> {
    let since_ms: number | undefined;
    return async (doing) => {
      const start_ms = performance.now();
      const from_ms = since_ms ?? start_ms;
      since_ms = start_ms;
      try {
        return await doing();
      } finally {
        // Half of it, for a store may know the time only roughly.
        if (performance.now() - from_ms > this.limit_ms / 2) this.isSlow = true;
      }
    };
  }
}

/**
 * Runs a case with a short limit. Has it failed, and was something slower than the limit allows, then the machine was too
 * busy to tell, and it is tried once more, from the start, with a longer one. What fails in time has failed.
 */
export async function paced(first_ms: number, attempt: (pace: Pace) => Promise<void>): Promise<void> {
  for (let number = 1, limit_ms = first_ms; ; number += 1, limit_ms *= LONGER) {
    const pace = new Pace(number, limit_ms);
    try {
      await attempt(pace);
      return;
    } catch (error) {
      if (!pace.isSlow || number === ATTEMPTS_MAX) throw error;
    }
  }
}
