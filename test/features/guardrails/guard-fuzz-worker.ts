// Started by guard-fuzz.ts as a thread: it can be looked at from outside while it is busy with one command.
import { parentPort, workerData } from 'node:worker_threads';
import { check, type Slow } from './guard/fuzz.ts';

export interface Share {
  readonly seed: number;
  readonly first: number;
  readonly step: number;
  readonly count: number;
  /** The number of the command that is being looked at. */
  readonly at: Int32Array;
}

export interface Outcome {
  readonly slowest: readonly Slow[];
  readonly over_1_ms: number;
  readonly wrong: readonly { readonly index: number; readonly what: readonly string[] }[];
}

const SLOW_MS = 5;
const KEPT = 10;

function run({ seed, first, step, count, at }: Share): Outcome {
  let slowest: Slow[] = [];
  let over_1_ms = 0;
  const wrong: { index: number; what: readonly string[] }[] = [];
  for (let index = first; index < count; index += step) {
    Atomics.store(at, 0, index);
    const { took_ms, wrong: what } = check(seed, index, SLOW_MS);
    if (what.length > 0 && wrong.length < KEPT) wrong.push({ index, what });
    if (took_ms > 1) over_1_ms += 1;
    if (took_ms > (slowest.at(-1)?.took_ms ?? 0) || slowest.length < KEPT) {
      slowest = [...slowest, { index, took_ms }].sort((a, b) => b.took_ms - a.took_ms).slice(0, KEPT);
    }
  }
  return { slowest, over_1_ms, wrong };
}

parentPort?.postMessage(run(workerData as Share));
