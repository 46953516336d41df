import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimCommand } from '../../../src/features/claims/acting.ts';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import {
  claimEdge,
  convergeEdge,
  heartbeatClaim,
  releaseEdge,
} from '../../../src/features/claims/commands.ts';
import type { ClaimState } from '../../../src/features/claims/edge-claim.ts';
import {
  type ApprovalState,
  approvalEvent,
  approvalKey,
} from '../../../src/features/trust/approvals/approval.ts';
import type { PersonsDecision } from '../../../src/features/trust/approvals/decide-approval.ts';
import { shownHash } from '../../../src/features/trust/approvals/request-approval.ts';
import { decideApproval as decide } from '../../../src/features/trust/commands.ts';
import { keyText } from '../../../src/ledger/entity.ts';
import { consequence } from '../../../src/runtime/approval-consequences.ts';
import { type Fact, folded, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { ABOUT, agent, by, RULES, told } from './claim-facts.ts';

const decideApproval = (decided: PersonsDecision) => decide(decided, consequence);

const LATER_MS = NOON_MS + MINUTE_MS;
const TTL = { ...RULES, ttl_ms: 60 * MINUTE_MS };
const CLAIM = 'claim/REQ-F-1#design_code';

/** Bob may not converge this edge, tries it at noon, and has to wait for a person. */
function escalated(command: ClaimCommand = by('bob', 'tdd_engineer')) {
  const started = given().at(NOON_MS).when(claimEdge(command)).facts;
  const converging = { ...command, evaluators: '2/2', iteration: 3 };
  const asked = given(...started)
    .at(NOON_MS + 1)
    .when(convergeEdge(converging));
  const approval_id = asked.answer.approval_id as string;
  return { asked, facts: asked.facts, approval_id };
}

const approvalIn = (facts: readonly Fact[], approval_id: string) =>
  folded(facts).get(keyText(approvalKey(approval_id)))?.state as unknown as ApprovalState;
const claimIn = (facts: readonly Fact[]) => folded(facts).get(CLAIM)?.state as unknown as ClaimState;

function decided(
  facts: readonly Fact[],
  approval_id: string,
  verdict: 'approved' | 'denied',
  at_ms = LATER_MS,
) {
  const { shown_hash } = approvalIn(facts, approval_id);
  const decision = { approval_id, verdict, shown_hash, decided_by: 'person:eve', reason: 'looked at it' };
  return given(...facts)
    .at(at_ms)
    .when(decideApproval(decision));
}

test('[CLAIM-5] outside the role a convergence waits for a person, in one commit with the question and the notice', () => {
  const { asked, facts, approval_id } = escalated();
  asked.answering({
    success: false,
    action: 'convergence_escalated',
    agent_role: 'tdd_engineer',
    ...ABOUT,
  });
  const events = facts.at(-1)?.events ?? [];
  assert.deepEqual(
    events.map(({ type }) => type),
    ['convergence_escalated', 'approval_requested', 'notice_raised'],
  );
  assert.partialDeepStrictEqual(events[0]?.data, {
    agent_role: 'tdd_engineer',
    action: 'escalate',
    norm_edge: 'design_code',
    approval_id,
  });
  assert.equal(claimIn(facts).lease?.agent_id, 'bob', 'the claim stays held');
  const approval = approvalIn(facts, approval_id);
  assert.equal(shownHash(JSON.parse(JSON.stringify(approval)) as ApprovalState), approval.shown_hash);
});

test('[CLAIM-5] without a file only full_stack converges among many; a role that nobody defined nothing', () => {
  const trying = (agent_role: string | undefined, rules = DEFAULT_RULES) => {
    const command = by('bob', agent_role, { rules });
    const facts = given().at(NOON_MS).when(claimEdge(command)).facts;
    return given(...facts)
      .at(LATER_MS)
      .when(convergeEdge(command)).answer.action;
  };
  assert.equal(trying('full_stack'), 'edge_converged');
  for (const role of ['architect', undefined, 'constructor', '__proto__', 'toString', 'all'])
    assert.equal(trying(role), 'convergence_escalated', role);
  assert.equal(trying('architect', RULES), 'edge_converged');
  assert.equal(trying('nobody_defined_it', RULES), 'convergence_escalated');
});

test('[CLAIM-5] the file may reject or only warn; what is a person’s stays a person’s', () => {
  const trying = (outside_authority_action: 'reject' | 'warn', more: Partial<ClaimCommand> = {}) => {
    const rules = { ...RULES, outside_authority_action };
    const command = by('bob', 'tdd_engineer', { rules, ...more });
    const facts = given().at(NOON_MS).when(claimEdge(command)).facts;
    return given(...facts)
      .at(LATER_MS)
      .when(convergeEdge(command));
  };
  trying('reject').thenRefuses('outside_authority');
  trying('warn').answering({
    action: 'edge_converged',
    warnings: ['The role tdd_engineer does not converge design_code.'],
  });
  for (const action of ['reject', 'warn'] as const)
    trying(action, { edge: 'UAT', agent_role: 'full_stack' }).answering({ action: 'convergence_escalated' });
});

test('[CLAIM-5] an approval converges it, in one commit', () => {
  const { facts, approval_id } = escalated();
  const approved = decided(facts, approval_id, 'approved')
    .thenCommits(
      approvalEvent(approval_id, 'approval_approved', { decided_by: 'person:eve' }),
      approvalEvent(approval_id, 'approval_used', { agent_id: 'bob' }),
      told('review_completed', { decision: 'approved', feedback: 'looked at it', reviewed_by: 'person:eve' }),
      told('edge_converged', {
        agent_id: 'bob',
        agent_role: 'tdd_engineer',
        evaluators: '2/2',
        iteration: 3,
        approved_by: 'person:eve',
      }),
    )
    .answering({ success: true, status: 'approved', outcome: 'converged', ...ABOUT });
  const claim = claimIn(approved.facts);
  assert.equal(claim.lease, undefined);
  assert.equal(claim.converged?.approved_by, 'person:eve');
});

test('[CLAIM-5] a no leaves it with its holder, who may try again and is asked about anew', () => {
  const { facts, approval_id } = escalated();
  const denied = decided(facts, approval_id, 'denied')
    .thenCommits(
      approvalEvent(approval_id, 'approval_denied', { decided_by: 'person:eve' }),
      told('review_completed', { decision: 'rejected', reviewed_by: 'person:eve' }),
    )
    .answering({ status: 'denied', outcome: 'rejected' });
  assert.equal(claimIn(denied.facts).lease?.agent_id, 'bob');
  const again = given(...denied.facts)
    .at(LATER_MS + 1)
    .when(convergeEdge(by('bob')))
    .answering({ action: 'convergence_escalated' });
  assert.notEqual(again.answer.approval_id, approval_id);
});

test('[CLAIM-5] while a person is asked, asking again asks nobody; once that has run out it does', () => {
  const { facts, approval_id } = escalated();
  const again = (at_ms: number) =>
    given(...facts)
      .at(at_ms)
      .when(convergeEdge(by('bob')));
  again(LATER_MS).thenRefuses('convergence_escalated', { approval_id });
  const over_ms = approvalIn(facts, approval_id).expires_at_ms;
  again(over_ms - 1).thenRefuses('convergence_escalated', { approval_id });
  assert.notEqual(again(over_ms).answer.approval_id, approval_id);
});

test('[CLAIM-5] what has changed hands meanwhile is not converged by an approval, which says so', () => {
  const { facts, approval_id } = escalated();
  const freed = given(...facts)
    .at(LATER_MS)
    .when(releaseEdge(by('bob'))).facts;
  const moved = given(...freed)
    .at(LATER_MS)
    .when(claimEdge(by('carol', 'tdd_engineer'))).facts;
  const back = given(...freed)
    .at(LATER_MS)
    .when(claimEdge(by('bob', 'tdd_engineer'))).facts;
  const caller = { ...agent('bob'), session_id: 'bob-2' };
  const elsewhere = given(...facts)
    .at(LATER_MS)
    .when(claimEdge(by('bob', 'tdd_engineer', { caller }))).facts;
  const asksAnew = given(...back)
    .at(LATER_MS)
    .when(convergeEdge(by('bob'))).facts;
  for (const [name, now] of Object.entries({ freed, moved, back, elsewhere, asksAnew }))
    for (const verdict of ['approved', 'denied'] as const) {
      const late = decided(now, approval_id, verdict, LATER_MS + 1).answering({ outcome: 'superseded' });
      assert.match(String(late.answer.message), /nothing was converged/, name);
      assert.deepEqual(claimIn(late.facts), claimIn(now), name);
    }
});

test('[CLAIM-4] [CLAIM-5] a hard end stands still while a person thinks, and goes on after a no', () => {
  const { facts, approval_id } = escalated(by('bob', 'tdd_engineer', { rules: TTL }));
  const days_ms = NOON_MS + 72 * 60 * MINUTE_MS;
  given(...facts)
    .at(days_ms)
    .when(claimEdge(by('carol', undefined, { rules: TTL })))
    .answering({ action: 'claim_rejected' });
  assert.equal(claimIn(decided(facts, approval_id, 'approved', days_ms).facts).lease, undefined);
  const denied = decided(facts, approval_id, 'denied', days_ms).facts;
  assert.equal(claimIn(denied).lease?.expires_at_ms, days_ms + 60 * MINUTE_MS - 1);
  // A sign while it waits gives it the time of a sign, and no more.
  const beaten = given(...facts)
    .at(days_ms - 1)
    .when(heartbeatClaim(by('bob', undefined, { rules: TTL }))).facts;
  const late = decided(beaten, approval_id, 'denied', days_ms).facts;
  assert.equal(claimIn(late).lease?.expires_at_ms, days_ms + 60 * MINUTE_MS);
  const forgotten_ms = approvalIn(facts, approval_id).expires_at_ms;
  given(...facts)
    .at(forgotten_ms)
    .when(claimEdge(by('carol', undefined, { rules: TTL })))
    .answering({ action: 'edge_started' });
});

test('[CLAIM-5] the wrong person, another hash: nothing', () => {
  const { facts, approval_id } = escalated();
  const decision = {
    approval_id,
    verdict: 'approved',
    shown_hash: 'other',
    decided_by: 'person:eve',
  } as const;
  given(...facts)
    .at(LATER_MS)
    .when(decideApproval(decision))
    .thenRefuses('approval_changed');
  const { shown_hash } = approvalIn(facts, approval_id);
  given(...facts)
    .at(LATER_MS)
    .when(decideApproval({ ...decision, shown_hash, decided_by: 'bob' }))
    .thenRefuses('forbidden');
});
