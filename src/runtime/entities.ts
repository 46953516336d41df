import { artefactEntity } from '../features/board/artefact.ts';
import { boardEntity } from '../features/board/board.ts';
import { boardClaimEntity } from '../features/board/board-claim.ts';
import { threadEntity } from '../features/board/thread.ts';
import { sessionChangesEntity } from '../features/changesets/session-changes.ts';
import { changesetEntity } from '../features/changesets/state.ts';
import { claimModeEntity } from '../features/claims/claim-mode.ts';
import { claimEntity } from '../features/claims/edge-claim.ts';
import { handoffEntity } from '../features/handoffs/state.ts';
import { keyEntity } from '../features/keys/state.ts';
import { lockFoldersEntity } from '../features/locks/locked-folders.ts';
import { lockEntity } from '../features/locks/state.ts';
import { messageEntity } from '../features/mail/state.ts';
import { promotionEntity } from '../features/promotion/state.ts';
import { underWayEntity } from '../features/promotion/under-way.ts';
import { taskEntity } from '../features/queue/state.ts';
import { holderEntity } from '../features/queue/terms.ts';
import { lineEntity } from '../features/queue/work-line.ts';
import { sessionEntity } from '../features/sessions/state.ts';
import { approvalEntity } from '../features/trust/approvals/approval.ts';
import { noticeEntity } from '../features/trust/approvals/notice.ts';
import { callsEntity } from '../features/trust/calls.ts';
import { rulebookEntity } from '../features/trust/rulebook.ts';
import { usageEntity } from '../features/trust/usage.ts';
import { violationCountEntity, violationEntity } from '../features/trust/violations.ts';
import { policyBookEntity } from '../features/verification/policy-book.ts';
import { runEntity } from '../features/verification/verification-run.ts';
import { defineEntities } from '../ledger/entity.ts';

/** Every kind of entity the product knows. Adding a capability adds its kinds here. */
export const entities = defineEntities(
  lockEntity,
  lockFoldersEntity,
  taskEntity,
  lineEntity,
  holderEntity,
  sessionEntity,
  handoffEntity,
  messageEntity,
  changesetEntity,
  sessionChangesEntity,
  keyEntity,
  rulebookEntity,
  approvalEntity,
  noticeEntity,
  violationEntity,
  violationCountEntity,
  usageEntity,
  callsEntity,
  policyBookEntity,
  runEntity,
  claimEntity,
  claimModeEntity,
  promotionEntity,
  underWayEntity,
  artefactEntity,
  threadEntity,
  boardEntity,
  boardClaimEntity,
);
