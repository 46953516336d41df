import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { atMost, type Bench, type Row } from '../bench.ts';
import { alternate, type GrowthRound, growth, share, tail } from '../harness.ts';
import { type Ours, openOurs } from '../ours.ts';

const TASKS_SMALL = 1000;
const LOCKS_SMALL = 100;
const BATCH = 50;
const CLAIMS_PER_ROUND_MAX = 500;
const CHECKS_PER_ROUND_MAX = 20_000;

async function openStore(bench: Bench, name: string): Promise<Ours> {
  const dir = await bench.cleanup.tempDir('p7');
  return openOurs(`sqlite:${join(dir, `${name}.db`)}`);
}

async function seed(
  bench: Bench,
  what: string,
  count: number,
  size: number,
  callers: number,
  step: (units: number, first: number) => Promise<unknown>,
): Promise<void> {
  let done = 0;
  let saidAt = 0;
  await share(count, callers, size, async (units, first) => {
    await step(units, first);
    done += units;
    if (performance.now() - saidAt < 1000) return;
    saidAt = performance.now();
    bench.progress.say(`P7: ${done.toLocaleString('en')} of ${count.toLocaleString('en')} ${what}`);
  });
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

function rowOf(what: string, rounds: readonly GrowthRound[]): Row {
  const grown = growth(rounds);
  const p99 = (side: keyof GrowthRound): string => tail(rounds, side).toFixed(3);
  return {
    goal: 'P7',
    what,
    ours: grown.large.median,
    peer: grown.small.median,
    peer_name: 'ours, small',
    unit: 'ms (p50)',
    ratio: grown.ratio,
    bound: atMost(1.5, 1.2),
    note: `p99 ${p99('large_ms')} ms large, ${p99('small_ms')} ms small`,
  };
}

/** A store with a standing queue: what a round claimed is completed and replaced afterwards, not timed. */
async function openQueue(bench: Bench, name: string, tasks: number) {
  const ours = await openStore(bench, name);
  let next = 0;
  const submit = async (units: number): Promise<void> => {
    const first = next;
    next += units;
    await ours.submitBatch(units, first);
  };
  await seed(bench, `tasks queued (${name})`, tasks, BATCH, 16, submit);
  let claimed: string[] = [];
  return {
    claim: () =>
      timed(async () => {
        const task = await ours.claim();
        if (task === undefined) throw new Error('the queue ran empty');
        claimed.push(task);
      }),
    async refill() {
      const tasksDone = claimed;
      claimed = [];
      await share(tasksDone.length, 4, BATCH, async (units, first) => {
        await ours.completeBatch(tasksDone.slice(first, first + units));
        await submit(units);
      });
    },
    close: () => ours.close(),
  };
}

async function claimGrowth(bench: Bench): Promise<Row> {
  const small = await openQueue(bench, 'small', TASKS_SMALL);
  const large = await openQueue(bench, 'large', bench.p7_tasks);
  const calls = Math.min(CLAIMS_PER_ROUND_MAX, Math.max(50, Math.round(bench.seconds * 250)));
  const rounds: GrowthRound[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`P7 claim: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const measured = await alternate(calls, small.claim, large.claim);
    if (round > 0) rounds.push(measured);
    await small.refill();
    await large.refill();
  }
  await small.close();
  await large.close();
  const from = TASKS_SMALL.toLocaleString('en');
  return rowOf(`claim at ${bench.p7_tasks.toLocaleString('en')} queued ÷ at ${from}`, rounds);
}

async function openLocks(bench: Bench, name: string, locks: number) {
  const ours = await openStore(bench, name);
  const pathOf = (n: number): string => `src/part-${n % 100}/file-${n}.ts`;
  await seed(bench, `locks held (${name})`, locks, 1, 64, (_, first) => ours.acquire(pathOf(first)));
  let turn = 0;
  return {
    check: () => {
      // A large prime as the stride: neighbours in time are no neighbours in the index.
      turn = (turn + 7_919) % locks;
      return timed(() => ours.checkLock(pathOf(turn)));
    },
    close: () => ours.close(),
  };
}

async function checkGrowth(bench: Bench): Promise<Row> {
  const small = await openLocks(bench, 'few', LOCKS_SMALL);
  const large = await openLocks(bench, 'many', bench.p7_locks);
  const calls = Math.min(CHECKS_PER_ROUND_MAX, Math.max(200, Math.round(bench.seconds * 2000)));
  const rounds: GrowthRound[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    bench.progress.say(`P7 lock check: ${round === 0 ? 'warm-up' : `round ${round}/${bench.rounds}`}`);
    const measured = await alternate(calls, small.check, large.check);
    if (round > 0) rounds.push(measured);
  }
  await small.close();
  await large.close();
  return rowOf(`lock check with ${bench.p7_locks.toLocaleString('en')} locks ÷ with ${LOCKS_SMALL}`, rounds);
}

/** Growth: what an operation costs must not depend on how much is stored. Lower is better. */
export async function p7(bench: Bench): Promise<Row[]> {
  return [await claimGrowth(bench), await checkGrowth(bench)];
}
