/** The operations of the board. */
export {
  artefactLineage,
  getArtefact,
  listArtefacts,
  publishArtefact,
} from './operations/artefact-operations.ts';
export {
  boardStatus,
  configureBoard,
  joinBoard,
  leaveBoard,
  terminateClaim,
} from './operations/board-operations.ts';
export {
  deliverArtefact,
  myGrants,
  placeBid,
  returnGrant,
  takeGrant,
} from './operations/grant-operations.ts';
