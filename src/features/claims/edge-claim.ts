import { isoTime } from '../../kernel/clock.ts';
import { limits } from '../../kernel/limits.ts';
import { prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst, padded } from '../../ledger/index-order.ts';
import type { Lease } from '../../ledger/lease.ts';
import { normEdge, normFeature } from './edge.ts';

/** No expiry: the claim stays until an agent or a person ends it. The latest moment a date can represent. */
export const NEVER_MS = 8_640_000_000_000_000;

/** A convergence that a person has to decide about. */
export interface Escalation {
  readonly approval_id: string;
  readonly token: number;
  readonly agent_role: string;
  readonly reason: string;
  readonly at_ms: number;
  /** After this, an unanswered question holds nothing up any longer. */
  readonly asked_until_ms: number;
}

export interface Convergence {
  readonly agent_id: string;
  readonly agent_role: string;
  readonly at_ms: number;
  readonly iteration?: number | undefined;
  readonly evaluators?: string | undefined;
  readonly convergence_type?: string | undefined;
  /** The person who approved it, where that was required. */
  readonly approved_by?: string | undefined;
}

/**
 * One feature on one edge. `lease` is set while an agent holds it. Without a lease it is free, also after a
 * convergence: an edge may be worked on again. The record stays for ever, so that its tokens keep growing.
 */
export interface ClaimState {
  readonly feature: string;
  /** As it was first written. */
  readonly edge: string;
  readonly lease?: Lease | undefined;
  /** A foreign log says that its holder asked for it; no log says yet that it was granted. */
  readonly asked?: true | undefined;
  /** A foreign log did not say who started it; the holder's name is made up. */
  readonly unnamed?: true | undefined;
  /** Another program holds it, by an item of its own in the table; beside what is known here. */
  readonly elsewhere?: { readonly own?: ClaimState | undefined } | undefined;
  readonly agent_role?: string | undefined;
  /** When it was last claimed; kept after it was released. */
  readonly started_at_ms?: number | undefined;
  /**
   * The holder's last sign of life on this very claim; not another agent's, and no signal of Coxswain's own.
   */
  readonly last_active_ms: number;
  /** `claim_expired` has been logged for this idle period. */
  readonly stale_since_ms?: number | undefined;
  /** The person who saw that it is stale and left it with its holder until the holder's next sign of life. */
  readonly kept_by?: string | undefined;
  readonly iteration?: number | undefined;
  readonly escalation?: Escalation | undefined;
  readonly converged?: Convergence | undefined;
}

/** A claim does not expire while a person considers its convergence. */
export function heldLease(state: ClaimState | undefined): Lease | undefined {
  if (state?.lease === undefined || state.escalation === undefined) return state?.lease;
  const expires_at_ms = Math.max(state.lease.expires_at_ms, state.escalation.asked_until_ms);
  return { ...state.lease, expires_at_ms };
}

/** Why another agent does not get it: the text for the log and the answer. */
export function takenReason({ agent_id }: Lease): string {
  return `already claimed by ${agent_id}`;
}

export type ClaimRecord = EntityRecord<ClaimState>;

export const CLAIM = 'claim';

/** Normalised edges contain no `#`, so the last one separates the two, whatever a feature is called. */
export function claimId(feature: string, edge: string): string {
  return `${normFeature(feature)}#${normEdge(edge)}`;
}

export function claimKey(feature: string, edge: string): EntityKey {
  return { kind: CLAIM, id: claimId(feature, edge) };
}

/** `feature` and `edge` are in every event of a claim: people and other implementations read the log. */
export function claimEvent(
  { feature, edge }: { readonly feature: string; readonly edge: string },
  type: string,
  data: EventBody['data'],
): EventBody {
  return {
    ...claimKey(feature, edge),
    type,
    data: { feature: normFeature(feature), edge: edge.trim(), ...data },
  };
}

const HELD = 'held/';
const STALE = 'stale/';
const CONVERGED = 'converged/';
const FREE = 'free/';
/** Names contain no line breaks, so no name is a prefix of another name's key. */
const ofAgent = (agent_id: string) => `${agent_id}\n`;

/** The fields of claim events; each event carries some of them. Foreign logs leave most of them out. */
interface ClaimEventData {
  readonly feature: string;
  readonly edge: string;
  readonly lease?: Lease;
  readonly granted_to?: string;
  readonly asked?: true;
  readonly unnamed?: true;
  readonly agent_role?: string;
  readonly agent_id?: string;
  readonly iteration?: number;
  readonly evaluators?: string;
  readonly convergence_type?: string;
  readonly approved_by?: string;
  readonly approval_id?: string;
  readonly asked_until_ms?: number;
  readonly reason?: string;
  readonly kept_by?: string;
}

/**
 * Events by the holder or about it. Foreign logs contain convergences and releases by agents that don't hold
 * the claim: those end nothing.
 */
const OF_HOLDER = new Set(['claim_renewed', 'iteration_completed', 'edge_converged', 'edge_released']);

function isByAnother({ lease }: ClaimState, { type, data }: EventBody): boolean {
  const { agent_id } = data as unknown as ClaimEventData;
  return OF_HOLDER.has(type) && lease !== undefined && agent_id !== undefined && agent_id !== lease.agent_id;
}

/** One of our commits relies on it: however little the foreign log said, its holder has the claim. */
const CONFIRMED = { asked: undefined, unnamed: undefined };

