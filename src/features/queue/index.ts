/** What other slices, the runtime and the transports may use of queue. */

export { fileQueuedWork as fileWork, mirrorDeleted, mirrorFile, settleDue } from './commands.ts';
export { unknownTask } from './complete-work.ts';
export {
  type FiledAs,
  type FileStatus,
  filedGroups,
  filedPath,
  filedTaskId,
  fileHandoffId,
  OPEN_STATUSES,
} from './filed.ts';
export { taskDueAt_ms as dueAt_ms } from './get-work.ts';
export { type SeenFile, titleOf } from './mirror-work.ts';
export { giveBack } from './settle-due.ts';
export { describeTask, filedRanges } from './show-work.ts';
export {
  DEAD,
  DUE,
  dueKey,
  endedBadly,
  type FailurePolicy,
  HELD_BACK,
  READY,
  readyGroup,
  TASK,
  type TaskRecord,
  type TaskState,
  type TaskStatus,
  taskKey,
  WAITING,
} from './state.ts';
export { lineKey, waitersOf } from './work-line.ts';
