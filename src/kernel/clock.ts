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

/**
 * For processes that live for milliseconds: `performance` is loaded on first use, and that takes three of
 * them.
 */
export const quickClock: Clock = { ...systemClock, elapsed_ms: machineTime_ms };

const DAY_MS = 86_400_000;
const YEAR_10000_MS = 253_402_300_800_000;

const digits = (value: number, length: number) => String(value).padStart(length, '0');

/**
 * A moment in the form used on the wire. Not by Date, whose first use loads the time zone: a quarter of a
 * millisecond, too much for a hook. The civil date follows from the days since March 1st of the year 0,
 * because a leap day then comes last.
 */
export function isoTime(time_ms: number): string {
  if (time_ms === last.time_ms) return last.text;
  const text = isoText(time_ms);
  last = { time_ms, text };
  return text;
}

/** Calls that are decided together have the same time. */
let last = { time_ms: Number.NaN, text: '' };

function isoText(time_ms: number): string {
  if (!(time_ms >= 0 && time_ms < YEAR_10000_MS)) return new Date(time_ms).toISOString();
  const whole_ms = Math.floor(time_ms);
  const days = Math.floor(whole_ms / DAY_MS) + 719_468;
  const era = Math.floor(days / 146_097);
  const dayOfEra = days - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const ms = whole_ms % DAY_MS;
  const time = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) =>
    digits(Math.floor(part), 2),
  );
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${time.join(':')}.${digits(ms % 1000, 3)}Z`;
}

/** By the wall clock, which also counts while a laptop sleeps; one that was set back means that it has passed. */
export function hasPassed(limit_ms: number, since_ms: number, now_ms: number): boolean {
  return now_ms < since_ms || now_ms - since_ms >= limit_ms;
}
