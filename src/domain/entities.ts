import { defineEntities } from '../ledger/entity.ts';
import { approvalEntity } from './approvals/approval.ts';
import { noticeEntity } from './approvals/notice.ts';
import { artefactEntity } from './board/artefact.ts';
import { boardEntity } from './board/board.ts';
import { boardClaimEntity } from './board/claim.ts';
import { threadEntity } from './board/thread.ts';
import { changesetEntity } from './changesets/changeset.ts';
import { sessionChangesEntity } from './changesets/session-changes.ts';
import { claimEntity } from './claims/claim.ts';
import { claimModeEntity } from './claims/mode.ts';
import { handoffEntity } from './handoffs/handoff.ts';
import { keyEntity } from './keys/key.ts';
import { lockFoldersEntity } from './locks/folders.ts';
import { lockEntity } from './locks/lock.ts';
import { messageEntity } from './mail/message.ts';
import { promotionEntity } from './promotion/promotion.ts';
import { underWayEntity } from './promotion/under-way.ts';
import { lineEntity } from './queue/line.ts';
import { taskEntity } from './queue/task.ts';
import { holderEntity } from './queue/terms.ts';
import { sessionEntity } from './sessions/session.ts';
import { callsEntity } from './trust/calls.ts';
import { rulebookEntity } from './trust/rulebook.ts';
import { usageEntity } from './trust/usage.ts';
import { violationCountEntity, violationEntity } from './trust/violations.ts';
import { policyBookEntity } from './verification/policy-book.ts';
import { runEntity } from './verification/run.ts';

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
