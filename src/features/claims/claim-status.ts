import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { isOver, type Lease } from '../../ledger/lease.ts';
import { expiresAt } from './claim-context.ts';
import { claimModeIn, claimModeKey, isModeOpen } from './claim-mode.ts';
import { type ClaimRules, DEFAULT_RULES } from './claim-rules.ts';
import { normFeature } from './edge.ts';
import {
  type ClaimRecord,
  type ClaimState,
  claimsOf,
  heldClaims,
  heldLease,
  staleClaims,
} from './edge-claim.ts';
import { isIdle } from './stale-claims.ts';

export interface ClaimsQuery {
  readonly feature?: string | undefined;
  readonly agent_id?: string | undefined;
}

function rangesOf({ agent_id }: ClaimsQuery) {
  return agent_id === undefined ? [staleClaims, heldClaims] : [claimsOf(agent_id)];
}

export function claimsNeeds(query: ClaimsQuery): Needs {
  return { keys: [claimModeKey], ranges: rangesOf(query) };
}

/** A claim that is held now. */
export interface HeldClaim {
  readonly state: ClaimState;
  readonly lease: Lease;
}

/** The claims held now, longest silent first. */
export function heldIn(records: readonly ClaimRecord[], now_ms: number): HeldClaim[] {
  return records
    .flatMap(({ state }) => {
      const lease = heldLease(state);
      return lease === undefined || isOver(lease, now_ms) ? [] : [{ state, lease }];
    })
    .sort((a, b) => a.state.last_active_ms - b.state.last_active_ms);
}

/**
 * Whether a person should look at it: it has been silent for too long, and no person has said that this is
 * all right.
 */
export function needsResolving({ state }: HeldClaim, rules: ClaimRules, now_ms: number): boolean {
  return isIdle(state, rules, now_ms) && state.kept_by === undefined;
}

export function claimsStatus(
  query: ClaimsQuery,
  rules: ClaimRules,
  loaded: Loaded,
  now_ms: number,
): JsonObject {
  const { mode: decided, second_agent, agent } = claimModeIn(loaded);
  const ranges = rangesOf(query);
  const records = ranges.flatMap((range) => loaded.list<ClaimState>(range));
  const feature = query.feature === undefined ? undefined : normFeature(query.feature);
  const held = heldIn(records, now_ms).filter(
    ({ state }) => feature === undefined || state.feature === feature,
  );
  const isOpen = isModeOpen(loaded) && rules.file === undefined && held.length === 0;
  const mode = isOpen ? 'single' : decided;
  const stale = held.filter((claim) => needsResolving(claim, rules, now_ms));
  const escalations = held.flatMap(({ state, lease }) => describeEscalation(state, lease));
  const truncated = ranges.some((range) => loaded.list(range).length === range.limit);
  return {
    success: true,
    mode,
    ...(mode === 'single' ? { second_agent, agent_id: agent?.agent_id ?? rules.single.agent_id } : {}),
    ...(truncated ? { truncated } : {}),
    claims: held.map((claim) => describeEdgeClaim(claim, rules, now_ms)),
    stale: stale.map((claim) => describeStale(claim, now_ms)),
    escalations,
    health: {
      status: stale.length + escalations.length === 0 ? 'ok' : 'needs_attention',
      held: held.length,
      stale: stale.length,
      escalations: escalations.length,
    },
  };
}

export function describeEdgeClaim(
  { state, lease }: HeldClaim,
  rules: ClaimRules,
  now_ms: number,
): JsonObject {
  return {
    feature: state.feature,
    edge: state.edge,
    agent_id: lease.agent_id,
    agent_role: state.agent_role ?? null,
    claimed_at: isoTime(lease.granted_at_ms),
    last_active: isoTime(state.last_active_ms),
    expires_at: expiresAt(lease),
    fencing_token: lease.token,
    iteration: state.iteration,
    stale: isIdle(state, rules, now_ms),
    kept_by: state.kept_by,
    approval_id: state.escalation?.approval_id,
  };
}

function describeStale({ state, lease }: HeldClaim, now_ms: number): JsonObject {
  return {
    feature: state.feature,
    edge: state.edge,
    held_by: lease.agent_id,
    last_active: isoTime(state.last_active_ms),
    seconds_idle: Math.floor((now_ms - state.last_active_ms) / 1000),
    command: resolveCommand(state),
  };
}

function describeEscalation({ feature, edge, escalation }: ClaimState, { agent_id }: Lease): JsonObject[] {
  if (escalation === undefined) return [];
  const { approval_id, agent_role, reason, at_ms } = escalation;
  return [{ approval_id, feature, edge, agent_id, agent_role, asked_at: isoTime(at_ms), reason }];
}

const PLAIN_WORD = /^[\w./:@%+,-]+$/;

/** Quoted for a shell, whatever the feature and the edge are called. */
export function resolveCommand({ feature, edge }: Pick<ClaimState, 'feature' | 'edge'>): string {
  const words = [feature, edge].map((word) =>
    PLAIN_WORD.test(word) && !word.startsWith('-') ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  );
  return `cox claim resolve ${words.join(' ')} release`;
}

/** What the file allows beyond the defaults, so that the status shows it. */
export function describeRules(rules: ClaimRules): JsonObject {
  const { file, outside_authority_action, stale_action, spec_mutation_requires_human, roles } = rules;
  const bypassing = Object.entries(roles).filter(([, role]) => role.human_review_bypass === true);
  const weaker_than_default = [
    ...(outside_authority_action === 'warn' ? ['outside_authority_action: warn'] : []),
    ...(stale_action === DEFAULT_RULES.stale_action ? [] : [`stale_claim_action: ${stale_action}`]),
    ...(spec_mutation_requires_human
      ? []
      : ['spec_mutation_requires_human: false (a person decides all the same)']),
    ...bypassing.map(([name]) => `roles.${name}.human_review_bypass: true`),
  ];
  return { file: file ?? null, outside_authority_action, weaker_than_default };
}
