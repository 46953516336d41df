import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesetEvent } from '../../../src/features/changesets/state.ts';
import type { ApprovalState } from '../../../src/features/trust/approvals/approval.ts';
import type { PersonsDecision } from '../../../src/features/trust/approvals/decide-approval.ts';
import { decideApproval as decide } from '../../../src/features/trust/commands.ts';
import { decideRun } from '../../../src/features/verification/execute.ts';
import { routeChangeset } from '../../../src/features/verification/route-changeset.ts';
import { ASKED_MS } from '../../../src/features/verification/verification-approval.ts';
import { runId } from '../../../src/features/verification/verification-run.ts';
import { consequence } from '../../../src/runtime/approval-consequences.ts';
import { type Fact, fact, folded, given, NOON_MS } from '../../support/decider-spec.ts';

const decideApproval = (decided: PersonsDecision) => decide(decided, consequence);

const COMMIT = 'a'.repeat(40);
const ID = '0192a000-0000-7000-8000-000000000001';
const ALICE = { agent_id: 'alice', agent_type: 'worker', session_id: 's' };
const RUN = runId(COMMIT, 'security-sensitive');

/** A change that waits for a person, and the item of the queue that stands for it. */
function waiting(): { facts: Fact[]; approval_id: string; shown_hash: string } {
  const { facts } = given(fact(NOON_MS, changesetEvent(ID, ALICE, { files: ['.env'], commit_sha: COMMIT })))
    .at(NOON_MS)
    .when(routeChangeset({ changeset_id: ID, is_person: false }));
  const record = [...folded(facts).values()].find(({ kind }) => kind === 'approval');
  assert.ok(record !== undefined);
  const { shown_hash } = record.state as unknown as ApprovalState;
  return { facts, approval_id: record.id, shown_hash };
}

const said = (facts: readonly Fact[]) => facts.at(-1)?.events.map(({ kind, type }) => `${kind}/${type}`);

test('[VER-6] [APPR-2] who approves in the queue has decided the run, in the same commit and once', () => {
  const { facts, approval_id, shown_hash } = waiting();
  const person = { approval_id, shown_hash, decided_by: 'person:bob' };
  const approved = given(...facts)
    .at(NOON_MS)
    .when(decideApproval({ ...person, verdict: 'approved' }));
  assert.partialDeepStrictEqual(approved.answer, { success: true, status: 'approved', outcome: 'passed' });
  assert.deepEqual(said(approved.facts), [
    'verification_result/verification_finished',
    'approval/approval_approved',
    'approval/approval_used',
  ]);
  given(...approved.facts)
    .at(NOON_MS)
    .when(decideApproval({ ...person, verdict: 'approved' }))
    .thenRefuses('approval_decided');
  const denied = given(...facts)
    .at(NOON_MS)
    .when(decideApproval({ ...person, verdict: 'denied', reason: 'a key is in it' }));
  assert.partialDeepStrictEqual(denied.answer, { status: 'denied', outcome: 'failed' });
});

test('[VER-6] who decides the run has answered what waits in the queue', () => {
  const { facts, approval_id, shown_hash } = waiting();
  const decided = given(...facts)
    .at(NOON_MS)
    .when(decideRun(RUN, false, 'person:bob', 'no'));
  assert.deepEqual(said(decided.facts), [
    'verification_result/verification_finished',
    'approval/approval_denied',
  ]);
  given(...decided.facts)
    .at(NOON_MS)
    .when(decideApproval({ approval_id, shown_hash, decided_by: 'person:eve', verdict: 'approved' }))
    .thenRefuses('approval_decided');
});

test('[VER-6] a person is asked again where nobody has decided for as long as one is asked', () => {
  const { facts } = waiting();
  const again = routeChangeset({ changeset_id: ID, is_person: false });
  const soon = given(...facts)
    .at(NOON_MS + ASKED_MS - 1)
    .when(again);
  assert.deepEqual(said(soon.facts), [], 'it still waits');
  const late = given(...facts)
    .at(NOON_MS + ASKED_MS)
    .when(again);
  assert.ok(said(late.facts)?.includes('approval/approval_requested'));
});
