import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateClaims } from './claims/run.ts';

const SEEDS = 400;
const BUDGET_MS = 4000;
/** A slow machine runs fewer seeds rather than no tests; so many are needed to meet every situation below. */
const SEEDS_MIN = 100;

/** What the promises are about. A simulation in which one of these never occurs proves nothing about it. */
const SITUATIONS = [
  'claim_expired',
  'claim_kept',
  'claim_rejected',
  'claim_renewed',
  'conflict',
  'convergence_escalated',
  'crash',
  'died in the middle',
  'edge_converged',
  'edge_converged: by a person',
  'edge_released: holder',
  'edge_released: person',
  'edge_released: stale',
  'edge_released: ttl',
  'edge_started',
  'iteration_completed',
  'lost answer',
  'refused: claim_rejected',
  'refused: convergence_escalated',
  'refused: edge_not_started',
  'refused: evaluators_failed',
  'refused: not_holder',
  'refused: operation_id_reused',
  'refused: role_mismatch',
  'refused: superseded',
  'replay compared',
  'retry under the same id',
  'review_completed',
  'store away',
  'taken over',
  'time: back',
];

test('[CLAIM-2] [CLAIM-3] [CLAIM-4] [CLAIM-5] [CLAIM-11] [AUD-5] claims keep their promises in every interleaving', async (t) => {
  const totals = new Map<string, number>();
  const start_ms = performance.now();
  let seeds = 0;
  while (seeds < SEEDS && (seeds < SEEDS_MIN || performance.now() - start_ms < BUDGET_MS)) {
    seeds += 1;
    const { counts } = await simulateClaims(seeds);
    for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times);
  }
  t.diagnostic(`${seeds} seeds, ${Math.round((seeds / (performance.now() - start_ms)) * 1000)} seeds/s`);
  const missing = SITUATIONS.filter((what) => !totals.has(what));
  assert.deepEqual(missing, [], 'these situations never occurred');
});

test('the same seed gives the same log of claims, byte for byte', async () => {
  const [first, second] = [await simulateClaims(5), await simulateClaims(5)];
  assert.ok(first.log.length > 1000);
  assert.equal(first.log, second.log);
});
