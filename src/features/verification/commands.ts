import { command } from '../../ledger/decision.ts';
import {
  concludeRemote as decideConcludeRemote,
  decideRun as decideDecideRun,
  dispatchRun as decideDispatchRun,
  finishRun as decideFinishRun,
  recordRun as decideRecordRun,
  renewRun as decideRenewRun,
  startRun as decideStartRun,
} from './execute.ts';
import {
  removeVerificationPolicy as decideRemoveVerificationPolicy,
  setVerificationPolicies as decideSetVerificationPolicies,
} from './policy-book.ts';
import {
  receiveChange as decideReceiveChange,
  routeChangeset as decideRouteChangeset,
  submitChangeset as decideSubmitChangeset,
} from './route-changeset.ts';

export const submitChangeset = command('submit_changeset', decideSubmitChangeset);
export const routeChangeset = command('route_changeset', decideRouteChangeset);
export const receiveChange = command('receive_change', decideReceiveChange);
export const setVerificationPolicies = command('set_verification_policies', decideSetVerificationPolicies);
export const removeVerificationPolicy = command('remove_verification_policy', decideRemoveVerificationPolicy);
export const startRun = command('start_run', decideStartRun);
export const renewRun = command('renew_run', decideRenewRun);
export const dispatchRun = command('dispatch_run', decideDispatchRun);
export const finishRun = command('finish_run', decideFinishRun);
export const recordRun = command('record_run', decideRecordRun);
export const concludeRemote = command('conclude_remote', decideConcludeRemote);
export const decideRun = command('decide_run', decideDecideRun);
