import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused, type Verdict } from '../../ledger/decision.ts';
import type { Lease } from '../../ledger/lease.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { ClaimCommand } from './acting.ts';
import {
  type ClaimContext,
  commitUnder,
  deadline_ms,
  decideOnClaim,
  expiresAt,
  named,
  newLease,
  renewed,
  startEvents,
  superseded,
} from './claim-context.ts';
import { mayConverge } from './claim-rules.ts';
import { CLAIM, type ClaimState, claimEvent, claimId, takenReason } from './edge-claim.ts';
import { isIdle } from './stale-claims.ts';

export interface ClaimEdge extends ClaimCommand {
  /** The caller will wait if the edge is held, so nothing is logged about the rejection yet. */
  readonly tentative?: boolean | undefined;
}

/**
 * Free: started. Held by the caller: renewed. Held by another agent: rejected; a rejection is logged like any
 * other fact.
 */
export function claimEdge(command: ClaimEdge): Decision<JsonObject> {
  return decideOnClaim(command, (scene) => {
    const { current } = scene;
    switch (current.standing) {
      case 'superseded':
        return refused(superseded(scene, current.lease));
      case 'taken':
        return command.tentative === true
          ? refused(rejection(scene, current.lease))
          : reject(scene, current.lease);
      case 'mine':
        return again(scene, current.lease);
      case 'free':
        return start(scene);
    }
  });
}

function start(scene: ClaimContext): Verdict<JsonObject> {
  const lease = newLease(scene);
  const warnings = warningsOf(scene);
  const answer = { ...granted(scene, lease), ...(warnings.length === 0 ? {} : { warnings }) };
  // What has expired stays expired: nothing that this commit relies on can end in the meantime.
  return commit(startEvents(scene, lease), answer);
}

function again(scene: ClaimContext, held: Lease): Verdict<JsonObject> {
  const { command, caller, record } = scene;
  if (record === undefined) throw new Error('a lease without a record');
  const lease = renewed(scene, record, held);
  const event = claimEvent(command, 'claim_renewed', { agent_id: caller.agent_id, lease: { ...lease } });
  return commitUnder({ lease: held, events: [] }, [event], { ...granted(scene, lease), renewed: true });
}

function granted({ command, caller, agent_role }: ClaimContext, lease: Lease): JsonObject {
  return {
    success: true,
    action: 'edge_started',
    ...named(command),
    agent_id: caller.agent_id,
    agent_role: agent_role ?? null,
    fencing_token: lease.token,
    claimed_at: isoTime(lease.granted_at_ms),
    expires_at: expiresAt(lease),
  };
}

function reject(scene: ClaimContext, lease: Lease): Verdict<JsonObject> {
  const { command, caller, agent_role } = scene;
  const event = claimEvent(command, 'claim_rejected', {
    agent_id: caller.agent_id,
    agent_role,
    reason: takenReason(lease),
    held_by: lease.agent_id,
  });
  return commit([event], rejection(scene, lease), deadline_ms(lease));
}

function rejection({ command, record, now_ms }: ClaimContext, lease: Lease): Refusal {
  const about = named(command);
  const state = record?.state;
  const last_active_ms = state?.last_active_ms ?? lease.granted_at_ms;
  const stale = isIdle({ last_active_ms }, command.rules, now_ms);
  const silent = stale ? ' It has been silent for long; a person can release it.' : '';
  return refuse('claim_rejected', `${about.edge} on ${about.feature} is ${takenReason(lease)}.${silent}`, {
    ...about,
    reason: takenReason(lease),
    held_by: lease.agent_id,
    held_role: state?.agent_role ?? null,
    claimed_at: isoTime(lease.granted_at_ms),
    last_active: isoTime(last_active_ms),
    expires_at: expiresAt(lease),
    stale,
  });
}

/** What the claimant should know before it begins. */
function warningsOf({ command, record, agent_role }: ClaimContext): string[] {
  const { rules, edge } = command;
  const warnings: string[] = [];
  const { converged } = record?.state ?? ({} as Partial<ClaimState>);
  if (converged !== undefined)
    warnings.push(`${converged.agent_id} has converged it at ${isoTime(converged.at_ms)}.`);
  if (agent_role === undefined || !mayConverge(rules, agent_role, edge))
    warnings.push(
      `${agent_role === undefined ? 'Without a role you' : `The role ${agent_role}`} may not converge it by itself.`,
    );
  return warnings;
}

const FREEING = new Set(['edge_released', 'edge_converged']);

/** Whether this row can have freed the claim that a caller waits for. */
export function mayFreeClaim(
  { feature, edge }: Pick<ClaimCommand, 'feature' | 'edge'>,
  { events }: LogEntry,
) {
  const id = claimId(feature, edge);
  return events.some((event) => event.kind === CLAIM && event.id === id && FREEING.has(event.type));
}
