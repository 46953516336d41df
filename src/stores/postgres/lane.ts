import type { Clock } from '../../kernel/clock.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { STEP_MS_MAX } from './database.ts';
import { failure, faultOf } from './failures.ts';

/** A caller's request that can go to the server together with the requests of other callers. */
export interface Job {
  /** What it adds to a group's size: the server's table of locks is finite. */
  readonly weight: number;
  /** Entities and operation ids. No two jobs of a group touch the same one, unless both only read it. */
  readonly writes: readonly string[];
  readonly reads: readonly string[];
}

export interface Waiting<J> {
  readonly job: J;
  /** Monotonic time at which its caller gives up. */
  readonly deadline_ms: number;
  /**
   * Failed tries so far. After the first failure the job is sent alone: it can't make other jobs fail, nor
   * they it.
   */
  readonly tries: number;
}

interface Place<J, R> extends Waiting<J> {
  tries: number;
  settled: boolean;
  readonly timer: NodeJS.Timeout;
  resolve(result: R): void;
  reject(error: unknown): void;
}

export interface LaneOptions<J, R> {
  /** How many calls may be under way at once. */
  readonly width: number;
  readonly jobs_max: number;
  readonly weight_max: number;
  readonly clock: Clock;
  /** Returns one result per job, in order. */
  send(group: readonly Waiting<J>[]): Promise<readonly R[]>;
}

const QUEUE_MAX = 20_000;
const EXAMINED_MAX = 256;

/**
 * Group commit on the client's side: while calls are under way, callers queue, and the next free slot takes
 * many of them in one call, one transaction, one fsync. Whatever happens, a job has its answer within the
 * time of one step.
 */
export class Lane<J extends Job, R> {
  readonly #options: LaneOptions<J, R>;
  #queue: Place<J, R>[] = [];
  #underWay = 0;
  #scheduled = false;

  constructor(options: LaneOptions<J, R>) {
    this.#options = options;
  }

  push(job: J): Promise<R> {
    if (this.#queue.length >= QUEUE_MAX)
      return Promise.reject(
        new StoreFailure('database_unavailable', `${QUEUE_MAX} calls are waiting already.`),
      );
    const deadline_ms = this.#options.clock.elapsed_ms() + STEP_MS_MAX;
    return new Promise<R>((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(place), STEP_MS_MAX);
      const place: Place<J, R> = { job, deadline_ms, tries: 0, settled: false, timer, resolve, reject };
      this.#queue.push(place);
      this.#schedule();
    });
  }

  /**
   * In a later phase of the event loop, so that callers that were just answered get their next call into the
   * same group.
   */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#underWay < this.#options.width && this.#queue.length > 0) void this.#send(this.#compose());
    });
  }

  #compose(): Place<J, R>[] {
    const { jobs_max, weight_max } = this.#options;
    const group: Place<J, R>[] = [];
    const passed: Place<J, R>[] = [];
    const written = new Set<string>();
    const read = new Set<string>();
    let weight = 0;
    let examined = 0;
    for (const place of this.#queue) {
      if (group.length === jobs_max || examined === EXAMINED_MAX) break;
      examined += 1;
      const { job } = place;
      const joins =
        group.length === 0 ||
        (place.tries === 0 &&
          weight + job.weight <= weight_max &&
          job.writes.every((key) => !written.has(key) && !read.has(key)) &&
          job.reads.every((key) => !written.has(key)));
      if (joins) {
        group.push(place);
        weight += job.weight;
        if (place.tries > 0) break;
      } else passed.push(place);
      // Also for a job that has to wait: a later job on the same entity must not overtake it.
      for (const key of job.writes) written.add(key);
      for (const key of job.reads) read.add(key);
    }
    this.#queue = [...passed, ...this.#queue.slice(examined)];
    return group;
  }

  async #send(group: readonly Place<J, R>[]): Promise<void> {
    this.#underWay += 1;
    try {
      const results = await this.#options.send(group);
      for (const [index, place] of group.entries())
        this.#settle(place, () => place.resolve(results[index] as R));
    } catch (error) {
      await this.#fail(group, error);
    }
    this.#underWay -= 1;
    this.#schedule();
  }

  /**
   * One bad or blocked job fails its whole group. The jobs are then sent one by one, and only the bad one
   * fails again.
   */
  async #fail(group: readonly Place<J, R>[], error: unknown): Promise<void> {
    const again = !(error instanceof StoreFailure) && (group.length > 1 || faultOf(error) === 'again');
    if (!again) {
      for (const place of group) this.#settle(place, () => place.reject(failure(error)));
      return;
    }
    const tries = group[0]?.tries ?? 0;
    if (tries > 0) await this.#options.clock.sleep(Math.min(50, 2 ** tries));
    const left = group.filter((place) => !place.settled);
    for (const place of left) place.tries += 1;
    this.#queue.unshift(...left);
  }

  #giveUp(place: Place<J, R>): void {
    this.#queue = this.#queue.filter((other) => other !== place);
    const message = `PostgreSQL did not answer within ${STEP_MS_MAX} ms.`;
    this.#settle(place, () => place.reject(new StoreFailure('database_unavailable', message)));
  }

  #settle(place: Place<J, R>, answer: () => void): void {
    if (place.settled) return;
    place.settled = true;
    clearTimeout(place.timer);
    answer();
  }
}
