/** What the command line uses from guardrails. */
export { guardAsRun } from './guard-commands.ts';
