import { isoTime } from '../../kernel/clock.ts';
import type { TaskChanges } from './task-actions.ts';
import { fileName, type TaskFile, type TaskPriority, type TaskResult } from './task-file.ts';

/** What a verb of an agent or a person writes into a task: more than a pass ever does. */
export interface VerbChanges extends TaskChanges {
  readonly started_at_ms?: number;
  readonly started_by?: string;
  readonly result?: ResultGiven;
  readonly retry_count?: number;
}

export interface ResultGiven {
  readonly summary: string;
  readonly artefacts?: string[] | undefined;
  readonly next_agent?: string | undefined;
  readonly next_task_title?: string | undefined;
  readonly next_artefacts?: string[] | undefined;
  readonly next_task_notes?: string[] | undefined;
  readonly completed_at_ms: number;
}

/** A task that a caller asks for. */
export interface NewTaskFile {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly priority: TaskPriority;
  readonly artefacts: readonly string[];
  readonly notes: readonly string[];
  readonly dependencies: readonly string[];
  readonly created_by: string;
  readonly created_at_ms: number;
  /** The task of the queue that it comes from. */
  readonly work_id?: string | undefined;
}

export type VerbStep =
  | { readonly kind: 'update'; readonly changes: VerbChanges }
  | { readonly kind: 'move'; readonly to: string };

/**
 * What a verb does to a file, in atomic steps. A pass between any two of them does nothing unintended. No
 * steps: it was done before, and asking again changes nothing. Otherwise, why it can't be done in the task's
 * current state.
 */
export type VerbPlan = { readonly steps: readonly VerbStep[] } | { readonly wrong: string };

export interface VerbCall {
  readonly file: TaskFile;
  /** The caller. */
  readonly by: string;
  readonly now_ms: number;
}

const DONE_HERE =
  'It is done, and its file is still in assigned/: set its status to assigned to have it done again.';

const NOTHING: VerbPlan = { steps: [] };

/** The agent whose folder it is in, else the agent that the file names. */
export function ownerOf({ folder, task }: TaskFile): string {
  return folder ?? task.agent;
}

export function startTask({ file, by, now_ms }: VerbCall): VerbPlan {
  const { task } = file;
  const elsewhere = notAssigned(file);
  if (elsewhere !== undefined) return { wrong: elsewhere };
  if (task.status === 'error') return { wrong: 'It is in error; retry it first.' };
  if (task.status === 'done') return { wrong: DONE_HERE };
  if (task.status === 'in_progress')
    return task.started_by === by ? NOTHING : { wrong: `It is in progress already${since(file)}.` };
  const changes: VerbChanges = {
    // Otherwise the next pass would assign it to another agent, and back.
    ...(task.agent === ownerOf(file) ? {} : { agent: ownerOf(file) }),
    status: 'in_progress',
    ...(task.assigned_at_ms === undefined ? { assigned_at_ms: now_ms } : {}),
    started_at_ms: now_ms,
    started_by: by,
  };
  return { steps: [{ kind: 'update', changes }] };
}

/**
 * First the result, while the task is still in progress; then the move; then the status. A pass in between
 * finds a task in progress, or a file in `done/`, which is done: it never moves one back, and no result is
 * lost.
 */
export function finishTask(
  { file, now_ms }: VerbCall,
  given: Omit<ResultGiven, 'completed_at_ms'>,
): VerbPlan {
  const { task, shelf, path } = file;
  const result = { ...given, completed_at_ms: now_ms };
  // If a person moved the task out of `done/` to be done again, its completion time is from the round before.
  const completed_at_ms = (shelf === 'done' ? task.completed_at_ms : undefined) ?? now_ms;
  const done: VerbStep = { kind: 'update', changes: { status: 'done', completed_at_ms } };
  if (shelf === 'done') {
    if (task.result === undefined) return { steps: [{ kind: 'update', changes: { result } }, done] };
    if (!isSame(task.result, given)) return { wrong: 'It is done already, with another result.' };
    return task.status === 'done' || task.status === 'archived' ? NOTHING : { steps: [done] };
  }
  const isDone = shelf === 'assigned' && task.status === 'done';
  const elsewhere = notAssigned(file) ?? (isDone ? undefined : notWorking(file));
  if (elsewhere !== undefined) return { wrong: elsewhere };
  // Its agent has said so in the file, and not moved it.
  const isSaid = isDone && task.result !== undefined;
  if (isSaid && !isSame(task.result, given)) return { wrong: 'It is done already, with another result.' };
  return {
    steps: [
      ...(isSaid ? [] : [{ kind: 'update', changes: { result } } as const]),
      { kind: 'move', to: `done/${ownerOf(file)}/${fileName(path)}` },
      done,
    ],
  };
}

