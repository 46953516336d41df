/** The operations on claims. */
export { claimEdge } from './operations/claim-edge-operation.ts';
export { claimsStatus, resolveStaleClaim, setClaimMode } from './operations/claims-status-operations.ts';
export { convergeEdge, heartbeatClaim, releaseEdge } from './operations/keep-claim-operations.ts';
export { rebuildViews } from './operations/rebuild-views-operation.ts';
export { routeWork } from './operations/route-work-operation.ts';
export {
  claimLastSign_ms as lastSign_ms,
  signalStaleClaimsNow as tendClaims,
} from './operations/stale-claim-operations.ts';
