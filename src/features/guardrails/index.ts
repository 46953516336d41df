/** What other slices, the runtime and the transports may use of guardrails. */

export type { Assessment } from './assess.ts';
export { concluded } from './conclude.ts';
export { gatherFacts } from './git-facts.ts';
export {
  announceGuarded,
  askedBy,
  commandGuard,
  exactHash,
  guardAction,
  type PlainGuard,
  subjectOf,
} from './guard-step.ts';
export { isOwnWorktree } from './own-worktree.ts';
export type { ProjectPatterns } from './project.ts';
export { readGuardrails } from './project-reader.ts';
export { commandsIn, commandsInData, type TaskCommand } from './read-task-text.ts';
