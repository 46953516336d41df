/** What the command line uses of guardrails. */
export { guardAsRun } from './guard-commands.ts';
