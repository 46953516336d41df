/** What other slices, the runtime and the transports may use of claims. */
export type { ClaimRules } from './claim-rules.ts';
export { normEdge, normFeature } from './edge.ts';
export { type ClaimState, claimKey, claimsOf, idleSince } from './edge-claim.ts';
export { CONVERGENCE_APPROVAL } from './escalation.ts';
export { edgeClaims, edgeClaimsNeeds, staleEdgeClaims } from './open-edge-claims.ts';
export { reviewConvergence } from './review-convergence.ts';
