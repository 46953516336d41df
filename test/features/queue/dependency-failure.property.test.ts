import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FailurePolicy } from '../../../src/features/queue/state.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { agent, type Call } from '../../conformance/engine.ts';

type Outcome = 'completed' | 'failed' | 'cancelled';

/** A task of a plan: it depends on earlier ones only, so chains, diamonds and anything between them occur. */
interface Planned {
  readonly parents: readonly number[];
  readonly policy: FailurePolicy;
  /** What becomes of it if it is handed out. */
  readonly outcome: Outcome;
}

interface Expected {
  readonly status: string;
  readonly failed: readonly number[];
}

const policies: readonly FailurePolicy[] = ['block', 'skip', 'run'];
const outcomes: readonly Outcome[] = ['completed', 'completed', 'failed', 'cancelled'];

const plan: fc.Arbitrary<Planned[]> = fc
  .array(
    fc.record({
      seed: fc.array(fc.nat(), { maxLength: 3 }),
      policy: fc.constantFrom(...policies),
      outcome: fc.constantFrom(...outcomes),
    }),
    { minLength: 2, maxLength: 9 },
  )
  .map((tasks) =>
    tasks.map(({ seed, policy, outcome }, at) => ({
      parents: at === 0 ? [] : [...new Set(seed.map((n) => n % at))].sort((a, b) => a - b),
      policy,
      outcome,
    })),
  );

/**
 * The promise in a few lines: nothing of rounds, markers or events. What was told of a failure before counts until that
 * dependency completes; to run anyway is to have let it go for good.
 */
function expected(
  tasks: readonly Planned[],
  outcome: (task: Planned, at: number) => Outcome,
  before: readonly Expected[] = [],
): Expected[] {
  const ends: Expected[] = [];
  for (const [at, { parents, policy, ...task }] of tasks.entries()) {
    const of = (parent: number) => ends[parent]?.status ?? '';
    const told = (parent: number) =>
      before[at]?.failed.includes(parent) === true && (policy === 'run' || of(parent) !== 'completed');
    const failed = parents.filter((parent) => told(parent) || !['completed', 'blocked'].includes(of(parent)));
    const waits = parents.some((parent) => of(parent) === 'blocked' && !told(parent));
    if (policy === 'skip' && failed.length > 0) ends.push({ status: 'skipped', failed });
    else if (waits || (policy === 'block' && failed.length > 0)) ends.push({ status: 'blocked', failed });
    else ends.push({ status: outcome({ parents, policy, ...task }, at), failed });
  }
  return ends;
}

/** Hands out and ends until nothing is left; what was handed out is told of the failures it runs in spite of. */
async function work(
  call: Call,
  ids: readonly string[],
  outcome: (at: number) => Outcome,
  ran: Map<number, string[]>,
): Promise<void> {
  for (;;) {
    const task = await call('get_work');
    if (task.success !== true) return;
    const at = ids.indexOf(task.task_id as string);
    assert.ok(!ran.has(at), `task ${at} was handed out twice`);
    ran.set(at, (task.failed_dependencies ?? []) as string[]);
    const task_id = task.task_id as string;
    if (outcome(at) === 'cancelled') await call('cancel_work', { task_id });
    else await call('complete_work', { task_id, success: outcome(at) === 'completed' });
  }
}

async function submitAll(call: Call, tasks: readonly Planned[], inBatches: boolean): Promise<string[]> {
  const input = ({ parents, policy }: Planned, name: (at: number) => string): JsonObject => ({
    task_type: 'plan',
    task_description: 'a step',
    depends_on: parents.map(name),
    on_dependency_failure: policy,
  });
  if (inBatches) {
    const all = tasks.map((task, at) => ({ ...input(task, (n) => `k${n}`), idempotency_key: `k${at}` }));
    const answer = await call('submit_work_batch', { tasks: all });
    return (answer.tasks as JsonObject[]).map(({ task_id }) => task_id as string);
  }
  const ids: string[] = [];
  for (const task of tasks)
    ids.push(
      (
        await call(
          'submit_work',
          input(task, (n) => ids[n] ?? ''),
        )
      ).task_id as string,
    );
  return ids;
}

async function compare(call: Call, ids: readonly string[], ends: readonly Expected[]): Promise<void> {
  for (const [at, task_id] of ids.entries()) {
    const shown = await call('show_work', { task_id });
    const failed = ((shown.failed_dependencies ?? []) as string[]).map((id) => ids.indexOf(id));
    const said = { status: shown.status, failed: failed.sort((a, b) => a - b) };
    assert.deepEqual(said, ends[at], `task ${at}`);
  }
}

test('[QUEUE-9] chains, diamonds and whatever lies between: each task ends as its policy and its parents say', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.boolean(), async (tasks, inBatches) => {
      const coxswain = await open({ store: 'memory:' });
      try {
        const call = agent(coxswain, 'anna');
        const ids = await submitAll(call, tasks, inBatches);
        const ran = new Map<number, string[]>();
        await work(call, ids, (at) => tasks[at]?.outcome ?? 'completed', ran);
        const first = expected(tasks, ({ outcome }) => outcome);
        await compare(call, ids, first);
        for (const [at, told] of ran)
          assert.deepEqual(
            told.map((id) => ids.indexOf(id)).sort((a, b) => a - b),
            first[at]?.failed,
            'the agent was told which dependencies failed',
          );

        // Whatever failed is retried and succeeds: what blocked or skipped because of it goes on, what ran is not run again.
        for (const [at] of ran) if (first[at]?.status === 'failed') ran.delete(at);
        for (const [at, { status }] of first.entries())
          if (status === 'failed') await call('retry_work', { task_id: ids[at] });
        await work(call, ids, () => 'completed', ran);
        const again = (_: Planned, at: number) =>
          first[at]?.status === 'cancelled' ? 'cancelled' : 'completed';
        await compare(call, ids, expected(tasks, again, first));
      } finally {
        await coxswain.close();
      }
    }),
    { numRuns: 150 },
  );
});
