export { approvalEntity } from './approvals/approval.ts';
export { noticeEntity } from './approvals/notice.ts';
export { callsEntity } from './calls.ts';
export { rulebookEntity } from './rulebook.ts';
export { usageEntity } from './usage.ts';
export { violationCountEntity, violationEntity } from './violations.ts';
