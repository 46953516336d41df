/** What others may use of runner in verification. */
export { servedExecutors } from './executors.ts';
export { type Push, readPush, readWorkflowRun, type WorkflowOutcome } from './github-events.ts';
export { keepWorking } from './working.ts';
