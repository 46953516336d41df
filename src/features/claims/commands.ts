import { command } from '../../ledger/decision.ts';
import { claimEdge as decideClaimEdge } from './claim-edge.ts';
import { setClaimMode as decideSetClaimMode } from './claim-mode.ts';
import { convergeEdge as decideConvergeEdge } from './converge-edge.ts';
import { releaseEdge as decideReleaseEdge } from './release-edge.ts';
import { heartbeatClaim as decideHeartbeatClaim } from './renew-claim.ts';
import {
  resolveStaleClaim as decideResolveStaleClaim,
  signalStaleClaims as decideSignalStaleClaims,
} from './stale-claims.ts';

export const claimEdge = command('claim_edge', decideClaimEdge);
export const heartbeatClaim = command('heartbeat_claim', decideHeartbeatClaim);
export const releaseEdge = command('release_edge', decideReleaseEdge);
export const convergeEdge = command('converge_edge', decideConvergeEdge);
export const signalStaleClaims = command('signal_stale_claims', decideSignalStaleClaims);
export const resolveStaleClaim = command('resolve_stale_claim', decideResolveStaleClaim);
export const setClaimMode = command('set_claim_mode', decideSetClaimMode);
