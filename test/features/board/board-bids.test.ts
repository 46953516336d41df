import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boardEntity, boardEvent } from '../../../src/features/board/board.ts';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import { DEFAULT_SETTINGS } from '../../../src/features/board/board-settings.ts';
import { configureBoard, joinBoard, leaveBoard } from '../../../src/features/board/commands.ts';
import { given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import {
  bidder,
  bids,
  board,
  CLAIM,
  claimIn,
  claimShown,
  delivers,
  GOAL,
  grantsIn,
  happened,
  LATER_MS,
  OVERDUE_MS,
  publish,
  published,
  settings,
  settles,
  told,
} from './board-facts.ts';

const ASKED = [bidder('anna'), bidder('bert'), bidder('carl')];

test('[BID-1] an artefact appears with its claim, which asks everybody on the roster by name', () => {
  given(...happened([], configureBoard(settings(), ASKED)))
    .at(NOON_MS)
    .when(publish(GOAL))
    .thenCommits(
      published(GOAL, {
        logical_id: GOAL,
        version: 1,
        type: 'GoalDefined',
        produced_by_agent: 'ann',
        produced_by_role: 'user',
      }),
      told('claim_opened', {
        opened: {
          artefact_id: GOAL,
          awaited: ['anna', 'bert', 'carl'],
          bids: {},
          bids_due_ms: NOON_MS + MINUTE_MS,
        },
      }),
    )
    .answering({
      artefact_id: GOAL,
      claim_id: CLAIM,
      claim_status: 'pending_review',
      phase: null,
      awaiting_bids: ['anna', 'bert', 'carl'],
    });
});

test('[BID-1] reviews, failures and ends open no claim; questions and answers do', () => {
  const before = happened([], configureBoard(settings(), ASKED));
  for (const structural_type of ['Review', 'Failure', 'Terminal'] as const)
    given(...before)
      .at(NOON_MS)
      .when(publish('x', { structural_type }))
      .thenCommits(published('x', { structural_type }))
      .answering({ claim_id: null });
  for (const structural_type of ['Standard', 'Question', 'Answer'] as const)
    given(...before)
      .at(NOON_MS)
      .when(publish('x', { structural_type }))
      .answering({ claim_id: claimIdOf('x') });
});

test('[BID-1] an artefact made from something unknown, or another version of it, is refused', () => {
  given()
    .at(NOON_MS)
    .when(publish('x', { from: ['nothing'] }))
    .thenRefuses('unknown_artefact', { artefact_id: 'nothing' });
  given()
    .at(NOON_MS)
    .when(publish('x', { logical_id: 'nothing' }))
    .thenRefuses('unknown_artefact', { artefact_id: 'nothing' });
});

test('[BID-1] nothing is granted before the last bid, and with it everything', () => {
  const two = happened(board(ASKED), bids('carl', 'exclusive'), bids('anna', 'review'));
  assert.deepEqual(claimIn(two).awaited, ['bert']);
  assert.deepEqual(grantsIn(two), []);
  given(...two)
    .at(LATER_MS)
    .when(bids('bert', 'claim'))
    .thenCommits(
      told('bid_placed', { agent_id: 'bert', placed: { bid: 'claim', by: 'agent' } }),
      told('phase_started', { phase: 'review', granted: { anna: { attempt: 1 } } }),
    )
    .answering({
      bid: 'claim',
      status: 'pending_review',
      phase: 'review',
      granted: false,
      awaiting_bids: [],
    });
});

test('[BID-1] a stray bidder completes no consensus: names count, not how many', () => {
  const before = happened(board(ASKED), bids('anna', 'claim'), bids('bert', 'claim'));
  given(...before)
    .at(LATER_MS)
    .when(bids('stray', 'claim'))
    .thenRefuses('not_a_bidder', { claim_id: CLAIM, agent_id: 'stray' });
  assert.deepEqual(claimIn(before).awaited, ['carl']);
});

test('[BID-1] the first bid stands: the same again is no news, another is refused', () => {
  const once = happened(board(ASKED), bids('anna', 'review'));
  given(...once)
    .at(LATER_MS)
    .when(bids('anna', ' review '))
    .thenCommits()
    .answering({ success: true, bid: 'review', repeated: true });
  given(...once)
    .at(LATER_MS)
    .when(bids('anna', 'exclusive'))
    .thenRefuses('bidding_over', { bid: 'review', message: `anna's bid on claim ${CLAIM} stands: review.` });
});

test('[BID-1] what is no bid counts as ignore, is kept as it was said, and the bidder is told', () => {
  for (const word of ['Review', 'parallel', 'EXCLUSIVE', 'yes', 'constructor'])
    given(...board(ASKED))
      .at(LATER_MS)
      .when(bids('anna', word))
      .thenCommits(told('bid_placed', { agent_id: 'anna', placed: { bid: 'ignore', invalid: word } }))
      .answering({ bid: 'ignore', warning: `${JSON.stringify(word)} is no bid: it counts as ignore.` });
});

test('[BID-1] a bid on a claim that nobody knows, or that is over, is refused', () => {
  given(...board(ASKED))
    .at(LATER_MS)
    .when(bids('anna', 'claim', 'no claim'))
    .thenRefuses('unknown_claim', { claim_id: 'no claim' });
  const over = happened(
    board([bidder('anna', 'exclusive')]),
    joinBoard(bidder('late')),
    delivers('anna', 'done'),
  );
  given(...over)
    .at(LATER_MS)
    .when(bids('late', 'claim'))
    .thenRefuses('bidding_over', {
      status: 'complete',
      bid: null,
      message: `Bids on claim ${CLAIM} are over.`,
    });
});

test('[BID-1] at the deadline silence is written down as ignore, and the claim goes on', () => {
  const before = happened(board(ASKED), bids('bert', 'claim'));
  given(...before)
    .at(OVERDUE_MS - 1)
    .when(settles())
    .thenRefuses('wrong_status');
  const closed = given(...before)
    .at(OVERDUE_MS)
    .when(settles())
    .thenCommits(
      told('bids_closed', { silent: ['anna', 'carl'] }),
      told('phase_started', { phase: 'parallel', granted: { bert: {} } }),
    );
  const state = claimIn(closed.facts);
  assert.deepEqual(
    ['anna', 'bert', 'carl'].map((name) => [state.bids[name]?.bid, state.bids[name]?.by]),
    [
      ['ignore', 'deadline'],
      ['claim', 'agent'],
      ['ignore', 'deadline'],
    ],
  );
  given(...closed.facts)
    .at(OVERDUE_MS)
    .when(bids('anna', 'exclusive'))
    .thenRefuses('bidding_over', {
      message: `anna's bid on claim ${CLAIM} stands: ignore, for it said nothing in time.`,
    });
  given(...closed.facts)
    .at(OVERDUE_MS)
    .when(settles())
    .thenRefuses('wrong_status');
});

test('[BID-1] past the deadline a bid still counts as long as nobody has written down the silence', () => {
  const before = happened(board(ASKED), [OVERDUE_MS + 5, bids('anna', 'claim')]);
  const closed = happened(before, [OVERDUE_MS + 6, settles()]);
  assert.deepEqual(grantsIn(closed), ['parallel: anna']);
});

test('[BID-1] with a deadline of 0 everybody is waited for, however long it takes', () => {
  const before = board(ASKED, { bid_deadline_ms: 0 });
  given(...before)
    .at(NOON_MS + 1e9)
    .when(settles())
    .thenRefuses('wrong_status');
  const all = happened(before, [NOON_MS + 1e9, bids('anna', 'ignore')], bids('bert', 'ignore'));
  assert.equal(claimIn(all).status, 'pending_review');
  given(...all)
    .at(NOON_MS + 1e9)
    .when(bids('carl', 'ignore'))
    .thenCommits(told('bid_placed'), told('claim_completed'));
});

test('[BID-2] of several exclusive bids the alphabetically first agent wins, by code units and not by who was first', () => {
  const crew = ['zoe', 'anna', 'Bert', 'ähnlich', 'anna-2'].map((name) => bidder(name));
  const facts = happened(
    board(crew),
    ...['zoe', 'anna-2', 'ähnlich', 'anna', 'Bert'].map((name) => bids(name, 'exclusive')),
  );
  assert.deepEqual(grantsIn(facts), ['exclusive: Bert']);
  const without = happened(
    board(crew),
    ...['zoe', 'anna-2', 'ähnlich', 'anna'].map((name) => bids(name, 'exclusive')),
    bids('Bert', 'ignore'),
  );
  assert.deepEqual(grantsIn(without), ['exclusive: anna']);
});

test('[BID-1] [BID-2] standing bids are placed as the claim opens; with all of them it is granted in that commit', () => {
  const agents = [bidder('anna', 'review'), bidder('bert', 'exclusive')];
  given(...happened([], configureBoard(settings(), agents)))
    .at(NOON_MS)
    .when(publish(GOAL))
    .thenCommits(
      published(GOAL),
      told('claim_opened', {
        opened: { awaited: [], bids: { anna: { bid: 'review', by: 'strategy' }, bert: { by: 'strategy' } } },
      }),
      told('phase_started', { phase: 'review', granted: { anna: {} } }),
    )
    .answering({ phase: 'review', awaiting_bids: [] });
});

test('[BID-1] a standing bid has its types: on others it is ignore', () => {
  const standing_bid = { bid: 'claim' as const, target_types: ['Code*', 'Spec'] };
  const before = happened([], configureBoard(settings(), [bidder('anna', undefined, { standing_bid })]));
  for (const [type, granted] of [
    ['CodeCommit', ['parallel: anna']],
    ['Spec', ['parallel: anna']],
    ['Specification', []],
    ['GoalDefined', []],
  ] as const)
    assert.deepEqual(grantsIn(happened(before, publish(GOAL, { type }))), granted, type);
});

test('[PHASE-2] what an agent made it may review by a standing bid, but does not claim as new work for ever', () => {
  for (const [bid, granted] of [
    ['review', ['review: ann']],
    ['claim', []],
    ['exclusive', []],
  ] as const)
    assert.deepEqual(grantsIn(board([bidder('ann', bid)])), granted, bid);
  const asked = happened(board([bidder('ann')]), bids('ann', 'exclusive'));
  assert.deepEqual(grantsIn(asked), ['exclusive: ann'], 'said by itself it counts');
});

test('[BID-4] with nobody on the roster a claim waits for somebody to come', () => {
  const alone = happened([], publish(GOAL));
  assert.deepEqual([claimIn(alone).status, claimIn(alone).awaited], ['pending_review', []]);
  given(...alone)
    .at(OVERDUE_MS)
    .when(settles())
    .thenRefuses('wrong_status');
  const joined = happened(alone, [OVERDUE_MS, joinBoard(bidder('anna'))]);
  given(...joined)
    .at(OVERDUE_MS + 5)
    .when(settles())
    .thenCommits(told('bidders_changed', { roster: { awaited: ['anna'] } }));
});

test('[BID-1] unless a deadline is set the board waits for every bid, however long, and says for whose', () => {
  const joined = happened([], joinBoard(bidder('anna')), joinBoard(bidder('bert')), publish(GOAL));
  assert.equal(claimIn(joined).bids_due_ms, undefined);
  const half = happened(joined, bids('anna', 'exclusive'));
  given(...half)
    .at(NOON_MS + 365 * 24 * 60 * MINUTE_MS)
    .when(settles())
    .thenRefuses('wrong_status');
  assert.equal(claimShown(half, LATER_MS).waits_for, 'bids of bert');
  assert.deepEqual(DEFAULT_SETTINGS.bid_deadline_ms, 0);
});

test('[AUD-3] a board of a log from before that was the default keeps the minute it had', () => {
  const data = { agent_id: 'anna', role: 'writer' };
  const old = boardEntity.evolve(undefined, boardEvent('bidder_joined', data), 0);
  assert.equal(old.settings.bid_deadline_ms, 60_000);
});

test('[BID-4] who leaves is not waited for: its going completes the consensus', () => {
  const before = happened(board(ASKED), bids('anna', 'claim'), bids('bert', 'claim'), leaveBoard('carl'));
  given(...before)
    .at(LATER_MS)
    .when(settles())
    .thenCommits(
      told('bidders_changed', { roster: { awaited: [] } }),
      told('phase_started', { phase: 'parallel', granted: { anna: {}, bert: {} } }),
    );
});

test('[BID-4] the bid of somebody who left before the consensus does not count', () => {
  const before = happened(
    board(ASKED),
    bids('anna', 'exclusive'),
    leaveBoard('anna'),
    bids('bert', 'exclusive'),
  );
  assert.deepEqual(grantsIn(happened(before, bids('carl', 'exclusive'))), ['exclusive: bert']);
});

test('[BID-4] who joins in the middle is asked, too; the others keep their word and all have the full time again', () => {
  const before = happened(board(ASKED), bids('anna', 'claim'), [LATER_MS, joinBoard(bidder('dora'))]);
  const told_ms = NOON_MS + MINUTE_MS - 1;
  const changed = given(...before)
    .at(told_ms)
    .when(settles())
    .thenCommits(
      told('bidders_changed', {
        roster: {
          awaited: ['bert', 'carl', 'dora'],
          bids: { anna: { bid: 'claim', by: 'agent', at_ms: NOON_MS } },
          bids_due_ms: told_ms + MINUTE_MS,
        },
      }),
    );
  given(...changed.facts)
    .at(told_ms)
    .when(settles())
    .thenRefuses('wrong_status');
});

test('[BID-4] a bid tells its claim of a changed roster first, in the same commit', () => {
  const before = happened(
    board(ASKED),
    bids('anna', 'claim'),
    bids('bert', 'claim'),
    joinBoard(bidder('dora')),
  );
  given(...before)
    .at(LATER_MS)
    .when(bids('carl', 'claim'))
    .thenCommits(told('bidders_changed', { roster: { awaited: ['carl', 'dora'] } }), told('bid_placed'))
    .answering({ awaiting_bids: ['dora'], phase: null });
});

test('[BID-4] a roster that changes after the consensus changes nothing in a claim', () => {
  const granted = happened(board(ASKED), ...['anna', 'bert', 'carl'].map((name) => bids(name, 'claim')));
  given(...happened(granted, leaveBoard('anna'), joinBoard(bidder('dora', 'review'))))
    .at(LATER_MS)
    .when(settles())
    .thenRefuses('wrong_status');
});
