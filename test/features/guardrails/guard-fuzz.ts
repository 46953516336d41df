// `npm run guard:fuzz -- --count 1000000 [--seed S] [--threads N]`: generated commands against the guardrails. None may crash or hang
// them; the slowest are shown. `--show INDEX` prints the command of a number.
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { CPU_MS_MAX, commandOf, type Slow } from './guard/fuzz.ts';
import type { Outcome, Share } from './guard-fuzz-worker.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    show: { type: 'string' },
  },
});

const seed = Number(values.seed);
const count = Number(values.count);
const threads = Number(values.threads);
const LOOK_MS = 2000;
/** A thread that is at the same command after this many looks hangs. */
const LOOKS_MAX = 15;

async function share(first: number): Promise<Outcome> {
  const at = new Int32Array(new SharedArrayBuffer(4));
  const workerData: Share = { seed, first, step: threads, count, at };
  const worker = new Worker(new URL('guard-fuzz-worker.ts', import.meta.url), { workerData });
  let seen = -1;
  let looks = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const watch = setInterval(() => {
    const now = Atomics.load(at, 0);
    looks = now === seen ? looks + 1 : 0;
    seen = now;
    if (first === 0) process.stderr.write(`… ${now}\n`);
    if (looks >= LOOKS_MAX) reject(new Error(`hangs at ${now}: ${JSON.stringify(commandOf(seed, now))}`));
  }, LOOK_MS);
  worker.once('message', resolve).once('error', reject);
  try {
    return await promise;
  } finally {
    clearInterval(watch);
    await worker.terminate();
  }
}

async function main(): Promise<number> {
  if (values.show !== undefined) {
    console.log(commandOf(seed, Number(values.show)));
    return 0;
  }
  const start_ms = performance.now();
  const outcomes = await Promise.all(Array.from({ length: threads }, (_, first) => share(first)));
  const slowest: Slow[] = outcomes
    .flatMap((outcome) => outcome.slowest)
    .sort((a, b) => b.took_ms - a.took_ms);
  const wrong = outcomes.flatMap((outcome) => outcome.wrong);
  const over = outcomes.reduce((sum, { over_1_ms }) => sum + over_1_ms, 0);
  const elapsed_s = (performance.now() - start_ms) / 1000;
  console.log(
    `${count} commands of seed ${seed} in ${elapsed_s.toFixed(0)} s; ${over} took more than 1 ms; the slowest:`,
  );
  for (const { index, took_ms } of slowest.slice(0, 5))
    console.log(
      `${took_ms.toFixed(1).padStart(8)} ms  ${index}: ${JSON.stringify(commandOf(seed, index)).slice(0, 160)}`,
    );
  for (const { index, what } of wrong)
    console.log(`WRONG ${index}: ${what.join('; ')}\n  ${JSON.stringify(commandOf(seed, index))}`);
  const late = (slowest[0]?.took_ms ?? 0) > CPU_MS_MAX;
  if (late) console.log(`LATE: more than ${CPU_MS_MAX} ms`);
  return wrong.length > 0 || late ? 1 : 0;
}

process.exitCode = await main();
