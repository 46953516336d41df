import type { JsonObject } from '../../../kernel/json.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, need, refused, type Verdict } from '../../../ledger/decision.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { Step } from '../../../runtime/operation.ts';
import { defineService } from '../../../runtime/service.ts';
import { type ApprovalRecord, type ApprovalState, approvalEvent, approvalKey, statusAt } from './approval.ts';

export interface PersonsDecision {
  readonly approval_id: string;
  readonly verdict: 'approved' | 'denied';
  /** The name of the person; the door has proven that it is a person. */
  readonly decided_by: string;
  /** What the person saw: a decision does not cover what has changed since. */
  readonly shown_hash?: string | undefined;
  readonly reason?: string | undefined;
}

/** What a decision about this kind of thing brings about at once; it then also logs the decision. */
export type Consequence = (
  approval: ApprovalState,
  decided: PersonsDecision,
) => Decision<JsonObject> | undefined;

/**
 * What else comes with a person's decision. The slices whose things are approved declare it, and the registry
 * collects it.
 */
export interface ApprovalConsequences {
  readonly decide: Consequence;
  /** After the commit: the answer, with the outcome added. */
  afterwards(answer: JsonObject, step: Step): Promise<JsonObject>;
}

export const consequencesService =
  defineService<() => Promise<ApprovalConsequences>>('approval consequences');

export function decideApproval(decided: PersonsDecision, consequence?: Consequence): Decision<JsonObject> {
  const { approval_id, verdict, decided_by, reason } = decided;
  const key = approvalKey(approval_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<ApprovalState>(key);
      if (record === undefined) return refused(unknownApproval(approval_id));
      const problem = undecidable(record, decided, now_ms);
      if (problem !== undefined) return refused(problem);
      const follows = consequence?.(record.state, decided);
      if (follows !== undefined) return decideWith(follows, record, decided, loaded, now_ms);
      const event = approvalEvent(approval_id, `approval_${verdict}`, {
        decided_by,
        decision_reason: reason,
      });
      return commit([event], decidedAnswer(record, decided), record.state.expires_at_ms);
    },
  };
}

function decidedAnswer(
  { state }: ApprovalRecord,
  { approval_id, verdict, decided_by }: PersonsDecision,
): JsonObject {
  const { operation, subject, requested_by } = state;
  return { success: true, approval_id, status: verdict, operation, subject, requested_by, decided_by };
}

function decideWith(
  follows: Decision<JsonObject>,
  record: ApprovalRecord,
  decided: PersonsDecision,
  loaded: Loaded,
  now_ms: number,
): Verdict<JsonObject> {
  const missing = (follows.needs.keys ?? []).filter((key) => !loaded.hasKey(key));
  if (missing.length > 0) return need({ keys: missing });
  const verdict = follows.decide(loaded, now_ms);
  if (verdict.verdict !== 'commit') return verdict;
  const { success: _, status, ...rest } = verdict.answer;
  return { ...verdict, answer: { ...decidedAnswer(record, decided), ...rest, outcome: status } };
}

/** For what is done at once: the permission is used in the same decision that gives it. */
export function conclusionOf(
  { requested_by: agent_id, session_id }: ApprovalState,
  { approval_id, verdict, decided_by, reason: decision_reason }: PersonsDecision,
): EventBody[] {
  const said = { decided_by, decision_reason };
  if (verdict === 'denied') return [approvalEvent(approval_id, 'approval_denied', said)];
  return [
    approvalEvent(approval_id, 'approval_approved', said),
    approvalEvent(approval_id, 'approval_used', { agent_id, session_id }),
  ];
}

export function unknownApproval(approval_id: string): Refusal {
  return refuse('unknown_approval', `There is no approval ${approval_id}.`, { approval_id });
}

function undecidable(
  { id, state }: ApprovalRecord,
  { decided_by, shown_hash, verdict }: PersonsDecision,
  now_ms: number,
): Refusal | undefined {
  const status = statusAt(state, now_ms);
  const about = { approval_id: id, status };
  if (state.requested_by === decided_by)
    return refuse('forbidden', 'Nobody decides about what they asked for themselves.', about);
  if (status === 'expired') return refuse('approval_expired', `Approval ${id} has run out.`, about);
  if (status !== 'pending') {
    const by = { ...about, decided_by: state.decided_by };
    return refuse('approval_decided', `Approval ${id} is ${status} already, by ${state.decided_by}.`, by);
  }
  // A no holds whatever it was about; a yes only covers what was seen.
  if (verdict === 'denied' && shown_hash === undefined) return undefined;
  if (shown_hash !== state.shown_hash)
    return refuse('approval_changed', `Approval ${id} is not about what you were shown.`, about);
  return undefined;
}
