export { artefactEntity } from './artefact.ts';
export { boardEntity } from './board.ts';
export { boardClaimEntity } from './board-claim.ts';
export { threadEntity } from './thread.ts';
