/**
 * Rounds. Two runs of the same code an hour apart differ by a factor of two on a shared machine, so nothing is
 * ever compared across runs: contenders take turns (A B A B …) and a ratio is taken inside each round.
 */
import { performance } from 'node:perf_hooks';
import type { Progress } from './progress.ts';
import { median, percentile, type Spread, spread } from './statistics.ts';

export interface Sample {
  count: number;
  elapsed_ms: number;
}

/** Something that can be measured again and again: opened once, so that connections and code are warm. */
export interface Contender {
  name: string;
  measure(durationMs: number): Promise<Sample>;
  /** Needs longer turns than most: it fills something and empties it again. */
  fills?: boolean;
  close(): Promise<void>;
}

/** A queue measured by whole cycles: every job durably submitted, claimed and completed. */
export interface CycleQueue {
  name: string;
  submit(count: number): Promise<void>;
  /** Claims and completes exactly the `count` jobs that were submitted; resolves once all are durably done. */
  drain(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface RoundOptions {
  rounds: number;
  seconds: number;
}

export interface Series {
  name: string;
  rates: number[];
}

export function rateOf(sample: Sample): number {
  return (sample.count / sample.elapsed_ms) * 1000;
}

/** Repeats `step` from `callers` concurrent callers until the time is up; a step returns how much it did. */
export async function hammer(
  callers: number,
  durationMs: number,
  step: (caller: number) => Promise<number>,
): Promise<Sample> {
  const start = performance.now();
  const end = start + durationMs;
  let count = 0;
  const loop = async (caller: number): Promise<void> => {
    while (performance.now() < end) {
      const done = await step(caller);
      count += done;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  return { count, elapsed_ms: performance.now() - start };
}

/** Shares `count` units among concurrent callers, at most `size` at a time. */
export async function share(
  count: number,
  callers: number,
  size: number,
  step: (units: number, first: number, caller: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const loop = async (caller: number): Promise<void> => {
    while (next < count) {
      const first = next;
      const units = Math.min(size, count - first);
      next += units;
      await step(units, first, caller);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
}

/**
 * Claims until `count` are done. `step` may come back with 0, because others hold what is left: that caller
 * asks again. A queue that stays empty lost a job, which must fail the run instead of hanging it.
 */
export async function pull(
  count: number,
  callers: number,
  step: (caller: number) => Promise<number>,
): Promise<void> {
  const idleMsMax = 10_000;
  let done = 0;
  let lastProgressAt = performance.now();
  const loop = async (caller: number): Promise<void> => {
    while (done < count) {
      const got = await step(caller);
      done += got;
      if (got > 0) {
        lastProgressAt = performance.now();
        continue;
      }
      if (performance.now() - lastProgressAt > idleMsMax)
        throw new Error(`only ${done} of ${count} jobs came back`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
}

/**
 * A cycle is "submit K, then drain K", timed as one. Submitting and working at the same time would favour
 * a system that lets its backlog grow. K follows the last rate, so that a round lasts about as long as asked.
 */
export function cycles(queue: CycleQueue): Contender {
  const firstCount = 200;
  let lastRate = 0;
  const once = async (count: number): Promise<Sample> => {
    const start = performance.now();
    await queue.submit(count);
    await queue.drain(count);
    return { count, elapsed_ms: performance.now() - start };
  };
  return {
    name: queue.name,
    fills: true,
    async measure(durationMs) {
      if (lastRate === 0) lastRate = rateOf(await once(firstCount));
      const count = Math.max(firstCount, Math.round((lastRate * durationMs) / 1000 / 50) * 50);
      const sample = await once(count);
      lastRate = rateOf(sample);
      return sample;
    },
    close: () => queue.close(),
  };
}

/** Noise comes in waves of seconds, so a turn is short, and a round is many turns of each. */
const TURN_SECONDS = 0.3;
/** A queue is filled and drained in each turn; in a short one no system would be under full load for long. */
const FILLING_TURN_SECONDS = 1;

/** One short unmeasured round to warm everything up, then the rounds, in turns. */
export async function compare(
  contenders: readonly Contender[],
  options: RoundOptions,
  progress: Progress,
  label: string,
): Promise<Series[]> {
  const series = contenders.map((contender): Series => ({ name: contender.name, rates: [] }));
  for (const contender of contenders) {
    progress.say(`${label}: warm-up, ${contender.name}`);
    await contender.measure(options.seconds * 1000);
  }
  const turn = contenders.some(({ fills }) => fills) ? FILLING_TURN_SECONDS : TURN_SECONDS;
  const turns = Math.max(1, Math.round(options.seconds / turn));
  for (let round = 1; round <= options.rounds; round++) {
    progress.say(`${label}: round ${round}/${options.rounds}`);
    const sums = contenders.map((): Sample => ({ count: 0, elapsed_ms: 0 }));
    for (let turn = 0; turn < turns; turn++) {
      for (const [index, contender] of contenders.entries()) {
        const sample = await contender.measure((options.seconds * 1000) / turns);
        const sum = sums[index];
        if (sum === undefined) continue;
        sum.count += sample.count;
        sum.elapsed_ms += sample.elapsed_ms;
      }
    }
    for (const [index, own] of series.entries()) {
      // A contender that tries several ways in the warm-up names the one it chose.
      own.name = contenders[index]?.name ?? own.name;
      const sum = sums[index];
      if (sum !== undefined) own.rates.push(rateOf(sum));
    }
  }
  return series;
}

export function ratios(ours: Series, peer: Series): Spread {
  return spread(ours.rates.map((rate, round) => rate / (peer.rates[round] ?? Number.NaN)));
}

export interface GrowthRound {
  small_ms: number[];
  large_ms: number[];
}

/** Growth: the same call on a small and on a large store, one after the other, compared by their medians. */
export async function alternate(
  calls: number,
  small: () => Promise<number>,
  large: () => Promise<number>,
): Promise<GrowthRound> {
  const round: GrowthRound = { small_ms: [], large_ms: [] };
  for (let call = 0; call < calls; call++) {
    // The second one finds warmer caches, so they swap.
    if (call % 2 === 0) {
      round.small_ms.push(await small());
      round.large_ms.push(await large());
    } else {
      round.large_ms.push(await large());
      round.small_ms.push(await small());
    }
  }
  return round;
}

export function growth(rounds: readonly GrowthRound[]): { ratio: Spread; small: Spread; large: Spread } {
  return {
    ratio: spread(rounds.map((round) => median(round.large_ms) / median(round.small_ms))),
    small: spread(rounds.map((round) => median(round.small_ms))),
    large: spread(rounds.map((round) => median(round.large_ms))),
  };
}

export function tail(rounds: readonly GrowthRound[], side: keyof GrowthRound): number {
  return percentile(
    rounds.flatMap((round) => round[side]),
    0.99,
  );
}
