import { isoTime } from '../../kernel/clock.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Lease } from '../../ledger/lease.ts';
import { HOUSEKEEPER } from '../../ledger/log.ts';
import { claimEvent } from './edge-claim.ts';

type Cause = 'holder' | 'person' | 'ttl' | 'stale';

/** Any end of a claim without a convergence: who held it, who ended it and why. */
export function released(
  about: { readonly feature: string; readonly edge: string },
  { agent_id }: Lease,
  cause: Cause,
  released_by: string,
  reason: string,
): EventBody {
  return claimEvent(about, 'edge_released', { agent_id, reason, released_by, cause });
}

/** Logged by the first commit that relies on it. */
export function timeUp(about: { readonly feature: string; readonly edge: string }, lease: Lease): EventBody {
  const reason = `its time was up at ${isoTime(lease.expires_at_ms)}`;
  return released(about, lease, 'ttl', HOUSEKEEPER.agent_id, reason);
}
