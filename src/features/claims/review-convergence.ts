import type { JsonObject } from '../../kernel/json.ts';
import { commit, type Decision } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type ApprovalState, conclusionOf, type PersonsDecision } from '../trust/approvals/index.ts';
import { type ClaimRecord, type ClaimState, claimEvent, claimKey, NEVER_MS } from './edge-claim.ts';
import { type EscalatedConvergence, escalatedIn } from './escalation.ts';

/**
 * Carries out a person's decision about an escalated convergence in one commit: the approval is decided, and
 * the edge has converged or stays with its holder. If the claim has changed hands meanwhile, it is not what
 * was asked about.
 */
export function reviewConvergence(approval: ApprovalState, decided: PersonsDecision): Decision<JsonObject> {
  const asked = escalatedIn(approval);
  const key = claimKey(asked.feature, asked.edge);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<ClaimState>(key);
      const { feature, edge } = asked;
      const queue = conclusionOf(approval, decided);
      const until_ms = approval.expires_at_ms;
      // Whatever ends or replaces a grant removes its question too.
      if (record?.state.escalation?.approval_id !== decided.approval_id) {
        const message = `The grant of ${edge} on ${feature} that asked is over: nothing was converged.`;
        const answer = { success: true, status: 'superseded', feature, edge, message };
        return commit(queue, answer, until_ms);
      }
      const review = reviewEvent(record, asked, decided, now_ms);
      if (decided.verdict === 'denied')
        return commit([...queue, review], { success: true, status: 'rejected', feature, edge }, until_ms);
      const { agent_role, iteration, evaluators, convergence_type } = asked;
      const converged = claimEvent(asked, 'edge_converged', {
        agent_id: approval.requested_by,
        agent_role,
        iteration,
        evaluators,
        convergence_type,
        approved_by: decided.decided_by,
      });
      const answer = { success: true, status: 'converged', feature, edge };
      return commit([...queue, review, converged], answer, until_ms);
    },
  };
}

/** Its time was stopped: a holder that is sent back has as much time left as after its last sign of life. */
function reviewEvent(
  { state }: ClaimRecord,
  asked: EscalatedConvergence,
  { verdict, decided_by, reason }: PersonsDecision,
  now_ms: number,
): EventBody {
  const { lease, last_active_ms } = state;
  const isTimed = lease !== undefined && lease.expires_at_ms < NEVER_MS;
  const left = isTimed
    ? { lease: { ...lease, expires_at_ms: now_ms + lease.expires_at_ms - last_active_ms } }
    : {};
  return claimEvent(asked, 'review_completed', {
    decision: verdict === 'approved' ? 'approved' : 'rejected',
    feedback: reason ?? '',
    reviewed_by: decided_by,
    ...(verdict === 'denied' ? left : {}),
  });
}
