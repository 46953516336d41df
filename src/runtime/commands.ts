import {
  configureBoard as configure,
  joinBoard as joinIt,
  leaveBoard as leaveIt,
} from '../features/board/change-board.ts';
import { deliverArtefact as deliver } from '../features/board/deliver-artefact.ts';
import { placeBid as bid } from '../features/board/place-bid.ts';
import { publishArtefact as publish } from '../features/board/publish-artefact.ts';
import { decideRework, REWORK_APPROVAL } from '../features/board/rework.ts';
import { settleBoard as settleClaims, terminateClaim as terminate } from '../features/board/settle-board.ts';
import { returnGrant as giveBack, takeGrant as takeIt } from '../features/board/take-grant.ts';
import { claimEdge as claimIt } from '../features/claims/claim-edge.ts';
import { setClaimMode as setMode } from '../features/claims/claim-mode.ts';
import { convergeEdge as converge } from '../features/claims/converge-edge.ts';
import { CONVERGENCE_APPROVAL } from '../features/claims/escalation.ts';
import { releaseEdge as abandon } from '../features/claims/release-edge.ts';
import { heartbeatClaim as keepClaim } from '../features/claims/renew-claim.ts';
import { reviewConvergence } from '../features/claims/review-convergence.ts';
import {
  resolveStaleClaim as resolveStale,
  signalStaleClaims as signalStale,
} from '../features/claims/stale-claims.ts';
import { writeHandoff as handOff, writeHandoffOnce as handOffOnce } from '../features/handoffs/state.ts';
import { createKey as create, revokeKey as revoke } from '../features/keys/change-keys.ts';
import { acquireLock as acquire } from '../features/locks/acquire-lock.ts';
import {
  tidyLocks as tidy,
  awaitLock as wait,
  withdrawLock as withdraw,
} from '../features/locks/await-lock.ts';
import { releaseLock as release, releaseLocks as releaseAll } from '../features/locks/release-lock.ts';
import { acknowledgeMessages as acknowledge, sendMessage as send } from '../features/mail/state.ts';
import {
  removeNetworkPolicy as dropPolicy,
  setNetworkPolicy as setPolicy,
} from '../features/network/change-policies.ts';
import { checkNetwork as judgeNetwork } from '../features/network/check-network.ts';
import { endPromotion as endOfPromotion } from '../features/promotion/end-promotion.ts';
import { startPromotion as beginPromotion } from '../features/promotion/start-promotion.ts';
import {
  cancelWork as cancel,
  reprioritiseWork as reprioritise,
  retryWork as retry,
} from '../features/queue/change-work.ts';
import {
  completeWork as complete,
  completeWorkBatch as completeBatch,
} from '../features/queue/complete-work.ts';
import { fileWork as fileIt } from '../features/queue/file-work.ts';
import { type GetWork, getWork as take } from '../features/queue/get-work.ts';
import { mirrorDeleted as mirrorGone, mirrorFile as mirrorIt } from '../features/queue/mirror-work.ts';
import { renewWork as renew } from '../features/queue/renew-work.ts';
import { settleDue as settle } from '../features/queue/settle-due.ts';
import { submitWork as submit } from '../features/queue/submit-work.ts';
import { joinLine as join, leaveLine as leave } from '../features/queue/work-line.ts';
import {
  endSession as end,
  closeFreeing as freed,
  registerSession as register,
  touchSession as touch,
} from '../features/sessions/change-session.ts';
import { leaveHandoff as leaveBehind } from '../features/sessions/final-handoff.ts';
import { freeLocks as free, freeTasks as giveUp } from '../features/sessions/free-leases.ts';
import {
  type Consequence,
  decideApproval as decide,
  type PersonsDecision,
} from '../features/trust/approvals/decide-approval.ts';
import {
  claimNotice as claimNews,
  concludeNotice as concludeNews,
} from '../features/trust/approvals/notice.ts';
import { countCall as call } from '../features/trust/calls.ts';
import {
  applyProfiles as apply,
  assignProfile as assign,
  removeProfile as remove,
  restoreTrust as restore,
  setProfile as set,
  unassignProfile as unassign,
} from '../features/trust/change-rulebook.ts';
import { governed } from '../features/trust/governed.ts';
import { type Guard, guardOperation as guard } from '../features/trust/guard-operation.ts';
import { nativeEngine, type PolicyEngine } from '../features/trust/permit.ts';
import { reportUsage as report } from '../features/trust/usage.ts';
import {
  concludeRemote as conclude,
  decideRun as decideVerification,
  dispatchRun as dispatch,
  finishRun as finish,
  renewRun as keepRun,
  recordRun as record,
  startRun as startIt,
} from '../features/verification/execute.ts';
import {
  removeVerificationPolicy as removePolicy,
  setVerificationPolicies as setPolicies,
} from '../features/verification/policy-book.ts';
import {
  submitChangeset as change,
  receiveChange as receive,
  routeChangeset as route,
} from '../features/verification/route-changeset.ts';
import { VERIFICATION_APPROVAL } from '../features/verification/verification-approval.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Command, Commands, Decision, Taking } from '../ledger/decision.ts';
import type { Demand } from './access.ts';

