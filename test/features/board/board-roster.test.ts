import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayConcern } from '../../../src/features/board/board-claim.ts';
import { configureBoard, joinBoard, leaveBoard, placeBid } from '../../../src/features/board/commands.ts';
import { coWorkers, describeMember } from '../../../src/features/board/show-board.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { type Fact, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import {
  bidder,
  bids,
  board,
  CLAIM,
  claimIn,
  claimShown,
  delivers,
  GOAL,
  happened,
  LATER_MS,
  publish,
  rosterOf,
  settings,
  takes,
} from './board-facts.ts';

const names = (facts: readonly Fact[]) => rosterOf(facts).members.map(({ agent_id }) => agent_id);

test('[BID-3] two agents of one role are refused in the seed’s words, which name both', () => {
  const message =
    "duplicate agent role 'Coder' found (agents 'anna' and 'bert'): all agents must have unique roles in Phase 3";
  const [anna, bert] = ['anna', 'bert'].map((name) => bidder(name, 'claim', { role: 'Coder' })) as [
    ReturnType<typeof bidder>,
    ReturnType<typeof bidder>,
  ];
  given()
    .at(NOON_MS)
    .when(configureBoard(settings(), [bert, anna]))
    .thenRefuses('duplicate_role', { message, role: 'Coder', agents: ['anna', 'bert'] });
  given(...happened([], joinBoard(bert)))
    .at(NOON_MS)
    .when(joinBoard(anna))
    .thenRefuses('duplicate_role', { message });
  const allowed = happened([], configureBoard(settings({ allow_duplicate_roles: true }), [anna, bert]));
  assert.deepEqual(names(allowed), ['anna', 'bert']);
});

test('[BID-3] whoever joins again under its own name changes its own entry and is no duplicate', () => {
  const again = happened([], joinBoard(bidder('anna')), joinBoard(bidder('anna', 'review')));
  assert.deepEqual(names(again), ['anna']);
  assert.equal(rosterOf(again).members[0]?.standing_bid?.bid, 'review');
});

test('[BID-4] a file brings its agents and takes away those of the file before; who came by itself stays', () => {
  const first = happened(
    [],
    configureBoard(settings(), [bidder('anna'), bidder('bert')]),
    joinBoard(bidder('self')),
  );
  const second = given(...first)
    .at(LATER_MS)
    .when(configureBoard(settings({ bid_deadline_ms: 5 }), [bidder('bert'), bidder('carl')]))
    .answering({ agents: ['bert', 'carl', 'self'], generation: 3 });
  assert.deepEqual(names(second.facts), ['bert', 'carl', 'self']);
  assert.equal(rosterOf(second.facts).settings.bid_deadline_ms, 5);
});

test('[BID-4] who is not on the roster can’t leave it; leaving needs no other to be in order', () => {
  given().at(NOON_MS).when(leaveBoard('anna')).thenRefuses('not_a_bidder', { agent_id: 'anna' });
  given(...happened([], joinBoard(bidder('anna'))))
    .at(NOON_MS)
    .when(leaveBoard('anna'))
    .thenCommits({ kind: 'board', id: 'board', type: 'bidder_left', data: { agent_id: 'anna' } })
    .answering({ left: true, generation: 3 });
});

test('[BID-4] the roster has its limit', () => {
  const crew = Array.from({ length: limits.board_agents_max }, (_, n) => bidder(`a${n}`));
  const full = happened([], configureBoard(settings(), crew));
  given(...full)
    .at(NOON_MS)
    .when(joinBoard(bidder('one more')))
    .thenRefuses('invalid_input', { field: 'agents' });
});

test('[BID-4] everybody on the roster is listed with how it takes part', () => {
  const anna = bidder('anna', 'review', { timeout_ms: 90_000, files: ['src/'] });
  const shown = rosterOf(happened([], joinBoard(anna), joinBoard(bidder('bert')))).members.map(
    describeMember,
  );
  assert.partialDeepStrictEqual(JSON.parse(JSON.stringify(shown)), [
    { agent_id: 'anna', role: 'role of anna', bidding: 'review', timeout_seconds: 90, files: ['src/'] },
    { agent_id: 'bert', bidding: 'asked', configured: false, joined_at: new Date(NOON_MS).toISOString() },
  ]);
});