export function failTask({ file, by, now_ms }: VerbCall, message: string): VerbPlan {
  const { task } = file;
  const elsewhere = notAssigned(file);
  if (elsewhere !== undefined) return { wrong: elsewhere };
  if (task.status === 'error' && task.error?.message === message) return NOTHING;
  const idle = notWorking(file);
  if (idle !== undefined) return { wrong: idle };
  const changes: VerbChanges = {
    status: 'error',
    error: { message, at_ms: now_ms, agent: by },
    retry_count: task.error?.retry_count ?? 0,
  };
  return { steps: [{ kind: 'update', changes }] };
}

/** Moved into the fridge as it is: no pass looks in there. */
export function freezeTask({ file }: VerbCall): VerbPlan {
  if (file.shelf === 'fridge') return NOTHING;
  if (file.shelf === 'done') return { wrong: 'It is done.' };
  return { steps: [{ kind: 'move', to: `fridge/${fileName(file.path)}` }] };
}

export function retryTask({ file, now_ms }: VerbCall): VerbPlan {
  const { task, shelf, path } = file;
  const failed = task.status === 'error';
  const counted = failed ? { retry_count: (task.error?.retry_count ?? 0) + 1 } : {};
  if (shelf === 'fridge')
    return {
      steps: [
        { kind: 'update', changes: { status: 'new', ...counted } },
        { kind: 'move', to: `inbox/${fileName(path)}` },
      ],
    };
  if (!failed || shelf === 'done')
    return { wrong: `It is ${shelf === 'done' ? 'done' : task.status}, neither in error nor in the fridge.` };
  if (shelf === 'inbox') return { steps: [{ kind: 'update', changes: { status: 'new', ...counted } }] };
  const changes: VerbChanges = {
    ...(task.agent === ownerOf(file) ? {} : { agent: ownerOf(file) }),
    status: 'assigned',
    assigned_at_ms: now_ms,
    ...counted,
  };
  return { steps: [{ kind: 'update', changes }] };
}

function notAssigned({ shelf }: TaskFile): string | undefined {
  switch (shelf) {
    case 'assigned':
      return undefined;
    case 'inbox':
      return 'It is still in the inbox; a pass (`cox coordinate`) assigns it.';
    case 'fridge':
      return 'It is in the fridge; retry it to take it out.';
    case 'done':
      return 'It is done.';
  }
}

function notWorking({ task }: TaskFile): string | undefined {
  if (task.status === 'in_progress') return undefined;
  if (task.status === 'done') return DONE_HERE;
  if (task.status === 'blocked') return 'It is blocked; start it first.';
  return task.status === 'error' ? 'It is in error; retry it first.' : 'Nobody has started it.';
}

function since({ task: { started_by, started_at_ms } }: TaskFile): string {
  const by = started_by === undefined ? '' : `, by ${started_by}`;
  return `${by}${started_at_ms === undefined ? '' : ` since ${isoTime(started_at_ms)}`}`;
}

function isSame(now: TaskResult, given: Omit<ResultGiven, 'completed_at_ms'>): boolean {
  const told = ({ summary, next_agent, next_task_title, next_artefacts, next_task_notes }: TaskResult) =>
    JSON.stringify([summary, next_agent, next_task_title, next_artefacts, next_task_notes]);
  return told(now) === told(given);
}
