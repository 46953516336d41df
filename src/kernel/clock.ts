import { setTimeout as timer } from 'node:timers/promises';

/** Time as an argument: the simulation and the tests pass their own. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump; never used to measure a duration. */
  now_ms(): number;
  /** Monotonic, milliseconds since some start. Only differences mean anything. */
  elapsed_ms(): number;
  sleep(duration_ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now_ms: () => Date.now(),
  elapsed_ms: () => performance.now(),
  sleep: async (duration_ms, signal) => {
    await timer(duration_ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Monotonic and the same for every process of the machine: for deadlines that travel between them. */
export function machineTime_ms(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

/** The wire's form of a moment. */
export function isoTime(time_ms: number): string {
  return new Date(time_ms).toISOString();
}
