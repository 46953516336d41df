/** What others may use of the guardrails about edits: what a hook needs before it reads a command. */
export { assessEdit } from './assess-edit.ts';
export { branchesHere, topAt } from './branch.ts';
