import { isoTime } from '../../../kernel/clock.ts';
import { isOver } from '../../../ledger/lease.ts';
import type { ClaimRules } from '../claim-rules.ts';
import type { ClaimState } from '../edge-claim.ts';
import type { TakenEdge } from './feature.ts';

/** A claim as routing sees it now: an expired lease holds nothing. */
export function takenOf(claim: ClaimState, { stale_ms }: ClaimRules, now_ms: number): TakenEdge {
  const { feature, edge, lease, escalation, converged, last_active_ms, stale_since_ms } = claim;
  const base = { feature, edge, last_active_ms };
  if (lease === undefined || isOver(lease, now_ms)) return { ...base, converged: converged !== undefined };
  const { agent_id } = lease;
  const isStale = stale_since_ms !== undefined || now_ms - last_active_ms >= stale_ms;
  const waits =
    escalation !== undefined
      ? `the convergence by ${agent_id} waits for approval ${escalation.approval_id}`
      : isStale
        ? `claimed by ${agent_id}, of whom nothing was heard since ${isoTime(last_active_ms)}`
        : undefined;
  return { ...base, agent_id, ...(waits === undefined ? {} : { waits }) };
}
