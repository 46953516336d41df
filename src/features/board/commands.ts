import { command } from '../../ledger/decision.ts';
import {
  configureBoard as decideConfigureBoard,
  joinBoard as decideJoinBoard,
  leaveBoard as decideLeaveBoard,
} from './change-board.ts';
import { deliverArtefact as decideDeliverArtefact } from './deliver-artefact.ts';
import { placeBid as decidePlaceBid } from './place-bid.ts';
import { publishArtefact as decidePublishArtefact } from './publish-artefact.ts';
import { settleBoard as decideSettleBoard, terminateClaim as decideTerminateClaim } from './settle-board.ts';
import { returnGrant as decideReturnGrant, takeGrant as decideTakeGrant } from './take-grant.ts';

export const publishArtefact = command('publish_artefact', decidePublishArtefact);
export const placeBid = command('place_bid', decidePlaceBid);
export const deliverArtefact = command('deliver_artefact', decideDeliverArtefact);
export const takeGrant = command('take_grant', decideTakeGrant);
export const returnGrant = command('return_grant', decideReturnGrant);
export const settleBoard = command('settle_board', decideSettleBoard);
export const terminateClaim = command('terminate_claim', decideTerminateClaim);
export const configureBoard = command('configure_board', decideConfigureBoard);
export const joinBoard = command('join_board', decideJoinBoard);
export const leaveBoard = command('leave_board', decideLeaveBoard);
