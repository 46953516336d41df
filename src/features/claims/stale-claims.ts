import { isoTime } from '../../kernel/clock.ts';
import { sha256 } from '../../kernel/hash.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused, type Verdict } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { isOver, type Lease } from '../../ledger/lease.ts';
import { HOUSEKEEPER } from '../../ledger/log.ts';
import { noticeEvent } from '../trust/approvals/index.ts';
import type { ClaimRules } from './claim-rules.ts';
import { type ClaimState, claimEvent, claimId, claimKey, heldLease } from './edge-claim.ts';
import { released, timeUp } from './released.ts';

type StaleTerms = Pick<ClaimRules, 'stale_ms' | 'stale_action'>;

/** By the store's clock, and by the signs of life on this very claim. */
export function isIdle(
  { last_active_ms }: Pick<ClaimState, 'last_active_ms'>,
  { stale_ms }: Pick<ClaimRules, 'stale_ms'>,
  now_ms: number,
): boolean {
  return now_ms - last_active_ms >= stale_ms;
}

export interface SeenIdle {
  readonly feature: string;
  readonly edge: string;
  readonly last_active_ms: number;
}

export interface SignalStale {
  readonly seen: readonly SeenIdle[];
  readonly rules: StaleTerms;
}

/**
 * Reports each of them as stale once, and ends those whose time was up. Skips claims that have shown a sign
 * of life since they were read, and claims that another process reported at the same time.
 */
export function signalStaleClaims({ seen, rules }: SignalStale): Decision<JsonObject> {
  return {
    needs: { keys: seen.map(({ feature, edge }) => claimKey(feature, edge)) },
    decide(loaded, now_ms) {
      const due = seen.flatMap((each) => {
        const state = loaded.get<ClaimState>(claimKey(each.feature, each.edge))?.state;
        const lease = heldLease(state);
        if (state === undefined || lease === undefined) return [];
        return state.last_active_ms === each.last_active_ms ? [said(state, lease, rules, now_ms)] : [];
      });
      const events = due.flatMap((each) => each.events);
      if (events.length === 0)
        return refused(refuse('claim_not_stale', 'Nobody has been silent for too long.'));
      const freed = due.filter((each) => each.freed).length;
      const signalled = due.filter((each) => each.signalled).length;
      return commit(events, { success: true, signalled, freed });
    },
  };
}

interface Said {
  readonly events: readonly EventBody[];
  readonly signalled?: boolean;
  readonly freed?: boolean;
}

/** Under Coxswain's own name, because its report is no sign of life from the holder. */
function said(state: ClaimState, lease: Lease, rules: StaleTerms, now_ms: number): Said {
  if (isOver(lease, now_ms)) return { events: [timeUp(state, lease)], freed: true };
  if (!isIdle(state, rules, now_ms)) return { events: [] };
  const seconds_idle = Math.floor((now_ms - state.last_active_ms) / 1000);
  const signalled = state.stale_since_ms === undefined;
  const freed = mayFreeClaim(state, rules, now_ms);
  const reason = `silent for ${seconds_idle} seconds`;
  const events = [
    ...(signalled ? signal(state, lease, seconds_idle) : []),
    ...(freed ? [released(state, lease, 'stale', HOUSEKEEPER.agent_id, reason)] : []),
  ];
  return { events, signalled, freed };
}

function signal(state: ClaimState, lease: Lease, seconds_idle: number): EventBody[] {
  const { feature, edge } = state;
  const held_by = lease.agent_id;
  const subject = `${held_by} has been silent about ${edge} on ${feature} for ${seconds_idle} seconds`;
  return [
    claimEvent(state, 'claim_expired', { held_by, seconds_idle, source: 'coordinator' }),
    noticeEvent(noticeId(state, lease), HOUSEKEEPER, {
      about: 'stale',
      operation: 'resolve_stale_claim',
      subject,
    }),
  ];
}

/** A claim is not freed while a person considers it, or after a person has said to leave it. */
export function mayFreeClaim(
  { escalation, kept_by }: ClaimState,
  { stale_action }: StaleTerms,
  now_ms: number,
) {
  const isAskedAbout = escalation !== undefined && now_ms < escalation.asked_until_ms;
  return stale_action === 'auto_release' && !isAskedAbout && kept_by === undefined;
}

/** One per idle period. A hash, because a feature's name may be as long as an id may be. */
function noticeId({ feature, edge, last_active_ms }: ClaimState, { token }: Lease): string {
  return `stale\n${sha256(`${claimId(feature, edge)}\n${token}\n${last_active_ms}`)}`;
}

export interface ResolveStale {
  readonly feature: string;
  readonly edge: string;
  readonly decision: 'release' | 'keep';
  readonly reason?: string | undefined;
  /** The person. */
  readonly decided_by: string;
  readonly even_if_active?: boolean | undefined;
  readonly rules: Pick<ClaimRules, 'stale_ms'>;
}

/**
 * A person's decision about a claim whose holder has fallen silent. If the holder has come back, the claim is
 * taken from it only with `even_if_active`.
 */
export function resolveStaleClaim(command: ResolveStale): Decision<JsonObject> {
  const key = claimKey(command.feature, command.edge);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const state = loaded.get<ClaimState>(key)?.state;
      const about = { feature: command.feature.trim(), edge: command.edge.trim() };
      const lease = heldLease(state);
      if (state === undefined || lease === undefined || isOver(lease, now_ms))
        return refused(refuse('not_held', `Nobody holds ${about.edge} on ${about.feature}.`, about));
      if (!isIdle(state, command.rules, now_ms) && command.even_if_active !== true) {
        const last_active = isoTime(state.last_active_ms);
        const held_by = lease.agent_id;
        const message = `${held_by} gave a sign at ${last_active}: the claim is not stale.`;
        return refused(refuse('claim_not_stale', message, { ...about, held_by, last_active }));
      }
      return resolve(command, state, lease, about);
    },
  };
}

function resolve(
  { decision, decided_by, reason }: ResolveStale,
  state: ClaimState,
  lease: Lease,
  about: JsonObject,
): Verdict<JsonObject> {
  const answer = { success: true, ...about, held_by: lease.agent_id, decided_by };
  if (decision === 'keep') {
    const event = claimEvent(state, 'claim_kept', { kept_by: decided_by, reason });
    return commit([event], { ...answer, action: 'claim_kept' });
  }
  const event = released(state, lease, 'person', decided_by, reason ?? 'released by a person');
  return commit([event], { ...answer, action: 'edge_released' });
}
