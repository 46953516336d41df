import { getStats } from '../features/audit/get-stats.ts';
import { queryAudit } from '../features/audit/query-audit.ts';
import {
  artefactLineage,
  getArtefact,
  listArtefacts,
  publishArtefact,
} from '../features/board/operations/artefact-operations.ts';
import {
  boardStatus,
  configureBoard,
  joinBoard,
  leaveBoard,
  terminateClaim,
} from '../features/board/operations/board-operations.ts';
import {
  deliverArtefact,
  myGrants,
  placeBid,
  returnGrant,
  takeGrant,
} from '../features/board/operations/grant-operations.ts';
import { claimEdge } from '../features/claims/operations/claim-edge-operation.ts';
import {
  claimsStatus,
  resolveStaleClaim,
  setClaimMode,
} from '../features/claims/operations/claims-status-operations.ts';
import {
  convergeEdge,
  heartbeatClaim,
  releaseEdge,
} from '../features/claims/operations/keep-claim-operations.ts';
import { rebuildViews } from '../features/claims/operations/rebuild-views-operation.ts';
import { routeWork } from '../features/claims/operations/route-work-operation.ts';
import { checkGuardrails, listViolations } from '../features/guardrails/operations.ts';
import { readHandoff, writeHandoff } from '../features/handoffs/operations.ts';
import { createKey, listKeys, revokeKey } from '../features/keys/operations.ts';
import { acquireLock } from '../features/locks/operations/acquire-lock-operation.ts';
import { checkLocks } from '../features/locks/operations/check-locks-operation.ts';
import { releaseLock } from '../features/locks/operations/release-lock-operation.ts';
import { acknowledgeMessage, readInbox, sendMessage } from '../features/mail/operations.ts';
import { checkNetwork, listNetworkAccess } from '../features/network/operations/network-operations.ts';
import {
  listNetworkPolicies,
  removeNetworkPolicy,
  setNetworkPolicy,
} from '../features/network/operations/network-policy-operations.ts';
import { allocatePorts, portsStatus, releasePorts } from '../features/port-blocks/operations.ts';
import { discardDrafts, draftStatus, promoteDraft } from '../features/promotion/operations.ts';
import {
  cancelWork,
  reprioritiseWork,
  retryWork,
} from '../features/queue/operations/change-work-operation.ts';
import { completeWorkBatch } from '../features/queue/operations/complete-work-batch-operation.ts';
import { completeWork } from '../features/queue/operations/complete-work-operation.ts';
import { getWorkBatch } from '../features/queue/operations/get-work-batch-operation.ts';
import { getWork } from '../features/queue/operations/get-work-operation.ts';
import { renewWork } from '../features/queue/operations/renew-work-operation.ts';
import { listWork, showWork } from '../features/queue/operations/show-work-operation.ts';
import { submitWorkBatch } from '../features/queue/operations/submit-work-batch-operation.ts';
import { submitWork } from '../features/queue/operations/submit-work-operation.ts';
import {
  cleanupDeadAgents,
  discoverAgents,
  endSession,
  heartbeat,
  registerSession,
} from '../features/sessions/operations.ts';
import { showTeam } from '../features/teams/operations.ts';
import {
  approve,
  denyApproval,
  listApprovals,
  showApproval,
} from '../features/trust/operations/approval-operations.ts';
import {
  applyProfiles,
  assignProfile,
  removeProfile,
  restoreTrust,
  setProfile,
  unassignProfile,
} from '../features/trust/operations/change-profile-operations.ts';
import { checkPolicyAmong } from '../features/trust/operations/check-policy-operation.ts';
import { getMyProfile, listProfiles, showProfile } from '../features/trust/operations/profile-operations.ts';
import { reportUsage } from '../features/trust/operations/report-usage-operation.ts';
import {
  listChangesets,
  submitChangeset,
  verifyChangeset,
} from '../features/verification/operations/changeset-operations.ts';
import {
  listVerificationPolicies,
  recordVerification,
  removeVerificationPolicy,
  setVerificationPolicy,
  startVerification,
  verificationStatus,
} from '../features/verification/operations/verification-operations.ts';
import {
  createTaskFile,
  failTaskFile,
  fileWork,
  finishTaskFile,
  freezeTaskFile,
  listTaskFiles,
  retryTaskFile,
  showTaskFile,
  startTaskFile,
} from '../features/workdir/operations.ts';
import type { AnyOperation } from './operation.ts';

/** Everything one can ask for, in the order in which the doors list it, under the name of its method in the library. */
export const declarations = {
  acquireLock,
  releaseLock,
  checkLocks,
  submitWork,
  getWork,
  completeWork,
  renewWork,
  showWork,
  listWork,
  cancelWork,
  reprioritiseWork,
  retryWork,
  submitWorkBatch,
  getWorkBatch,
  completeWorkBatch,
  registerSession,
  heartbeat,
  discoverAgents,
  endSession,
  cleanupDeadAgents,
  writeHandoff,
  readHandoff,
  sendMessage,
  readInbox,
  acknowledgeMessage,
  showTeam,
  submitChangeset,
  listChangesets,
  verifyChangeset,
  verificationStatus,
  listVerificationPolicies,
  setVerificationPolicy,
  removeVerificationPolicy,
  startVerification,
  recordVerification,
  draftStatus,
  promoteDraft,
  discardDrafts,
  rebuildViews,
  createTaskFile,
  listTaskFiles,
  showTaskFile,
  startTaskFile,
  finishTaskFile,
  failTaskFile,
  freezeTaskFile,
  retryTaskFile,
  fileWork,
  publishArtefact,
  getArtefact,
  listArtefacts,
  artefactLineage,
  boardStatus,
  joinBoard,
  leaveBoard,
  placeBid,
  myGrants,
  takeGrant,
  returnGrant,
  deliverArtefact,
  terminateClaim,
  configureBoard,
  allocatePorts,
  releasePorts,
  portsStatus,
  checkNetwork,
  listNetworkAccess,
  setNetworkPolicy,
  removeNetworkPolicy,
  listNetworkPolicies,
  createKey,
  listKeys,
  revokeKey,
  queryAudit,
  getStats,
  checkGuardrails,
  listViolations,
  listApprovals,
  showApproval,
  approve,
  denyApproval,
  getMyProfile,
  listProfiles,
  showProfile,
  setProfile,
  removeProfile,
  assignProfile,
  unassignProfile,
  restoreTrust,
  applyProfiles,
  checkPolicy: checkPolicyAmong((name) => operationsByName.get(name)),
  reportUsage,
  claimEdge,
  heartbeatClaim,
  releaseEdge,
  convergeEdge,
  claimsStatus,
  resolveStaleClaim,
  setClaimMode,
  routeWork,
};

export const operations: readonly AnyOperation[] = Object.values(declarations);

export const operationsByName: ReadonlyMap<string, AnyOperation> = new Map(
  operations.map((operation) => [operation.name, operation]),
);
