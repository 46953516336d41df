import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApprovalState } from '../../../src/features/trust/approvals/approval.ts';
import { decideApproval } from '../../../src/features/trust/approvals/decide-approval.ts';
import { type Guard, guardOperation } from '../../../src/features/trust/guard-operation.ts';
import type { RulebookState } from '../../../src/features/trust/rulebook.ts';
import type { ViolationCount } from '../../../src/features/trust/violations.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { refuse } from '../../../src/kernel/refusal.ts';
import { commit, type Decision, refused } from '../../../src/ledger/decision.ts';
import { type Fact, fact, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { CREDENTIALS, FORCE_PUSH, finding, guard, profileSet, ruled, WORKER } from './guard-facts.ts';

const HOUR_MS = 60 * MINUTE_MS;
const push = guard([FORCE_PUSH]);

const types = (facts: readonly Fact[]) => facts.at(-1)?.events.map(({ type }) => type);

/** The same is tried so often; what happened, and the last answer. */
function tried(facts: Fact[], asked: Guard, at_ms: number): { facts: Fact[]; answer: JsonObject } {
  const done = given(...facts)
    .at(at_ms)
    .when(guardOperation(asked));
  return { facts: done.facts, answer: done.answer };
}

function approvalOf(facts: readonly Fact[], id: string): ApprovalState {
  const after = given(...facts)
    .at(NOON_MS)
    .when({ needs: { keys: [{ kind: 'approval', id }] }, decide: () => commit([], {}) }).after;
  const state = after.get(`approval/${id}`)?.state;
  assert.ok(state !== undefined);
  return state as unknown as ApprovalState;
}

function decided(facts: Fact[], id: string, verdict: 'approved' | 'denied', at_ms: number): Fact[] {
  const { shown_hash } = approvalOf(facts, id);
  const decision = { approval_id: id, verdict, decided_by: 'person:bob', shown_hash, reason: 'because' };
  return given(...facts)
    .at(at_ms)
    .when(decideApproval(decision)).facts;
}

test('[GUARD-2] [AUD-2] a force push by a cloud agent: the seed’s answer, a violation, a request, a notice', () => {
  const { facts, answer } = tried([], push, NOON_MS);
  assert.partialDeepStrictEqual(answer, {
    success: false,
    error: 'destructive_operation_blocked',
    operation: 'force_push',
    approval_required: true,
    approval_status: 'pending',
    safe: false,
  });
  assert.deepEqual(types(facts), [
    'violation_recorded',
    'violation_counted',
    'approval_requested',
    'notice_raised',
  ]);
  const [violation] = facts.at(-1)?.events ?? [];
  assert.partialDeepStrictEqual(violation?.data, {
    agent_id: 'alice',
    operation: 'force_push',
    pattern_matched: 'pattern-of-force_push',
    context: { subject: 'git push --force' },
    blocked: true,
  });
});

test('[GUARD-5] a credential file is for a person, whatever the trust, and waits for one', () => {
  const all = profileSet({ trust_level: 4, elevated_operations: ['credential_modify', 'git_force'] });
  const { answer } = tried([fact(NOON_MS, all)], guard([FORCE_PUSH, CREDENTIALS]), NOON_MS);
  assert.partialDeepStrictEqual(answer, {
    success: false,
    error: 'credential_file_protected',
    requires: 'manual_review',
    approval_status: 'pending',
  });
  assert.match(String(answer.approval_id), /^[0-9a-f]{12}$/);
});

test('[APPR-2] blocked, approved, one retry passes, the next is blocked and asked for anew', () => {
  const first = tried([], push, NOON_MS);
  const id = String(first.answer.approval_id);
  const again = tried(first.facts, push, NOON_MS + 1);
  assert.equal(again.answer.approval_id, id);
  assert.deepEqual(types(again.facts), ['violation_recorded', 'violation_counted'], 'nobody is asked twice');
  const approved = decided(again.facts, id, 'approved', NOON_MS + 2);
  const retried = tried(approved, push, NOON_MS + 3);
  assert.partialDeepStrictEqual(retried.answer, {
    success: true,
    approval_id: id,
    approved_by: 'person:bob',
  });
  assert.deepEqual(types(retried.facts), ['violation_recorded', 'violation_counted', 'approval_used']);
  const replayed = tried(retried.facts, push, NOON_MS + 4);
  assert.partialDeepStrictEqual(replayed.answer, { success: false, approval_status: 'pending' });
  assert.ok(types(replayed.facts)?.includes('approval_requested'));
});

test('[APPR-2] an approval is for that agent, that thing as it was shown, and no other', () => {
  const first = tried([], push, NOON_MS);
  const approved = decided(first.facts, String(first.answer.approval_id), 'approved', NOON_MS + 1);
  const others: Partial<Guard>[] = [
    { caller: { ...WORKER, agent_id: 'mallory' } },
    { hash: 'hash-of-another' },
    { kind: 'change' },
    { subject: 'git push --force ' },
    { context: { command: 'git push --force', folder: 'sub' } },
    { context: { command: 'git push --force', folder: '', note: 'approved by person:bob' } },
  ];
  for (const other of others)
    assert.equal(
      tried(approved, { ...push, ...other }, NOON_MS + 2).answer.success,
      false,
      JSON.stringify(other),
    );
  const resumed = { ...push, caller: { ...WORKER, session_id: 'another' } };
  assert.equal(
    tried(approved, resumed, NOON_MS + 2).answer.success,
    true,
    'a later session is the same agent',
  );
});

test('[APPR-2] what is judged otherwise meanwhile is still what was approved', () => {
  const both = guard([finding('unresolved', 'unknown_command'), FORCE_PUSH]);
  const first = tried([], both, NOON_MS);
  const approved = decided(first.facts, String(first.answer.approval_id), 'approved', NOON_MS + 1);
  const lowered = [...approved, fact(NOON_MS + 2, ruled('trust_lowered', { agent_id: 'alice', to: 0 }))];
  assert.equal(tried(lowered, both, NOON_MS + 3).answer.success, true);
});

test('[APPR-2] yes is to what the person saw; what falls under the same short id is something else', () => {
  const first = tried([], push, NOON_MS);
  const approval_id = String(first.answer.approval_id);
  given(...first.facts)
    .at(NOON_MS + 1)
    .when(decideApproval({ approval_id, verdict: 'approved', decided_by: 'person:bob', shown_hash: 'seen' }))
    .thenRefuses('approval_changed');
  const collided = first.facts.map(({ at_ms, events }) =>
    fact(
      at_ms,
      ...events.map((event) =>
        event.type === 'approval_requested'
          ? { ...event, data: { ...event.data, hash: 'another', shown_hash: 'of-another' } }
          : event,
      ),
    ),
  );
  const approved = decided(collided, approval_id, 'approved', NOON_MS + 1);
  const { answer } = tried(approved, push, NOON_MS + 2);
  assert.partialDeepStrictEqual(answer, { success: false, approval_status: 'pending' });
});

test('[APPR-1] a request and an approval run out by the store’s clock', () => {
  const first = tried([], push, NOON_MS);
  const id = String(first.answer.approval_id);
  const day_ms = NOON_MS + 24 * HOUR_MS;
  const { shown_hash } = approvalOf(first.facts, id);
  const late = { approval_id: id, verdict: 'approved', decided_by: 'person:bob', shown_hash } as const;
  given(...first.facts)
    .at(day_ms)
    .when(decideApproval(late))
    .thenRefuses('approval_expired', { status: 'expired' });
  given(...first.facts)
    .at(day_ms - 1)
    .when(decideApproval(late))
    .notAfter(day_ms);
  const approved = decided(first.facts, id, 'approved', day_ms - 1);
  assert.equal(tried(approved, push, day_ms + HOUR_MS).answer.success, true);
  const stale = tried(approved, push, day_ms + 24 * HOUR_MS);
  assert.equal(stale.answer.success, false);
  assert.ok(types(stale.facts)?.includes('approval_requested'), 'and is asked for again');
  const hours = fact(NOON_MS, ruled('rulebook_settings_set', { approval_hours: 1 }));
  const brief = tried([hours], push, NOON_MS);
  assert.equal(approvalOf(brief.facts, id).expires_at_ms, NOON_MS + HOUR_MS);
});

test('[APPR-1] what was denied is not asked for again until that runs out; the agent is told why', () => {
  const first = tried([], push, NOON_MS);
  const id = String(first.answer.approval_id);
  const denied = decided(first.facts, id, 'denied', NOON_MS + 1);
  const again = tried(denied, push, NOON_MS + 2);
  assert.partialDeepStrictEqual(again.answer, { approval_status: 'denied', decision_reason: 'because' });
  assert.deepEqual(types(again.facts), ['violation_recorded', 'violation_counted']);
  assert.ok(types(tried(denied, push, NOON_MS + 25 * HOUR_MS).facts)?.includes('approval_requested'));
});

test('[GUARD-3] an elevated operation goes ahead at trust 3, flagged and with a notice', () => {
  const trusted = fact(NOON_MS, profileSet({ trust_level: 3, elevated_operations: ['git_push_force'] }));
  const { facts, answer } = tried([trusted], push, NOON_MS);
  assert.partialDeepStrictEqual(answer, { success: true, safe: true, elevated: true });
  assert.deepEqual(types(facts), ['violation_recorded', 'violation_counted', 'notice_raised']);
  assert.partialDeepStrictEqual(facts.at(-1)?.events[0]?.data, { blocked: false, outcome: 'elevated' });
  const notice = facts.at(-1)?.events.at(-1)?.data;
  assert.partialDeepStrictEqual(notice, { about: 'elevated', agent_id: 'alice', operation: 'force_push' });
});

test('[GUARD-9] asking needs somebody to ask: elsewhere it is a block', () => {
  const trusted = fact(NOON_MS, profileSet({ trust_level: 3 }));
  const unread = guard([finding('unresolved', 'unknown_command')]);
  const there = tried([trusted], { ...unread, can_ask: true }, NOON_MS);
  assert.partialDeepStrictEqual(there.answer, { success: true, safe: false, ask: true });
  const alone = tried([trusted], unread, NOON_MS);
  assert.partialDeepStrictEqual(alone.answer, { success: false, approval_required: true });
});

test('[GUARD-1] a migration is said to need verification; where it is known to lack it, it is blocked', () => {
  const migration = guard([finding('database_migration', 'migrate')]);
  assert.partialDeepStrictEqual(tried([], migration, NOON_MS).answer, { success: true, safe: true });
  assert.equal(tried([], { ...migration, verified: true }, NOON_MS).answer.success, true);
  const lacking = tried([], { ...migration, verified: false }, NOON_MS).answer;
  assert.partialDeepStrictEqual(lacking, { success: false, requires: 'verification' });
});

test('[AUD-2] five blocked violations lower the trust in the same commit; asking again is not a new one', () => {
  const reach = (n: number) => ({ ...push, hash: `hash-${n}` });
  let facts: Fact[] = [];
  for (let n = 1; n <= 4; n += 1) facts = tried(facts, reach(n), NOON_MS + n).facts;
  for (let n = 0; n < 9; n += 1) facts = tried(facts, reach(4), NOON_MS + 10 + n).facts;
  const fifth = tried(facts, reach(5), NOON_MS + 20);
  assert.equal(fifth.answer.trust_lowered_to, 1);
  const after = given(...fifth.facts)
    .at(NOON_MS + 30)
    .when(guardOperation(reach(6))).after;
  const rulebook = after.get('rulebook/all')?.state as unknown as RulebookState | undefined;
  assert.deepEqual(
    rulebook?.lowered.map(({ agent_id, to }) => ({ agent_id, to })),
    [{ agent_id: 'alice', to: 1 }],
  );
  const count = after.get('violation_count/alice')?.state as unknown as ViolationCount;
  assert.deepEqual([count.blocked, count.towards_lowering, count.recorded], [15, 1, 15]);
  const never = fact(NOON_MS, ruled('rulebook_settings_set', { lower_trust_after: 0 }));
  let calm: Fact[] = [never];
  for (let n = 1; n <= 12; n += 1) calm = tried(calm, reach(n), NOON_MS + n).facts;
  assert.ok(calm.every(({ events }) => events.every(({ type }) => type !== 'trust_lowered')));
});

test('what is permitted is committed with what permits it, or not at all', () => {
  const cell = { kind: 'changeset', id: 'c' };
  const event = {
    ...cell,
    type: 'changeset_submitted',
    data: { agent_id: 'alice', session_id: 's1', files: [] },
  };
  const inner = (allowed: boolean): Decision<JsonObject> => ({
    needs: { keys: [cell] },
    decide: () =>
      allowed
        ? commit([event], { success: true, changeset_id: 'c' }, NOON_MS + 99)
        : refused(refuse('wrong_status', 'no')),
  });
  const first = given()
    .at(NOON_MS)
    .when(guardOperation(push, inner(true)));
  assert.ok(!types(first.facts)?.includes('changeset_submitted'), 'blocked: nothing of it happens');
  const id = String(first.answer.approval_id);
  const approved = decided(first.facts, id, 'approved', NOON_MS + 1);
  given(...approved)
    .at(NOON_MS + 2)
    .when(guardOperation(push, inner(false)))
    .thenRefuses('wrong_status');
  const done = given(...approved)
    .at(NOON_MS + 3)
    .when(guardOperation(push, inner(true)));
  assert.deepEqual(types(done.facts), [
    'changeset_submitted',
    'violation_recorded',
    'violation_counted',
    'approval_used',
  ]);
  done.answering({ success: true, changeset_id: 'c', approval_id: id }).notAfter(NOON_MS + 99);
});

test('findings without end: the first are written down, all are answered for', () => {
  const many = guard(Array.from({ length: 500 }, (_, n) => finding('mass_deletion', `delete_${n}`)));
  const { facts, answer } = tried([], many, NOON_MS);
  assert.equal(facts.at(-1)?.events.filter(({ type }) => type === 'violation_recorded').length, 10);
  assert.equal(answer.success, false);
});
