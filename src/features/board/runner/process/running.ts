import { signalGroup } from '../../../../child-process/group.ts';
import { endMarked } from '../../../../child-process/marked.ts';
import { systemClock } from '../../../../kernel/clock.ts';
import type { Delivery, Execution, GrantAssignment } from '../execution-port.ts';
import { collect, printsTooMuch, TOO_MUCH } from './collect.ts';
import { runFailed } from './failure.ts';
import type { Places, RunFiles } from './run-files.ts';
import { GRACE_MS, namedWrapper, type Wrapper } from './wrapper.ts';

const LOOK_MS = 100;
/** A wrapper that has written how the command ended exits at once. */
const GONE_MS_MAX = 2_000;

export interface BoardJob {
  readonly run: RunFiles;
  readonly assignment: GrantAssignment;
  readonly places: Places;
  /** Ends what does not end with the processes, such as a container. */
  readonly alsoEnd?: ((run: RunFiles) => Promise<void>) | undefined;
}

export function lateness({ limit_ms }: Pick<GrantAssignment, 'limit_ms'>): string {
  return `It was not done in time (${Math.max(0, Math.round(limit_ms / 100) / 10)} s).`;
}

/** Its message is the reason why nothing was started. */
export class NotStarted extends Error {}

/** How a run gets its wrapper; undefined if it has already ended. */
export type Begin = (isCancelled: () => boolean) => Promise<Wrapper | undefined>;

/** Follows a run from its current state to its end, whichever process started it. */
export class Running implements Execution {
  readonly delivered: Promise<Delivery>;
  readonly #job: BoardJob;
  #wrapper: Wrapper | undefined;
  #reason: string | undefined;
  #kill_at_ms = Number.POSITIVE_INFINITY;
  #wake = new AbortController();

  constructor(job: BoardJob, begin: Begin) {
    this.#job = job;
    this.delivered = this.#follow(begin);
  }

  cancel(reason: string): void {
    this.#end(reason);
  }

  async #follow(begin: Begin): Promise<Delivery> {
    const { run, assignment, places } = this.#job;
    const deadline_ms = systemClock.elapsed_ms() + assignment.limit_ms;
    try {
      this.#wrapper = await begin(() => this.#reason !== undefined);
      // The end was requested before there was anything to end, or by a process that was killed while ending it.
      this.#reason ??= run.read('ended')?.trim();
      if (this.#reason !== undefined) this.#signal();
      await this.#untilEnded(deadline_ms);
      await this.#clearAway();
      return await collect(run, assignment, places);
    } catch (error) {
      return await this.#notStarted(error);
    }
  }

  async #notStarted(error: unknown): Promise<Delivery> {
    const { run, assignment, places } = this.#job;
    const why = error instanceof Error ? error.message : String(error);
    const [reason, detail] =
      error instanceof NotStarted ? [why, ''] : [this.#reason ?? 'It could not be started.', why];
    const mishap = { reason, error: detail };
    // If the disk takes no folder, it takes no result either.
    return await collect(run, assignment, places, mishap).catch(() => runFailed(mishap, undefined));
  }

  async #untilEnded(deadline_ms: number): Promise<void> {
    const { run, assignment } = this.#job;
    this.#wrapper?.onEnd(() => this.#wake.abort());
    while (this.#wrapper !== undefined && run.exit() === undefined) {
      if (this.#wrapper.hasEnded()) {
        const other = this.#wrapper.wasRefused() ? namedWrapper(run) : undefined;
        if (other === undefined) return;
        this.#wrapper = other;
      }
      const now_ms = systemClock.elapsed_ms();
      if (now_ms >= deadline_ms) this.#end(lateness(assignment));
      if (printsTooMuch(run)) this.#end(TOO_MUCH);
      if (now_ms >= this.#kill_at_ms) this.#kill();
      await systemClock.sleep(LOOK_MS, this.#wake.signal).catch(() => {});
      if (this.#wake.signal.aborted) this.#wake = new AbortController();
    }
  }

  /** Asks the processes to end, and kills them if that does not help. The first reason counts. */
  #end(reason: string): void {
    if (this.#reason !== undefined || this.#job.run.exit() !== undefined) return;
    this.#reason = reason;
    this.#signal();
  }

  #signal(): void {
    if (this.#wrapper === undefined) return;
    const { run } = this.#job;
    // Written to disk first: if we are killed now, the next process knows that the command did not end by itself.
    run.writeOnce('ended', `${this.#reason}\n`);
    this.#kill_at_ms = systemClock.elapsed_ms() + GRACE_MS;
    if (this.#wrapper.hasEnded()) return;
    signalGroup(this.#wrapper.pid, 'SIGTERM');
    this.#wake.abort();
  }

  /** The wrapper is killed with the other processes and can't record the end itself. */
  #kill(): void {
    const { run } = this.#job;
    run.writeOnce('exit', 'killed\n');
    if (this.#wrapper?.hasEnded() === false) signalGroup(this.#wrapper.pid, 'SIGKILL');
    endMarked(run.mark);
  }

  /** Makes sure that no process writes to the run's files any more when they are judged. */
  async #clearAway(): Promise<void> {
    const { run, alsoEnd } = this.#job;
    const until_ms = systemClock.elapsed_ms() + GONE_MS_MAX;
    while (this.#wrapper?.hasEnded() === false && systemClock.elapsed_ms() < until_ms)
      await systemClock.sleep(LOOK_MS / 10);
    if (this.#wrapper?.hasEnded() === false) signalGroup(this.#wrapper.pid, 'SIGKILL');
    endMarked(run.mark);
    await alsoEnd?.(run);
  }
}
