/** What other slices, the runtime and the transports may use of verification. */
export { decideRun } from './execute.ts';
export { concludeRun, receiveChange } from './receive-change.ts';
export { missingProof, proofNeeds } from './test-required.ts';
export { VERIFICATION_APPROVAL } from './verification-approval.ts';
export { listRuns, runId, runsOfCommit } from './verification-run.ts';
