/** What other slices, the runtime and the transports may use of board. */
export type { ArtefactState } from './artefact.ts';
export { type BoardClaimState, boardClaimKey, outstanding } from './board-claim.ts';
export { boardMetrics } from './board-metrics.ts';
export { boardClaimsNeeds, stuckBoardClaims } from './open-board-claims.ts';
export { decideRework, REWORK_APPROVAL } from './rework.ts';
