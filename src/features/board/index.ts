/** What other slices, the runtime and the transports may use of board. */
export type { ArtefactState } from './artefact.ts';
export { type BoardClaimState, boardClaimKey, isBidding, outstanding } from './board-claim.ts';
export {
  boardClaimsNeeds,
  type OpenBoardClaim,
  openBoardClaims,
  stuckBoardClaims,
} from './open-board-claims.ts';
export { decideRework, REWORK_APPROVAL } from './rework.ts';
