import type { AnyOperation } from '../operation.ts';
import { acquireLock } from './acquire-lock.ts';
import { approve, denyApproval, listApprovals, showApproval } from './approvals.ts';
import { artefactLineage, getArtefact, listArtefacts, publishArtefact } from './board/artefacts.ts';
import { boardStatus, configureBoard, joinBoard, leaveBoard, terminateClaim } from './board/board.ts';
import { deliverArtefact, myGrants, placeBid, returnGrant, takeGrant } from './board/grants.ts';
import {
  applyProfiles,
  assignProfile,
  removeProfile,
  restoreTrust,
  setProfile,
  unassignProfile,
} from './change-profiles.ts';
import { cancelWork, reprioritiseWork, retryWork } from './change-work.ts';
import { listChangesets, submitChangeset, verifyChangeset } from './changesets.ts';
import { checkLocks } from './check-locks.ts';
import { checkPolicyAmong } from './check-policy.ts';
import { claimEdge } from './claim-edge.ts';
import { convergeEdge, heartbeatClaim, releaseEdge } from './claims.ts';
import { claimsStatus, resolveStaleClaim, setClaimMode } from './claims-status.ts';
import { completeWork } from './complete-work.ts';
import { completeWorkBatch } from './complete-work-batch.ts';
import { getStats } from './get-stats.ts';
import { getWork } from './get-work.ts';
import { getWorkBatch } from './get-work-batch.ts';
import { checkGuardrails, listViolations } from './guardrails.ts';
import { readHandoff, writeHandoff } from './handoffs.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import { acknowledgeMessage, readInbox, sendMessage } from './mail.ts';
import { checkNetwork, listNetworkAccess } from './network.ts';
import { listNetworkPolicies, removeNetworkPolicy, setNetworkPolicy } from './network-policies.ts';
import { allocatePorts, portsStatus, releasePorts } from './ports.ts';
import { getMyProfile, listProfiles, showProfile } from './profiles.ts';
import { discardDrafts, draftStatus, promoteDraft } from './promotion.ts';
import { queryAudit } from './query-audit.ts';
import { rebuildViews } from './rebuild-views.ts';
import { releaseLock } from './release-lock.ts';
import { renewWork } from './renew-work.ts';
import { reportUsage } from './report-usage.ts';
import { routeWork } from './route-work.ts';
import { cleanupDeadAgents, discoverAgents, endSession, heartbeat, registerSession } from './sessions.ts';
import { listWork, showWork } from './show-work.ts';
import { submitWork } from './submit-work.ts';
import { submitWorkBatch } from './submit-work-batch.ts';
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
} from './task-files.ts';
import { showTeam } from './team.ts';
import {
  listVerificationPolicies,
  recordVerification,
  removeVerificationPolicy,
  setVerificationPolicy,
  startVerification,
  verificationStatus,
} from './verification.ts';

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
