import type { TaskChanges, TreeDraft } from './task-actions.ts';
import { type TaskFile, type TaskFileStatus, wholeSecond } from './task-file.ts';

/**
 * The place of a file is a person's decision: in an agent's folder it is that agent's, in `done/` it is done.
 * Its contents are updated to match. [DIR-7]
 */
export function heedPersons(draft: TreeDraft, now_ms: number): void {
  for (const file of draft.on('assigned')) heedAssigned(draft, file, now_ms);
  for (const file of draft.on('done')) heedDone(draft, file, now_ms);
}

const GOES_ON: readonly TaskFileStatus[] = ['assigned', 'in_progress', 'blocked', 'error'];

function heedAssigned(draft: TreeDraft, file: TaskFile, now_ms: number): void {
  const { task, folder = task.agent } = file;
  const isTheirs = task.agent === folder;
  const goesOn = GOES_ON.includes(task.status);
  // Its agent left it there: doing it again would undo what was done. It is reported.
  if (isTheirs && (goesOn || task.status === 'done')) return;
  const changes: TaskChanges = {
    ...(isTheirs ? {} : { agent: folder }),
    // The agent that has it now has not started it.
    ...(goesOn && (isTheirs || task.status === 'assigned') ? {} : { status: 'assigned' as const }),
    assigned_at_ms: now_ms,
  };
  const why = isTheirs
    ? `it lies in assigned/${folder}/ and was ${task.status}`
    : `it lies in assigned/${folder}/ and was ${task.agent}'s`;
  draft.update(file, changes, why);
}

function heedDone(draft: TreeDraft, file: TaskFile, now_ms: number): void {
  const { task } = file;
  const isDone = task.status === 'done' || task.status === 'archived';
  const isDated = task.completed_at_ms !== undefined || task.completed_at_unread === true;
  if (isDone && isDated) return;
  draft.update(
    file,
    {
      ...(isDone ? {} : { status: 'done' as const }),
      ...(isDated ? {} : { completed_at_ms: wholeSecond(task.result?.completed_at_ms ?? now_ms) }),
    },
    isDone ? 'it lies in done/ without a time' : `it lies in done/ and was ${task.status}`,
  );
}
