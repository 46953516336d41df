import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateBoard } from './board/run.ts';

const SEEDS = 300;
const BUDGET_MS = 3500;
/** A slow machine runs fewer seeds rather than no tests; so many are needed to meet every situation below. */
const SEEDS_MIN = 70;

/** What the promises are about. A simulation in which one of these never occurs proves nothing about it. */
const SITUATIONS = [
  'approval_approved',
  'approval_requested',
  'bid_placed',
  'bidder_joined',
  'bidder_left',
  'bidders_changed',
  'bids_closed',
  'claim_completed',
  'conflict',
  'crash',
  'delivered late',
  'died in the middle',
  'ended: agent_failed',
  'ended: complete',
  'ended: enough of it',
  'ended: review_rejected',
  'ended: timeout',
  'grant_repeated',
  'grant_taken',
  'lost answer',
  'refused: bidding_over',
  'refused: duplicate_role',
  'refused: grant_taken',
  'refused: not_a_bidder',
  'refused: not_granted',
  'refused: not_held',
  'refused: operation_id_reused',
  'replay compared',
  'retry under the same id',
  'store away',
  'the same bid again',
  'thread_advanced',
  'time: back',
  'work_assigned',
];

test('[BID-1] [BID-2] [PHASE-3] [PHASE-4] [PHASE-5] [PHASE-6] [AUD-5] the board keeps its promises in every interleaving', async (t) => {
  const totals = new Map<string, number>();
  const start_ms = performance.now();
  let seeds = 0;
  while (seeds < SEEDS && (seeds < SEEDS_MIN || performance.now() - start_ms < BUDGET_MS)) {
    seeds += 1;
    const { counts } = await simulateBoard(seeds);
    for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times);
  }
  t.diagnostic(`${seeds} seeds, ${Math.round((seeds / (performance.now() - start_ms)) * 1000)} seeds/s`);
  const missing = SITUATIONS.filter((what) => !totals.has(what));
  assert.deepEqual(missing, [], 'these situations never occurred');
});

test('the same seed gives the same log of a board, byte for byte', async () => {
  const [first, second] = [await simulateBoard(5), await simulateBoard(5)];
  assert.ok(first.log.length > 1000);
  assert.equal(first.log, second.log);
});
