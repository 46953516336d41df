/** What one can ask of verification. */
export { listChangesets, submitChangeset, verifyChangeset } from './operations/changeset-operations.ts';
export {
  listVerificationPolicies,
  recordVerification,
  removeVerificationPolicy,
  setVerificationPolicy,
  startVerification,
  verificationStatus,
} from './operations/verification-operations.ts';
