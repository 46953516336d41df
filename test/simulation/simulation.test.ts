import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './run.ts';

const SEEDS = 1000;
const BUDGET_MS = 10_000;
/** A slow machine runs fewer seeds rather than no tests; so many are needed to meet every situation below. */
const SEEDS_MIN = 250;

/** What the promises are about. A simulation in which one of these never occurs proves nothing about it. */
const SITUATIONS = [
  'another session takes over',
  'blocked: others wait first',
  'conflict',
  'conflict by time',
  'crash',
  'died in the middle',
  'granted: after waiting',
  'granted: folder',
  'granted: pattern',
  'granted: reader becomes writer',
  'granted: several at once',
  'granted: shared',
  'granted: two readers',
  'left blocked, and says why',
  'left skipped, and says why',
  'lost answer',
  'passed over: its files are locked',
  'repeat recognised',
  'replay compared',
  'retry under the same id',
  'store away',
  'the same key again',
  'time: back',
  'time: day',
  'waited in vain',
  'went away while waiting',
  'refused: blocked',
  'refused: dependency_cycle',
  'refused: dependency_failed',
  'refused: lease_expired',
  'refused: no_tasks_available',
  'refused: not_held',
  'refused: not_holder',
  'refused: operation_id_reused',
  'refused: superseded',
  'refused: unknown_dependency',
  'refused: unknown_task',
  'refused: would_deadlock',
  'refused: wrong_status',
  'dependency_failed',
  'dependency_met',
  'dependents_released',
  'lock_acquired',
  'lock_awaited',
  'lock_expired',
  'lock_folder_closed',
  'lock_folder_opened',
  'lock_refreshed',
  'lock_released',
  'lock_wait_ended',
  'task_cancelled',
  'task_claimed',
  'task_completed',
  'task_dead_lettered',
  'task_depended_on',
  'task_failed',
  'task_lease_expired',
  'task_promoted',
  'task_renewed',
  'task_reprioritised',
  'task_retried',
  'task_skipped',
  'task_submitted',
];

test('the same seed gives the same log, byte for byte', async () => {
  for (const seed of [1, 7, 42]) {
    const [first, second] = [await simulate(seed), await simulate(seed)];
    assert.ok(first.log.length > 1000);
    assert.equal(first.log, second.log);
  }
  assert.notEqual((await simulate(1)).log, (await simulate(2)).log);
});

test('[LOCK-3] [LOCK-4] [LOCK-8] [LOCK-10] [LOCK-11] [QUEUE-5] [QUEUE-6] [QUEUE-7] [QUEUE-9] [AUD-1] [AUD-5] the promises hold in every interleaving', async (t) => {
  const totals = new Map<string, number>();
  const start_ms = performance.now();
  let seeds = 0;
  while (seeds < SEEDS && (seeds < SEEDS_MIN || performance.now() - start_ms < BUDGET_MS)) {
    seeds += 1;
    const { counts } = await simulate(seeds);
    for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times);
  }
  t.diagnostic(`${seeds} seeds, ${Math.round((seeds / (performance.now() - start_ms)) * 1000)} seeds/s`);
  const missing = SITUATIONS.filter((what) => !totals.has(what));
  assert.deepEqual(missing, [], 'these situations never occurred');
});