type Build = (...args: never[]) => Decision<JsonObject>;

const registry = new Map<string, Build>();

/** Every decision that changes something has a name here, so that a neighbour can make it for us (stores/sqlite/seat). */
function command<A extends unknown[]>(name: string, build: (...args: A) => Decision<JsonObject>) {
  registered(name, build);
  return (...args: A): Decision<JsonObject> => ({ ...build(...args), command: { name, args } });
}

function registered<A extends unknown[]>(name: string, build: (...args: A) => Decision<JsonObject>): string {
  registry.set(name, build as unknown as Build);
  return name;
}

export const acquireLock = command('acquire_lock', acquire);
export const awaitLock = command('await_lock', wait);
export const withdrawLock = command('withdraw_lock', withdraw);
export const tidyLocks = command('tidy_locks', tidy);
export const releaseLock = command('release_lock', release);
export const releaseLocks = command('release_locks', releaseAll);
export const submitWork = command('submit_work', submit);
export const completeWork = command('complete_work', complete);
export const completeWorkBatch = command('complete_work_batch', completeBatch);
export const renewWork = command('renew_work', renew);
export const cancelWork = command('cancel_work', cancel);
export const reprioritiseWork = command('reprioritise_work', reprioritise);
export const retryWork = command('retry_work', retry);
export const joinLine = command('join_line', join);
export const leaveLine = command('leave_line', leave);
export const settleDue = command('settle_due', settle);
export const touchSession = command('touch_session', touch);
export const registerSession = command('register_session', register);
export const endSession = command('end_session', end);
export const closeFreeing = command('close_freeing', freed);
export const freeLocks = command('free_locks', free);
export const freeTasks = command('free_tasks', giveUp);
export const writeHandoff = command('write_handoff', handOff);
export const leaveHandoff = command('leave_handoff', leaveBehind);
export const submitChangeset = command('submit_changeset', change);
export const routeChangeset = command('route_changeset', route);
export const receiveChange = command('receive_change', receive);
export const setVerificationPolicies = command('set_verification_policies', setPolicies);
export const removeVerificationPolicy = command('remove_verification_policy', removePolicy);
export const startRun = command('start_run', startIt);
export const renewRun = command('renew_run', keepRun);
export const dispatchRun = command('dispatch_run', dispatch);
export const finishRun = command('finish_run', finish);
export const recordRun = command('record_run', record);
export const concludeRemote = command('conclude_remote', conclude);
export const decideRun = command('decide_run', decideVerification);
export const startPromotion = command('start_promotion', beginPromotion);
export const endPromotion = command('end_promotion', endOfPromotion);
export const sendMessage = command('send_message', send);
export const acknowledgeMessages = command('acknowledge_messages', acknowledge);
export const createKey = command('create_key', create);
export const revokeKey = command('revoke_key', revoke);
export const setProfile = command('set_profile', set);
export const removeProfile = command('remove_profile', remove);
export const assignProfile = command('assign_profile', assign);
export const unassignProfile = command('unassign_profile', unassign);
export const restoreTrust = command('restore_trust', restore);
export const applyProfiles = command('apply_profiles', apply);
export const reportUsage = command('report_usage', report);
export const countCall = command('count_call', call);

