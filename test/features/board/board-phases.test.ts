import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApproval } from '../../../src/features/board/artefact.ts';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import {
  configureBoard,
  joinBoard,
  leaveBoard,
  terminateClaim,
} from '../../../src/features/board/commands.ts';
import { given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import {
  artefactIn,
  bidder,
  bids,
  board,
  CLAIM,
  claimIn,
  delivers,
  fails,
  GOAL,
  grantsIn,
  happened,
  LATER_MS,
  publish,
  published,
  settings,
  settles,
  told,
} from './board-facts.ts';

const FULL = [
  bidder('rita', 'review'),
  bidder('rosa', 'review'),
  bidder('paul', 'claim'),
  bidder('pete', 'claim'),
  bidder('emma', 'exclusive'),
];

test('[PHASE-1] review, then parallel, then exclusive, then complete: each step with the delivery that allows it', () => {
  const opened = board(FULL);
  assert.deepEqual(grantsIn(opened), ['review: rita rosa']);
  const first = happened(opened, delivers('rosa', '{}'));
  assert.deepEqual(grantsIn(first), ['review: rita rosa']);
  const reviewed = given(...first)
    .at(LATER_MS)
    .when(delivers('rita', '[]'))
    .thenCommits(
      published('by rita', { structural_type: 'Review', source_artefacts: [GOAL], phase: 'review' }),
      told('work_delivered', { agent_id: 'rita', artefact_id: 'by rita', verdict: 'approved' }),
      told('phase_started', { phase: 'parallel', granted: { paul: { attempt: 1 }, pete: {} } }),
    )
    .answering({ late: false, claim: { claim_id: CLAIM, status: 'pending_parallel', phase: 'parallel' } });
  const half = happened(reviewed.facts, delivers('pete', 'docs'));
  const made = given(...half)
    .at(LATER_MS)
    .when(delivers('paul', 'tests', { type: 'CodeCommit' }))
    .thenCommits(
      published('by paul', {
        structural_type: 'Standard',
        produced_by_role: 'role of paul',
        claim_id: CLAIM,
      }),
      told('claim_opened', { opened: { artefact_id: 'by paul' } }, claimIdOf('by paul')),
      told('phase_started', { phase: 'review' }, claimIdOf('by paul')),
      told('work_delivered', { agent_id: 'paul', verdict: 'done' }),
      told('phase_started', { phase: 'exclusive', granted: { emma: {} } }),
    )
    .answering({ opened: { claim_id: claimIdOf('by paul') }, claim: { status: 'pending_exclusive' } });
  given(...made.facts)
    .at(LATER_MS)
    .when(delivers('emma', 'merged', { structural_type: 'Terminal' }))
    .thenCommits(published('by emma'), told('work_delivered'), told('claim_completed'))
    .answering({ claim: { status: 'complete', phase: null } });
});

test('[PHASE-1] a phase that nobody bid for is skipped; without any the claim is complete', () => {
  const cases: [string[], string[]][] = [
    [[], []],
    [
      ['claim', 'exclusive'],
      ['parallel: a0', 'exclusive: a1'],
    ],
    [
      ['review', 'exclusive'],
      ['review: a0', 'exclusive: a1'],
    ],
    [
      ['review', 'claim'],
      ['review: a0', 'parallel: a1'],
    ],
    [['exclusive'], ['exclusive: a0']],
    [['review'], ['review: a0']],
  ];
  for (const [words, expected] of cases) {
    const agents = words.map((bid, index) => bidder(`a${index}`, bid as 'review'));
    const opened = board([...agents, bidder('idle', 'ignore')]);
    const parts = words.map((_, index) => delivers(`a${index}`, '{}', { structural_type: 'Terminal' }));
    const done = happened(opened, ...parts);
    assert.deepEqual(grantsIn(done), expected);
    assert.equal(claimIn(done).status, 'complete', words.join());
  }
});

/** Exactly `{}` and `[]`, as JSON; white space around says nothing. */
const VERDICTS: Readonly<Record<string, boolean>> = {
  '{}': true,
  '[]': true,
  ' {} ': true,
  '\n[ ]\t': true,
  '{ }': true,
  '': false,
  ' ': false,
  null: false,
  true: false,
  false: false,
  '0': false,
  '""': false,
  '"{}"': false,
  'looks good to me': false,
  LGTM: false,
  '{': false,
  '{}{}': false,
  '{}]': false,
  "{''}": false,
  '{"a":1}': false,
  '{"a":null}': false,
  '{"__proto__":{}}': false,
  '[null]': false,
  '[[]]': false,
  '[{}]': false,
  '\u00a0{}': false,
};

for (const [payload, approves] of Object.entries(VERDICTS))
  test(`[PHASE-2] a review that says ${JSON.stringify(payload)} ${approves ? 'approves' : 'is feedback'}`, () => {
    assert.equal(isApproval(payload), approves);
    const done = happened(board([bidder('rita', 'review')]), delivers('rita', payload));
    const { status, termination_reason, grants } = claimIn(done);
    assert.equal(grants.rita?.delivered?.verdict, approves ? 'approved' : 'feedback');
    assert.deepEqual(
      [status, termination_reason],
      approves ? ['complete', undefined] : ['terminated', 'review_rejected'],
    );
  });

test('[PHASE-2] one veto ends the claim, once every review is there; nothing after it starts', () => {
  const first = happened(board(FULL), delivers('rita', '{"fix":"the title"}'));
  assert.equal(claimIn(first).status, 'pending_review', 'the other review is awaited');
  const second = given(...first)
    .at(LATER_MS)
    .when(delivers('rosa', '{}'));
  second.answering({ claim: { status: 'terminated' }, rework: 'author_missing' });
  assert.deepEqual(grantsIn(second.facts), ['review: rita rosa']);
  assert.equal(claimIn(second.facts).termination_reason, 'review_rejected');
});

test('[PHASE-2] whatever a reviewer calls it, what it says is a Review and opens no claim', () => {
  for (const structural_type of ['Standard', 'Answer', 'Question', 'Terminal'] as const) {
    const done = happened(board([bidder('rita', 'review')]), delivers('rita', '{}', { structural_type }));
    assert.equal(artefactIn(done, 'by rita').structural_type, 'Review');
  }
});

test('[PHASE-2] an agent reviews its own work like anybody else', () => {
  const crew = [bidder('ann', 'review'), bidder('emma', 'exclusive')];
  const before = board(crew);
  assert.deepEqual(grantsIn(before), ['review: ann']);
  assert.deepEqual(grantsIn(happened(before, delivers('ann', '{}'))), ['review: ann', 'exclusive: emma']);
});

test('[PHASE-3] one of a phase can’t deliver for another, nor for a phase that is not its own', () => {
  const before = happened(board(FULL), delivers('rita', '{}'));
  for (const outsider of ['paul', 'emma', 'ann', 'constructor'])
    given(...before)
      .at(LATER_MS)
      .when(delivers(outsider, 'early'))
      .thenRefuses('not_granted', { claim_id: CLAIM, status: 'pending_review' });
  given(...before)
    .at(LATER_MS)
    .when(delivers('rita', '{}', { claim_id: 'no claim' }))
    .thenRefuses('unknown_claim');
});

test('[PHASE-3] whoever delivers twice has delivered once: the second is kept, marked, and changes nothing', () => {
  const before = happened(board(FULL), delivers('rita', '{}'));
  const again = given(...before)
    .at(LATER_MS)
    .when(delivers('rita', '{"no":1}', { id: 'second thoughts' }))
    .thenCommits(published('second thoughts', { late: true, structural_type: 'Review', claim_id: CLAIM }))
    .answering({
      success: true,
      late: true,
      message: 'It is kept, but changes nothing: it had delivered already.',
    });
  assert.deepEqual(claimIn(again.facts), claimIn(before));
});

test('[PHASE-5] what comes when the claim is over is kept, marked, opens nothing and advances no version', () => {
  const ended = happened(board(FULL), terminateClaim(CLAIM, 'enough', 'ann'));
  given(...ended)
    .at(LATER_MS)
    .when(delivers('rosa', '{}'))
    .thenCommits(published('by rosa', { late: true }))
    .answering({ late: true, claim: { status: 'terminated' } });
  const made = happened(board([bidder('emma', 'exclusive')]), terminateClaim(CLAIM, 'enough', 'ann'));
  given(...made)
    .at(LATER_MS)
    .when(delivers('emma', 'work'))
    .thenCommits(published('by emma', { late: true, structural_type: 'Standard' }));
});

test('[PHASE-1] a claim is ended by hand at any time, once, with who and why', () => {
  for (const facts of [board([bidder('anna')]), board(FULL)]) {
    const ended = given(...facts)
      .at(LATER_MS)
      .when(terminateClaim(CLAIM, 'the goal has changed', 'person:ann'))
      .thenCommits(told('claim_terminated', { reason: 'the goal has changed', terminated_by: 'person:ann' }))
      .answering({ success: true, status: 'terminated' });
    given(...ended.facts)
      .at(LATER_MS)
      .when(terminateClaim(CLAIM, 'again', 'person:ann'))
      .thenRefuses('wrong_status', { status: 'terminated' });
    given(...ended.facts)
      .at(NOON_MS + 100 * MINUTE_MS)
      .when(settles())
      .thenRefuses('wrong_status');
  }
  given()
    .at(NOON_MS)
    .when(terminateClaim(CLAIM, 'why not', 'ann'))
    .thenRefuses('unknown_claim');
});

test('[PHASE-3] agents of one role deliver apart where duplicates are allowed: names count', () => {
  const crew = ['paul', 'pete'].map((name) => bidder(name, 'claim', { role: 'Coder' }));
  const rules = settings({ allow_duplicate_roles: true });
  const before = happened([], configureBoard(rules, crew), publish(GOAL), delivers('paul', 'x'));
  assert.equal(claimIn(before).status, 'pending_parallel', 'pete has not');
  const both = happened(before, delivers('pete', 'y'));
  assert.equal(claimIn(both).status, 'complete');
  const { produced_by_agent, produced_by_role } = artefactIn(both, 'by pete');
  assert.deepEqual([produced_by_agent, produced_by_role], ['pete', 'Coder']);
});

test('[BID-4] who has left since it bid is still granted what it bid for, under a role of its own', () => {
  const crew = [bidder('rita', 'review'), bidder('emma')];
  const before = happened(board(crew), bids('emma', 'exclusive'), leaveBoard('emma'), delivers('rita', '{}'));
  assert.deepEqual(grantsIn(before), ['review: rita', 'exclusive: emma']);
  assert.equal(claimIn(before).grants.emma?.role, 'emma', 'never the role of somebody else');
  assert.equal(claimIn(happened(before, delivers('emma', 'done'))).status, 'complete');
});

test('[PHASE-3] a failure that is reported in the middle of a phase ends the claim; the others deliver too late', () => {
  const before = board([bidder('paul', 'claim'), bidder('pete', 'claim'), bidder('emma', 'exclusive')]);
  const failed = given(...before)
    .at(LATER_MS)
    .when(fails('paul'))
    .thenCommits(
      published('by paul', { structural_type: 'Failure', type: 'ToolExecutionFailure' }),
      told('work_delivered', { agent_id: 'paul', verdict: 'failed', artefact_id: 'by paul' }),
      told('claim_terminated', { reason: 'agent_failed', agent_id: 'paul' }),
    );
  given(...failed.facts)
    .at(LATER_MS)
    .when(delivers('pete', 'docs'))
    .answering({ late: true });
  assert.deepEqual(grantsIn(failed.facts), ['parallel: paul pete']);
});

test('[BID-4] somebody who joins while a phase is under way has no part in that claim', () => {
  const before = happened(board([bidder('emma', 'exclusive')]), joinBoard(bidder('dora', 'exclusive')));
  given(...before)
    .at(LATER_MS)
    .when(delivers('dora', 'mine'))
    .thenRefuses('not_granted');
});
