import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { type ClaimRules, DEFAULT_RULES } from './claim-rules.ts';
import { describeEdgeClaim, type HeldClaim, heldIn, needsResolving, resolveCommand } from './claim-status.ts';
import { type ClaimState, heldClaims, staleClaims } from './edge-claim.ts';

/** Claims already reported as stale come first; a listing is bounded, however many there are. */
const RANGES = [staleClaims, heldClaims].map((range) => ({ ...range, limit: limits.overview_rows_max }));

export const edgeClaimsNeeds: Needs = { ranges: RANGES };

function held(loaded: Loaded, now_ms: number): HeldClaim[] {
  return heldIn(
    RANGES.flatMap((range) => loaded.list<ClaimState>(range)),
    now_ms,
  );
}

/** Which agent works on which edge of which feature, longest silent first. */
export function edgeClaims(loaded: Loaded, rules: ClaimRules = DEFAULT_RULES, now_ms: number): JsonObject[] {
  return held(loaded, now_ms).map((claim) => describeEdgeClaim(claim, rules, now_ms));
}

/**
 * Claims that a person has to decide about. Convergences that wait for approval are in the approval queue.
 */
export function staleEdgeClaims(
  loaded: Loaded,
  rules: ClaimRules = DEFAULT_RULES,
  now_ms: number,
): JsonObject[] {
  return held(loaded, now_ms)
    .filter((claim) => needsResolving(claim, rules, now_ms))
    .map(({ state, lease }) => ({
      what: 'stale_claim',
      feature: state.feature,
      edge: state.edge,
      agent_id: lease.agent_id,
      since_at: isoTime(state.last_active_ms),
      command: resolveCommand(state),
    }));
}
