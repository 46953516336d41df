/** What others may use of approvals in trust. */

export { guarded, guardOperation } from '../commands.ts';
export {
  type ApprovalRecord,
  type ApprovalState,
  approvalEntity,
  approvalEvent,
  approvalKey,
  approvalRanges,
  listApprovals,
  statusAt,
} from './approval.ts';
export {
  type ApprovalConsequences,
  type Consequence,
  conclusionOf,
  consequencesService,
  type PersonsDecision,
} from './decide-approval.ts';
export { noticeEntity, noticeEvent } from './notice.ts';
export {
  type ApprovalWanted as Wanted,
  approvalId,
  forbids,
  permits,
  requestEvent,
  useEvent,
  waits,
  wanted,
} from './request-approval.ts';