export const fileWork = command('file_work', fileIt);
export const mirrorFile = command('mirror_file', mirrorIt);
export const mirrorDeleted = command('mirror_deleted', mirrorGone);
export const writeHandoffOnce = command('write_handoff_once', handOffOnce);

export const claimEdge = command('claim_edge', claimIt);
export const heartbeatClaim = command('heartbeat_claim', keepClaim);
export const releaseEdge = command('release_edge', abandon);
export const convergeEdge = command('converge_edge', converge);
export const signalStaleClaims = command('signal_stale_claims', signalStale);
export const resolveStaleClaim = command('resolve_stale_claim', resolveStale);
export const setClaimMode = command('set_claim_mode', setMode);

export const publishArtefact = command('publish_artefact', publish);
export const placeBid = command('place_bid', bid);
export const deliverArtefact = command('deliver_artefact', deliver);
export const takeGrant = command('take_grant', takeIt);
export const returnGrant = command('return_grant', giveBack);
export const settleBoard = command('settle_board', settleClaims);
export const terminateClaim = command('terminate_claim', terminate);
export const configureBoard = command('configure_board', configure);
export const joinBoard = command('join_board', joinIt);
export const leaveBoard = command('leave_board', leaveIt);

/** What an approval is about is decided with it, in the same commit: a run, a convergence, another round. */
const consequence: Consequence = (approval, decided) => {
  const { verdict, decided_by, reason } = decided;
  switch (approval.kind) {
    case VERIFICATION_APPROVAL:
      return decideVerification(
        approval.context.run_id as string,
        verdict === 'approved',
        decided_by,
        reason,
      );
    case CONVERGENCE_APPROVAL:
      return reviewConvergence(approval, decided);
    case REWORK_APPROVAL:
      return decideRework(approval, decided);
    default:
      return undefined;
  }
};

export const decideApproval = command('decide_approval', (decided: PersonsDecision) =>
  decide(decided, consequence),
);
export const claimNotice = command('claim_notice', claimNews);
export const concludeNotice = command('conclude_notice', concludeNews);
export const guardOperation = command('guard_operation', (asked: Guard) => guard(asked));

const guardNamed = command('guarded', (asked: Guard, inner: Command) => {
  const build = registry.get(inner.name) as ((...args: unknown[]) => Decision<JsonObject>) | undefined;
  if (build === undefined) throw new Error(`unknown command: ${inner.name}`);
  return guard(asked, build(...inner.args));
});

/** What is dangerous about a decision, decided in the same commit: it takes effect only with what permits it. */
export function guarded(asked: Guard, inner: Decision<JsonObject>): Decision<JsonObject> {
  return inner.command === undefined ? guard(asked, inner) : guardNamed(asked, inner.command);
}
export const checkNetwork = command('check_network', judgeNetwork);
export const setNetworkPolicy = command('set_network_policy', setPolicy);
export const removeNetworkPolicy = command('remove_network_policy', dropPolicy);

const GET_WORK = registered('get_work', (wanted: GetWork) => take(wanted).decision);

export function getWork(wanted: GetWork): Taking<JsonObject> {
  const { name, args, decision } = take(wanted);
  return { name, args, decision: { ...decision, command: { name: GET_WORK, args: [wanted] } } };
}

const GOVERNED = 'governed';

/** The decision as its caller may ask for it. With rules of its own engine nobody else makes it for us. */
export function governedBy<A extends JsonObject>(
  decision: Decision<A>,
  demand: Demand,
  engine: PolicyEngine,
): Decision<A> {
  const { command: inner } = decision;
  const outer = governed(decision, demand, engine);
  if (inner === undefined || engine !== nativeEngine) return outer;
  return { ...outer, command: { name: GOVERNED, args: [demand, inner] } };
}

registry.set(GOVERNED, ((demand: Demand, { name, args }: Command): Decision<JsonObject> => {
  const build = registry.get(name);
  if (build === undefined || name === GOVERNED) throw new Error(`no decision ${name}`);
  return governed(build(...(args as never[])), demand);
}) as unknown as Build);

export const commands: Commands = registry;
