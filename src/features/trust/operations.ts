/** The operations on trust. */
export { approve, denyApproval, listApprovals, showApproval } from './operations/approval-operations.ts';
export {
  applyProfiles,
  assignProfile,
  removeProfile,
  restoreTrust,
  setProfile,
  unassignProfile,
} from './operations/change-profile-operations.ts';
export { checkPolicyAmong } from './operations/check-policy-operation.ts';
export { getMyProfile, listProfiles, showProfile } from './operations/profile-operations.ts';
export { reportUsage } from './operations/report-usage-operation.ts';
