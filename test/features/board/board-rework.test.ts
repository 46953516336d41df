import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimIdOf } from '../../../src/features/board/board-phases.ts';
import {
  configureBoard,
  joinBoard,
  leaveBoard,
  publishArtefact,
} from '../../../src/features/board/commands.ts';
import type { PersonsDecision } from '../../../src/features/trust/approvals/decide-approval.ts';
import { decideApproval as decide } from '../../../src/features/trust/commands.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { consequence } from '../../../src/runtime/approval-consequences.ts';
import { type Fact, folded, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import {
  artefactIn,
  bidder,
  claimIn,
  delivers,
  fails,
  failuresIn,
  happened,
  LATER_MS,
  publish,
  published,
  settings,
  settles,
  told,
} from './board-facts.ts';

const decideApproval = (decided: PersonsDecision) => decide(decided, consequence);

/** Walt makes things, rita and rosa look at them. */
const CREW = [bidder('rita', 'review'), bidder('rosa', 'review'), bidder('walt', 'ignore')];
const DRAFT = 'draft';
const CLAIMED = claimIdOf(DRAFT);

const drafted = (rules = {}, crew = CREW) =>
  happened(
    [],
    configureBoard(settings(rules), crew),
    publish('goal', { structural_type: 'Terminal' }),
    publish(DRAFT, { by: 'walt', type: 'Text', from: ['goal'] }),
  );

const says = (agent_id: string, payload: string, claim_id: string, id = `${agent_id} on ${claim_id}`) =>
  delivers(agent_id, payload, { claim_id, id, type: 'Review' });

/** Both look at it: rita has something to say, rosa has not. */
const rejected = (before: readonly Fact[], claim_id = CLAIMED) =>
  happened(before, says('rita', '{"title":"too long"}', claim_id), says('rosa', '{}', claim_id));

const sentTo = (facts: readonly Fact[]): string => {
  const opened = facts
    .flatMap(({ events }) => events)
    .findLast(({ type, kind }) => kind === 'board_claim' && type === 'work_assigned');
  assert.ok(opened, 'nothing was sent back');
  return opened.id;
};

/** What waits for a person. */
function itemIn(facts: readonly Fact[], approval_id: string): JsonObject {
  const record = folded(facts).get(`approval/${approval_id}`);
  assert.ok(record, 'nobody was asked');
  return record.state;
}

/** So many rounds: rejected, made anew, rejected … The ids of the versions are v1, v2 … */
function rounds(count: number, rules = {}): { facts: Fact[]; claim_id: string } {
  let facts = drafted(rules);
  let claim_id = CLAIMED;
  for (let round = 1; round <= count; round += 1) {
    facts = rejected(facts, claim_id);
    const id = `v${round + 1}`;
    facts = happened(
      facts,
      delivers('walt', `take ${round + 1}`, { claim_id: sentTo(facts), id, type: 'Text' }),
    );
    claim_id = claimIdOf(id);
  }
  return { facts, claim_id };
}

test('[PHASE-6] a rejection sends the work back to its author, with the reviews that ask for more, without bids', () => {
  const before = happened(drafted(), says('rita', '{"title":"too long"}', CLAIMED));
  const back = given(...before)
    .at(LATER_MS)
    .when(says('rosa', '{}', CLAIMED));
  const claim_id = sentTo(back.facts);
  const review = `rita on ${CLAIMED}`;
  back
    .thenCommits(
      published(`rosa on ${CLAIMED}`),
      told('work_delivered', { agent_id: 'rosa', verdict: 'approved' }, CLAIMED),
      told('claim_terminated', { reason: 'review_rejected' }, CLAIMED),
      { kind: 'thread', id: DRAFT, type: 'rework_started', data: { claim_id } },
      told(
        'claim_opened',
        { opened: { artefact_id: DRAFT, awaited: [], additional_context_ids: [review] } },
        claim_id,
      ),
      told('work_assigned', { agent_id: 'walt', granted: { walt: { attempt: 1 } } }, claim_id),
    )
    .answering({ rework: 'assigned', rework_claim_id: claim_id, author: 'walt' });
  const { status, grants } = claimIn(back.facts, claim_id);
  assert.deepEqual(
    [status, grants.walt?.phase, grants.walt?.limit_ms],
    ['pending_assignment', 'exclusive', 30 * MINUTE_MS],
  );
});

test('[PHASE-6] the author’s answer is the next version of the same thing, made from what was sent back and the reviews', () => {
  const before = rejected(drafted());
  const claim_id = sentTo(before);
  const made = given(...before)
    .at(LATER_MS)
    .when(delivers('walt', 'shorter', { claim_id, id: 'v2', type: 'Text' }))
    .thenCommits(
      published('v2', { logical_id: DRAFT, version: 2, source_artefacts: [DRAFT, `rita on ${CLAIMED}`] }),
      { kind: 'thread', id: DRAFT, type: 'thread_advanced', data: { artefact_id: 'v2', version: 2 } },
      told('claim_opened', { opened: { artefact_id: 'v2', logical_id: DRAFT } }, claimIdOf('v2')),
      told('phase_started', { phase: 'review' }, claimIdOf('v2')),
      told('work_delivered', { agent_id: 'walt', verdict: 'done' }, claim_id),
      told('claim_completed', {}, claim_id),
    )
    .answering({
      logical_id: DRAFT,
      version: 2,
      opened: { claim_id: claimIdOf('v2') },
      claim: { status: 'complete' },
    });
  const approved = happened(
    made.facts,
    says('rita', '{}', claimIdOf('v2')),
    says('rosa', '[]', claimIdOf('v2')),
  );
  assert.equal(claimIn(approved, claimIdOf('v2')).status, 'complete');
});

test('[PHASE-6] all feedback of a round comes back at once, in the order of the reviewers’ names', () => {
  const both = happened(drafted(), says('rosa', 'no', CLAIMED), says('rita', 'neither', CLAIMED));
  const { additional_context_ids } = claimIn(both, sentTo(both));
  assert.deepEqual(additional_context_ids, [`rita on ${CLAIMED}`, `rosa on ${CLAIMED}`]);
});

test('[PHASE-6] nobody else has a part in it, and nobody bids on it', () => {
  const before = rejected(drafted());
  const claim_id = sentTo(before);
  given(...before)
    .at(LATER_MS)
    .when(delivers('rita', 'mine', { claim_id }))
    .thenRefuses('not_granted');
});

test('[PHASE-6] three rounds, then a Failure and an item for a person; nothing goes on by itself', () => {
  const { facts, claim_id } = rounds(3);
  const { version, logical_id } = artefactIn(facts, 'v4');
  assert.deepEqual([version, logical_id], [4, DRAFT]);
  const before = happened(facts, says('rita', 'still no', claim_id));
  const asked = given(...before)
    .at(LATER_MS)
    .when(says('rosa', '{}', claim_id));
  const { rework, approval_id, failure_id } = asked.answer;
  assert.equal(rework, 'person_asked');
  const [failure] = failuresIn(asked.facts);
  assert.equal(failure?.type, 'MaxIterationsExceeded');
  assert.partialDeepStrictEqual(failure?.payload, {
    claim_id,
    artefact_id: 'v4',
    rounds: 3,
    reviews: [`rita on ${claim_id}`],
  });
  assert.equal(artefactIn(asked.facts, String(failure_id)).structural_type, 'Failure');
  const item = itemIn(asked.facts, String(approval_id));
  assert.deepEqual([item.kind, item.operation, item.requested_by], ['rework', 'another_rework', 'walt']);
  assert.match(
    String(item.subject),
    /^Text by walt was sent back 3 times and is still not approved\. One more round\?$/,
  );
  assert.ok(
    [...folded(asked.facts).values()].some(({ kind }) => kind === 'notice'),
    'people are told',
  );
  given(...asked.facts)
    .at(NOON_MS + 1e8)
    .when(settles(claim_id))
    .thenRefuses('wrong_status');
});

test('[PHASE-6] a person grants another round, and only that one; or says no', () => {
  const { facts, claim_id } = rounds(3);
  const before = happened(facts, says('rita', 'no', claim_id));
  const asked = given(...before)
    .at(LATER_MS)
    .when(says('rosa', '{}', claim_id));
  const approval_id = String(asked.answer.approval_id);
  const { shown_hash } = itemIn(asked.facts, approval_id) as { shown_hash: string };
  const decision = { approval_id, shown_hash, decided_by: 'person:ann', reason: 'go on' };
  given(...asked.facts)
    .at(LATER_MS)
    .when(decideApproval({ ...decision, shown_hash: 'something else', verdict: 'approved' }))
    .thenRefuses('approval_changed');
  const denied = given(...asked.facts)
    .at(LATER_MS)
    .when(decideApproval({ ...decision, verdict: 'denied' }))
    .answering({ outcome: 'left' });
  assert.equal(failuresIn(denied.facts).length, 1);
  const granted = given(...asked.facts)
    .at(LATER_MS)
    .when(decideApproval({ ...decision, verdict: 'approved' }))
    .answering({ success: true, outcome: 'assigned', author: 'walt' });
  given(...granted.facts)
    .at(LATER_MS)
    .when(decideApproval({ ...decision, verdict: 'approved' }))
    .thenRefuses('approval_decided');
  const rework = sentTo(granted.facts);
  assert.deepEqual(claimIn(granted.facts, rework).additional_context_ids, [`rita on ${claim_id}`]);
  const fifth = happened(
    granted.facts,
    delivers('walt', 'take 5', { claim_id: rework, id: 'v5', type: 'Text' }),
  );
  assert.equal(artefactIn(fifth, 'v5').version, 5);
  const again = given(...happened(fifth, says('rita', 'no', claimIdOf('v5'))))
    .at(LATER_MS)
    .when(says('rosa', '{}', claimIdOf('v5')))
    .answering({ rework: 'person_asked' });
  assert.notEqual(again.answer.approval_id, approval_id);
});

test('[PHASE-6] the limit is set by max_review_iterations; 0 is none', () => {
  const once = rounds(1, { max_review_iterations: 1 });
  assert.deepEqual(
    failuresIn(rejected(once.facts, once.claim_id)).map(({ type }) => type),
    ['MaxIterationsExceeded'],
  );
  const endless = rounds(6, { max_review_iterations: 0 });
  assert.deepEqual(failuresIn(rejected(endless.facts, endless.claim_id)), []);
});

test('[PHASE-6] an author that is gone: a Failure says whose configuration is missing, with the reviews', () => {
  const gone = rejected(happened(drafted(), leaveBoard('walt')));
  const [failure] = failuresIn(gone);
  assert.equal(failure?.type, 'MissingAgentConfiguration');
  assert.partialDeepStrictEqual(failure?.payload, {
    artefact_id: DRAFT,
    produced_by_agent: 'walt',
    produced_by_role: 'role of walt',
    reviews: [`rita on ${CLAIMED}`],
  });
  assert.equal(claimIn(gone, CLAIMED).status, 'terminated');
});

test('[PHASE-6] whoever has the author’s role by now is the author', () => {
  const crew = happened(
    drafted(),
    leaveBoard('walt'),
    joinBoard(bidder('wilma', 'ignore', { role: 'role of walt' })),
  );
  const back = rejected(crew);
  assert.deepEqual(Object.keys(claimIn(back, sentTo(back)).grants), ['wilma']);
});

test('[PHASE-6] a person says yes when the author has left: it is said, and nothing is assigned to nobody', () => {
  const { facts, claim_id } = rounds(1, { max_review_iterations: 1 });
  const before = happened(facts, says('rita', 'no', claim_id));
  const asked = given(...before)
    .at(LATER_MS)
    .when(says('rosa', '{}', claim_id));
  const approval_id = String(asked.answer.approval_id);
  const { shown_hash } = itemIn(asked.facts, approval_id) as { shown_hash: string };
  const left = happened(asked.facts, leaveBoard('walt'));
  const decided = given(...left)
    .at(LATER_MS)
    .when(decideApproval({ approval_id, shown_hash, decided_by: 'person:ann', verdict: 'approved' }))
    .answering({ outcome: 'author_missing' });
  assert.deepEqual(
    failuresIn(decided.facts).map(({ type }) => type),
    ['MaxIterationsExceeded', 'MissingAgentConfiguration'],
  );
});

test('[PHASE-6] a newer version that somebody published meanwhile is not sent back for what was said of the old one', () => {
  const newer = happened(drafted(), publish('other', { by: 'walt', type: 'Text', logical_id: DRAFT }));
  assert.equal(artefactIn(newer, 'other').version, 2);
  const half = happened(newer, says('rita', 'no', CLAIMED));
  given(...half)
    .at(LATER_MS)
    .when(says('rosa', '{}', CLAIMED))
    .answering({ rework: 'superseded', claim: { status: 'terminated' } });
});

test('[PHASE-6] an author that fails at its rework, or is silent, ends it; its Failure is no version', () => {
  const before = rejected(drafted());
  const claim_id = sentTo(before);
  const failed = happened(before, fails('walt', { claim_id, id: 'mishap' }));
  assert.deepEqual(
    [artefactIn(failed, 'mishap').version, artefactIn(failed, 'mishap').logical_id],
    [1, 'mishap'],
  );
  assert.equal(claimIn(failed, claim_id).termination_reason, 'agent_failed');
  const silent = happened(before, [NOON_MS + 30 * MINUTE_MS, settles(claim_id)]);
  assert.equal(claimIn(silent, claim_id).termination_reason, 'timeout');
  const late = happened(silent, delivers('walt', 'at last', { claim_id, id: 'late' }));
  assert.deepEqual([artefactIn(late, 'late').version, artefactIn(late, 'late').late], [1, true]);
});

test('[PHASE-6] versions published by hand go up one by one, whoever publishes them', () => {
  const artefact = { id: 'third', structural_type: 'Standard' as const, type: 'Text', payload: 'x' };
  const before = happened(drafted(), publish('second', { logical_id: DRAFT }));
  given(...before)
    .at(LATER_MS)
    .when(
      publishArtefact({ artefact, source_artefacts: [], logical_id: DRAFT, agent_id: 'eve', role: 'user' }),
    )
    .answering({ version: 3, logical_id: DRAFT });
});