test('[BID-4] who waits is woken by what concerns it: being asked, being granted, being granted anew', () => {
  const crew = [bidder('rita', 'review', { on_failure: 'retry' }), bidder('emma')];
  const steps = happened(
    board(crew),
    bids('emma', 'exclusive'),
    takes('rita'),
    delivers('rita', '{"reason":"x"}', { id: 'f', structural_type: 'Failure' }),
    delivers('rita', '{}'),
  );
  const told = (agent_id: string) => steps.map((row) => mayConcern(agent_id, row as never));
  // configured, published, emma bids, taken, failed, delivered
  assert.deepEqual(told('emma'), [false, true, true, false, false, true]);
  assert.deepEqual(told('rita'), [false, false, true, false, true, true]);
  assert.deepEqual(told('ann'), Array(6).fill(false));
});

test('[PHASE-8] a claim that is open for half an hour is pending for long, and says what it waits for', () => {
  const bidding = board([bidder('anna'), bidder('bert'), bidder('carl', 'claim')], { bid_deadline_ms: 0 });
  const { pending_for_long, waits_for, pending_seconds } = claimShown(bidding, NOON_MS + 30 * MINUTE_MS);
  assert.deepEqual([pending_for_long, waits_for, pending_seconds], [true, 'bids of anna, bert', 1800]);
  assert.equal(claimShown(bidding, NOON_MS + 30 * MINUTE_MS - 1).pending_for_long, false);
  const working = board([bidder('paul', 'claim'), bidder('pete', 'claim')], { stuck_ms: 1000 });
  const half = happened(working, delivers('paul', 'x'));
  assert.equal(claimShown(half, NOON_MS + 1000).waits_for, 'parallel by pete');
  assert.equal(claimShown(half, NOON_MS + 1000).pending_for_long, true);
  const done = happened(half, delivers('pete', 'y'));
  assert.partialDeepStrictEqual(claimShown(done, NOON_MS + 1e9), {
    pending_for_long: false,
    waits_for: null,
  });
  const lonely = happened([], publish(GOAL));
  assert.equal(claimShown(lonely, NOON_MS).waits_for, 'agents: nobody is on the board');
});

test('[PHASE-8] a claim is shown in the seed’s words', () => {
  const crew = [
    bidder('rita', 'review'),
    bidder('paul', 'claim'),
    bidder('emma', 'exclusive'),
    bidder('idle', 'ignore'),
  ];
  const facts = happened(board(crew), delivers('rita', '{}'), takes('paul'));
  assert.partialDeepStrictEqual(JSON.parse(JSON.stringify(claimShown(facts, LATER_MS))), {
    id: CLAIM,
    artefact_id: GOAL,
    status: 'pending_parallel',
    granted_review_agents: ['rita'],
    granted_parallel_agents: ['paul'],
    granted_exclusive_agent: null,
    additional_context_ids: [],
    termination_reason: null,
    phase_state: {
      phase: 'parallel',
      awaiting: ['paul'],
      grants: [
        { agent_id: 'paul', attempt: 1, delivered: null, started_at: new Date(NOON_MS).toISOString() },
      ],
    },
    bids: { rita: { bid: 'review', by: 'strategy' }, idle: { bid: 'ignore' } },
  });
  const bidding = board([bidder('anna')]);
  assert.partialDeepStrictEqual(claimShown(bidding, LATER_MS).phase_state, {
    phase: 'bidding',
    awaiting: ['anna'],
    due: new Date(NOON_MS + MINUTE_MS).toISOString(),
  });
});

test('[PHASE-9] those of a parallel phase are told of each other and what each is going to touch; others are told nothing', () => {
  const crew = [
    bidder('paul', 'claim', { files: ['src/', 'docs/a.md'] }),
    bidder('pete'),
    bidder('rita', 'review'),
    bidder('emma', 'exclusive', { files: ['web/'] }),
  ];
  const opened = board(crew);
  const bid = happened(
    opened,
    placeBid({ claim_id: CLAIM, agent_id: 'pete', bid: 'claim', files: ['docs/a.md', 'docs/b.md'] }),
  );
  assert.deepEqual(coWorkers(claimIn(bid), 'rita', rosterOf(bid)), [], 'reviewers touch nothing');
  const parallel = happened(bid, delivers('rita', '{}'));
  const told = (agent_id: string) => coWorkers(claimIn(parallel), agent_id, rosterOf(parallel));
  assert.deepEqual(told('paul'), [
    { agent_id: 'pete', role: 'role of pete', declared: ['docs/a.md', 'docs/b.md'] },
  ]);
  assert.deepEqual(told('pete'), [
    { agent_id: 'paul', role: 'role of paul', declared: ['src/', 'docs/a.md'] },
  ]);
  const exclusive = happened(parallel, delivers('paul', 'x'), delivers('pete', 'y'));
  assert.deepEqual(coWorkers(claimIn(exclusive), 'emma', rosterOf(exclusive)), []);
});