/** Foreign lines carry no lease. */
const confirmedBy = ({ lease }: ClaimEventData) => (lease === undefined ? {} : CONFIRMED);

/** Never throws: whatever is in a log that other programs also write is a fact, however odd. */
function evolve(before: ClaimState | undefined, event: EventBody, at_ms: number): ClaimState {
  const data = event.data as unknown as ClaimEventData;
  const state = before ?? { feature: data.feature, edge: data.edge, last_active_ms: at_ms };
  const active = { last_active_ms: at_ms, stale_since_ms: undefined, kept_by: undefined };
  if (isByAnother(state, event)) return state;
  switch (event.type) {
    case 'edge_started':
      return {
        ...state,
        ...active,
        lease: data.lease,
        asked: data.asked,
        unnamed: data.unnamed,
        elsewhere: undefined,
        agent_role: data.agent_role,
        started_at_ms: at_ms,
        iteration: undefined,
        escalation: undefined,
        converged: undefined,
      };
    case 'claim_renewed': {
      const lease = data.lease ?? state.lease;
      // Another session of the holder continues under a grant of its own: what the old one asked is not its
      // question.
      const isSame = lease?.token === state.lease?.token;
      const going = { ...state, ...active, ...confirmedBy(data), lease };
      return { ...going, escalation: isSame ? state.escalation : undefined };
    }
    case 'iteration_completed': {
      const lease = data.lease ?? state.lease;
      return { ...state, ...active, ...confirmedBy(data), lease, iteration: data.iteration };
    }
    case 'edge_converged':
      return {
        ...freed(state),
        iteration: data.iteration ?? state.iteration,
        converged: {
          agent_id: data.agent_id ?? state.lease?.agent_id ?? '',
          agent_role: data.agent_role ?? state.agent_role ?? '',
          at_ms,
          iteration: data.iteration ?? state.iteration,
          evaluators: data.evaluators,
          convergence_type: data.convergence_type,
          approved_by: data.approved_by,
        },
      };
    case 'edge_released':
      return freed(state);
    case 'claim_expired':
      // Not a sign of life from its holder: `last_active_ms` stays as it is.
      return { ...state, stale_since_ms: at_ms };
    case 'convergence_escalated': {
      const escalation = escalationIn(data, state.lease, at_ms);
      return escalation === undefined ? state : { ...state, ...active, ...CONFIRMED, escalation };
    }
    case 'claim_kept':
      return { ...state, ...CONFIRMED, kept_by: data.kept_by };
    case 'review_completed':
      // With a hard end, its time was stopped while a person considered it, and continues from here.
      return { ...state, lease: data.lease ?? state.lease, escalation: undefined };
    default:
      // `claim_rejected`, and anything else that other programs write about a claim: it changes nothing.
      return state;
  }
}

/** Undefined: our queue was not asked. */
function escalationIn(
  { approval_id, agent_role = '', reason = '', asked_until_ms = NEVER_MS }: ClaimEventData,
  lease: Lease | undefined,
  at_ms: number,
): Escalation | undefined {
  if (approval_id === undefined || lease === undefined) return undefined;
  return { approval_id, token: lease.token, agent_role, reason, at_ms, asked_until_ms };
}

function freed({
  lease: _,
  asked: __,
  unnamed: ___,
  agent_role: ____,
  stale_since_ms: _____,
  kept_by: ______,
  escalation: _______,
  elsewhere,
  ...rest
}: ClaimState): ClaimState {
  const { own } = elsewhere ?? {};
  if (own === undefined) return rest;
  const { started_at_ms, last_active_ms } = own;
  return { ...rest, started_at_ms, last_active_ms };
}

export const claimEntity: EntityType<ClaimState> = {
  kind: CLAIM,
  evolve,
  over_ms(state) {
    const lease = heldLease(state);
    return lease === undefined || lease.expires_at_ms >= NEVER_MS ? undefined : lease.expires_at_ms;
  },
  shown({ lease, agent_role, started_at_ms, last_active_ms }) {
    const last_active = isoTime(last_active_ms);
    if (lease === undefined) return { last_active };
    const claimed_at = isoTime(started_at_ms ?? last_active_ms);
    return { agent_id: lease.agent_id, agent_role, claimed_at, last_active };
  },
  index(state) {
    const { lease } = state;
    if (lease !== undefined) {
      const prefix = state.stale_since_ms === undefined ? HELD : STALE;
      return { sort: `${prefix}${padded(state.last_active_ms)}`, group: ofAgent(lease.agent_id) };
    }
    const { converged } = state;
    return converged === undefined
      ? { sort: `${FREE}${newestFirst(state.last_active_ms)}` }
      : { sort: `${CONVERGED}${newestFirst(converged.at_ms)}` };
  },
};

/** Held without a sign of life since that moment and not yet reported as stale; longest silent first. */
export function idleSince(before_ms: number): Range {
  return {
    by: 'sort',
    kind: CLAIM,
    from: HELD,
    before: `${HELD}${padded(Math.max(0, before_ms))}`,
    limit: limits.claims_per_round,
  };
}

export const heldClaims: Range = prefixed('sort', CLAIM, HELD, limits.claims_listed_max);
export const staleClaims: Range = prefixed('sort', CLAIM, STALE, limits.claims_listed_max);

export function claimsOf(agent_id: string): Range {
  return prefixed('group', CLAIM, ofAgent(agent_id), limits.claims_listed_max);
}
