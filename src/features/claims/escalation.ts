import { sha256 } from '../../kernel/hash.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type EventBody, nextVersion } from '../../ledger/entity.ts';
import type { Lease } from '../../ledger/lease.ts';
import { type ApprovalState, noticeEvent, requestEvent, wanted } from '../trust/approvals/index.ts';
import { type ClaimContext, named } from './claim-context.ts';
import { normEdge } from './edge.ts';
import { claimEvent, claimId } from './edge-claim.ts';

export const CONVERGENCE_APPROVAL = 'convergence';

/** How long a person is asked. Converging again after that asks again. */
const ASKED_MS = limits.approval_hours_max * 3600 * 1000;

/** What is logged about the convergence once a person has approved it. */
export interface Converging {
  readonly iteration?: number | undefined;
  readonly evaluators?: string | undefined;
  readonly convergence_type?: string | undefined;
}

/** What the approval in the queue stores about the convergence it stands for. */
export interface EscalatedConvergence extends Converging {
  readonly feature: string;
  readonly edge: string;
  readonly agent_role?: string | undefined;
  readonly fencing_token: number;
  readonly reason: string;
}

/**
 * The convergence waits, the question is queued and people are notified: all in one commit, or none of it.
 */
export function escalationOf(
  scene: ClaimContext,
  lease: Lease,
  reason: string,
  converging: Converging,
): { readonly approval_id: string; readonly events: EventBody[] } {
  const { command, caller, record, agent_role, now_ms } = scene;
  const about = named(command);
  const version = nextVersion(record, now_ms);
  const context: EscalatedConvergence = {
    ...about,
    agent_role,
    fencing_token: lease.token,
    reason,
    ...converging,
  };
  const shown = {
    kind: CONVERGENCE_APPROVAL,
    operation: 'converge_edge',
    findings: [],
    subject: `${about.edge} on ${about.feature} by ${caller.agent_id}: ${reason}`,
    context: { ...context } as JsonObject,
    requested_by: caller.agent_id,
    // For this attempt only: a person's no does not answer the next attempt.
    hash: sha256(`${CONVERGENCE_APPROVAL}\n${claimId(command.feature, command.edge)}\n${version}`),
  };
  const want = wanted(shown, ASKED_MS);
  const { operation, subject } = shown;
  const notice = { about: 'approval' as const, operation, subject, approval_id: want.id };
  const events = [
    claimEvent(command, 'convergence_escalated', {
      agent_id: caller.agent_id,
      agent_role,
      reason,
      action: 'escalate',
      norm_edge: normEdge(command.edge),
      approval_id: want.id,
      asked_until_ms: now_ms + ASKED_MS,
    }),
    requestEvent(want, caller),
    noticeEvent(`${CONVERGENCE_APPROVAL}\n${want.id}`, caller, notice),
  ];
  return { approval_id: want.id, events };
}

export function escalatedIn({ context }: Pick<ApprovalState, 'context'>): EscalatedConvergence {
  return context as unknown as EscalatedConvergence;
}
