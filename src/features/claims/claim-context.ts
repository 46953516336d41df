import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { grant, type Lease, type LeaseStanding, renew, standing } from '../../ledger/lease.ts';
import { type Acting, actingIn, type ClaimCommand, roleOf } from './acting.ts';
import { claimModeKey } from './claim-mode.ts';
import {
  type ClaimRecord,
  type ClaimState,
  claimEvent,
  claimKey,
  heldLease,
  NEVER_MS,
} from './edge-claim.ts';
import { timeUp } from './released.ts';

/** Everything that a decision about one feature on one edge depends on. */
export interface ClaimContext<C extends ClaimCommand = ClaimCommand> extends Acting {
  readonly command: C;
  readonly record: ClaimRecord | undefined;
  readonly current: LeaseStanding;
  readonly agent_role: string | undefined;
  readonly loaded: Loaded;
  readonly now_ms: number;
}

export function decideOnClaim<C extends ClaimCommand>(
  command: C,
  decide: (scene: ClaimContext<C>) => Verdict<JsonObject>,
): Decision<JsonObject> {
  const key = claimKey(command.feature, command.edge);
  return {
    needs: { keys: [key, claimModeKey] },
    decide(loaded, now_ms) {
      const acting = actingIn(command, loaded, now_ms);
      if ('verdict' in acting) return acting;
      const record = loaded.get<ClaimState>(key);
      const current = standing(heldLease(record?.state), acting.caller, now_ms);
      const granted = current.standing === 'mine' ? record?.state.agent_role : undefined;
      const role = roleOf(command, acting, granted);
      if ('success' in role) return refused(role);
      // In the spelling of its first event: other readers of the log match the start and the end of an edge
      // letter by letter.
      const spelled = { ...command, edge: record?.state.edge ?? command.edge };
      const verdict = decide({ command: spelled, ...acting, record, current, ...role, loaded, now_ms });
      if (verdict.verdict !== 'commit' || acting.events.length === 0) return verdict;
      return { ...verdict, events: [...acting.events, ...verdict.events] };
    },
  };
}

type Timed = Pick<ClaimContext, 'command' | 'record' | 'now_ms'>;

/** If the rules set no hard end, the claim is held until an agent or a person ends it. */
function timed({ command, now_ms }: Timed, lease: Lease): Lease {
  const { ttl_ms } = command.rules;
  return { ...lease, expires_at_ms: ttl_ms === undefined ? NEVER_MS : now_ms + ttl_ms };
}

export function newLease(scene: ClaimContext): Lease {
  return timed(scene, grant(scene.record, scene.caller, 0, scene.now_ms));
}

/** The holder claims again. From another session of the same holder, that is a new grant. */
export function renewed(scene: ClaimContext, record: ClaimRecord, lease: Lease): Lease {
  return timed(scene, renew(record, lease, scene.caller, 0, scene.now_ms));
}

/** A sign of life from any session of the holder keeps the grant as it is. */
export function prolonged(scene: ClaimContext, lease: Lease): Lease {
  return timed(scene, lease);
}

/** Undefined: nothing expires that a commit could be too late for. */
export function deadline_ms({ expires_at_ms }: Lease): number | undefined {
  return expires_at_ms >= NEVER_MS ? undefined : expires_at_ms;
}

export function expiresAt({ expires_at_ms }: Lease): string | null {
  return expires_at_ms >= NEVER_MS ? null : isoTime(expires_at_ms);
}

/** The grant that begins here, preceded by the end of the expired one, if there was one. */
export function startEvents(scene: ClaimContext, lease: Lease): EventBody[] {
  const { command, caller, current, agent_role } = scene;
  const lapsed = current.standing === 'free' ? current.lapsed : undefined;
  const started = claimEvent(command, 'edge_started', {
    granted_to: caller.agent_id,
    agent_role,
    source: 'serialiser',
    lease: { ...lease },
  });
  return [...(lapsed === undefined ? [] : [timeUp(command, lapsed)]), started];
}

/** The grant that the caller continues under, or why it has none. */
export type Own =
  | { readonly lease: Lease; readonly events: readonly EventBody[]; readonly state?: ClaimState | undefined }
  | { readonly refusal: Refusal };

/**
 * An agent that works alone need not claim first: the edge is started in the same commit as its first action.
 */
export function ownGrant(scene: ClaimContext): Own {
  const { command, caller, record, current, single } = scene;
  switch (current.standing) {
    case 'superseded':
      return { refusal: superseded(scene, current.lease) };
    case 'taken':
      return { refusal: notHolder(scene, current.lease) };
    case 'mine':
      return { lease: current.lease, events: [], state: record?.state };
    case 'free': {
      // The caller names a grant that has ended. It was ended on purpose and must not start again unnoticed.
      if (!single || caller.token !== undefined)
        return { refusal: notStarted(command, caller.token, current.lapsed) };
      const lease = newLease(scene);
      return { lease, events: startEvents(scene, lease) };
    }
  }
}

export function named({ feature, edge }: Pick<ClaimCommand, 'feature' | 'edge'>) {
  return { feature: feature.trim(), edge: edge.trim() };
}

export function superseded({ command, caller }: ClaimContext, lease: Lease): Refusal {
  const about = named(command);
  const message = `Grant ${caller.token} of ${about.edge} on ${about.feature} is over; grant ${lease.token} of ${lease.agent_id} has replaced it.`;
  return refuse('superseded', message, { ...about, held_by: lease.agent_id, fencing_token: lease.token });
}

export function notHolder({ command, record }: ClaimContext, lease: Lease): Refusal {
  const about = named(command);
  const message = `${about.edge} on ${about.feature} is held by ${lease.agent_id}; it stays so.`;
  const held_role = record?.state.agent_role ?? null;
  return refuse('not_holder', message, { ...about, held_by: lease.agent_id, held_role });
}

function notStarted(command: ClaimCommand, token: number | undefined, lapsed: Lease | undefined): Refusal {
  const about = named(command);
  const grantIsOver = token === undefined ? '' : ` Grant ${token} is over.`;
  const ranOut =
    lapsed === undefined ? '' : ` ${lapsed.agent_id}'s claim ran out at ${isoTime(lapsed.expires_at_ms)}.`;
  return refuse(
    'edge_not_started',
    `Nobody works on ${about.edge} on ${about.feature}.${grantIsOver}${ranOut}`,
    about,
  );
}

/** A commit that relies on this lease, together with the events that start it. */
export function commitUnder(
  own: { readonly lease: Lease; readonly events: readonly EventBody[] },
  events: readonly EventBody[],
  answer: JsonObject,
): Verdict<JsonObject> {
  return commit([...own.events, ...events], answer, deadline_ms(own.lease));
}
