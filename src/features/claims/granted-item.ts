import type { GrantedItem } from '../../ledger/entity.ts';
import { foreignActor } from '../../ledger/foreign.ts';
import { type ClaimState, NEVER_MS } from './edge-claim.ts';

/**
 * In a table that other programs write to as well, an item under the claim's key means that the edge is
 * granted, and its absence that it is free. What such a program puts there has no state of ours.
 */
export const grantedClaim: GrantedItem<ClaimState> = {
  isHeld: ({ lease }) => lease !== undefined,
  isForeign: ({ elsewhere }) => elsewhere !== undefined,
  own({ feature, edge, elsewhere, stale_since_ms, kept_by, ...state }, at_ms) {
    if (elsewhere === undefined) return { feature, edge, stale_since_ms, kept_by, ...state };
    const own = elsewhere.own ?? { feature, edge, last_active_ms: at_ms };
    return { ...own, stale_since_ms, kept_by };
  },
  foreign(id, { agent_id, agent_role, claimed_at, last_active, ttl }, state) {
    const at = id.lastIndexOf('#');
    const [feature, edge] = [id.slice(0, at), id.slice(at + 1)];
    const claimed_ms = momentOf(claimed_at) ?? 0;
    const actor = foreignActor(typeof agent_id === 'string' && agent_id !== '' ? agent_id : 'unknown');
    return {
      ...(state ?? { feature, edge }),
      elsewhere: { own: state },
      agent_role: typeof agent_role === 'string' ? agent_role : undefined,
      started_at_ms: claimed_ms,
      last_active_ms: momentOf(last_active) ?? claimed_ms,
      lease: {
        ...actor,
        token: 0,
        granted_at_ms: claimed_ms,
        expires_at_ms: typeof ttl === 'number' ? ttl * 1000 : NEVER_MS,
      },
    };
  },
};

function momentOf(value: unknown): number | undefined {
  const at_ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at_ms) ? undefined : at_ms;
}
