import type { Json } from '../../kernel/json.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import type { Lease } from '../../ledger/lease.ts';
import { type FiledAs, filedFields, filedGroup } from './filed.ts';

/**
 * docs/task-states.md draws these states, and a test compares the drawing with `evolve`. `dead` is the
 * dead-letter state: every attempt ended without an answer.
 */
export type TaskStatus =
  | 'blocked'
  | 'delayed'
  | 'pending'
  | 'claimed'
  | 'filed'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'dead'
  | 'skipped';

/** What a task does when one of its dependencies ends without success. */
export type FailurePolicy = 'block' | 'skip' | 'run';

export interface TaskState {
  status: TaskStatus;
  task_type: string;
  description: string;
  input_data?: Json | undefined;
  priority: number;
  files: string[];
  depends_on: string[];
  /** Dependencies that still block it. */
  unmet: string[];
  /**
   * Dependencies that ended without success. One that is also unmet blocks the task; any other counts as met
   * all the same.
   */
  failed_dependencies: string[];
  /** Absent: block, as in every task from before there was a choice. */
  on_dependency_failure?: FailurePolicy | undefined;
  not_before_ms?: number | undefined;
  max_attempts: number;
  attempt_count: number;
  submitted_by: string;
  created_at_ms: number;
  claimed_at_ms?: number | undefined;
  ended_at_ms?: number | undefined;
  lease?: Lease | undefined;
  result?: Json | undefined;
  error_message?: string | undefined;
  /** Other tasks wait for this task, so its end has to be passed on … */
  has_dependents: boolean;
  /** … and this says that passing it on is not finished. Any get_work continues it. */
  releasing: boolean;
  /**
   * The task is a file in a work directory. The file is the truth and this is a mirror of it; no agent takes
   * the task from the queue.
   */
  file?: FiledAs | undefined;
}

export type TaskRecord = EntityRecord<TaskState>;

export const TASK = 'task';

/**
 * Sort keys: tasks that can be handed out, by urgency; and tasks that time or a finished parent changes, by
 * when.
 */
export const READY = 'ready/';
export const DUE = 'due/';

/** The group of dead tasks, for people to find. */
export const DEAD = 'dead/';

export function taskKey(id: string): EntityKey {
  return { kind: TASK, id };
}

export function taskEvent(id: string, type: string, data: EventBody['data'] = {}): EventBody {
  return { kind: TASK, id, type, data };
}

export function readyGroup(task_type: string): string {
  return `${READY}${task_type}/`;
}

export function dueKey(time_ms: number): string {
  return `${DUE}${String(Math.floor(time_ms)).padStart(15, '0')}`;
}

/** Under these links a parent finds the tasks that wait for it. */
export function waitingLink(parent: string): string {
  return `waiting/${parent}`;
}

export function failedLink(parent: string): string {
  return `failed/${parent}`;
}

/** All tasks that wait for some parent, and all that a parent has failed. */
export const WAITING = waitingLink('');
export const HELD_BACK = failedLink('');

export function isEnded(status: TaskStatus): boolean {
  return status === 'completed' || endedBadly(status);
}

export function endedBadly(status: TaskStatus): boolean {
  return status === 'failed' || status === 'cancelled' || status === 'dead' || status === 'skipped';
}

export function policyOf(task: Pick<TaskState, 'on_dependency_failure'>): FailurePolicy {
  return task.on_dependency_failure ?? 'block';
}

/** Whether a dependency that ended without success blocks it. */
export function isHeldBack(state: TaskState): boolean {
  return state.unmet.some((id) => state.failed_dependencies.includes(id));
}

/**
 * Tells a waiting task that a dependency has ended. The task's own policy decides what follows, in `evolve`.
 */
export function tellDependent(id: string, state: TaskState, parent: string, status: TaskStatus): EventBody {
  if (status === 'completed') return taskEvent(id, 'dependency_met', { task_id: parent });
  if (state.status === 'skipped' || state.on_dependency_failure !== 'skip')
    return taskEvent(id, 'dependency_failed', { task_id: parent });
  const error_message = `Task ${parent}, which it depends on, ended as ${status}.`;
  return taskEvent(id, 'task_skipped', { task_id: parent, error_message });
}

export const taskEntity: EntityType<TaskState> = {
  kind: TASK,
  evolve: (state, event, at_ms) => evolveTask(state, event, at_ms),
  index(state, id) {
    const urgency = String(state.priority).padStart(2, '0');
    if (state.status === 'pending')
      return { sort: `${READY}${urgency}`, group: `${readyGroup(state.task_type)}${urgency}` };
    if (state.status === 'delayed') return { sort: dueKey(state.not_before_ms ?? 0) };
    if (state.status === 'claimed') return { sort: dueKey(state.lease?.expires_at_ms ?? 0) };
    // Due at once, not from its end on: a clock that is set back must not delay the waiting tasks.
    const sort = state.releasing ? dueKey(0) : undefined;
    if (state.status === 'dead') return { sort, group: DEAD };
    if (state.file !== undefined) return { sort, group: filedGroup(state, id) };
    // A skipped task is still found by its parents: it comes back when the failed parent is retried.
    if (state.status !== 'blocked' && state.status !== 'skipped') return { sort };
    // A failed parent's children move under another prefix, so that the range of children still to be told
    // empties.
    const failed = new Set(state.failed_dependencies);
    return { sort, links: state.unmet.map((id) => (failed.has(id) ? failedLink(id) : waitingLink(id))) };
  },
};

/** The fields of task events; each event carries some of them. */
interface TaskEventData {
  task_id: string;
  lease: Lease;
  retry_at_ms: number;
  priority: number;
  /** The initial state of a task that was never submitted. */
  task?: Omit<TaskState, 'status'>;
}

function evolveTask(state: TaskState | undefined, event: EventBody, at_ms: number): TaskState {
  const data = event.data as unknown as TaskEventData;
  if (event.type === 'task_submitted') return waitOrGo({ ...(event.data as unknown as TaskState) }, at_ms);
  if (event.type === 'task_filed') return file(state ?? (data.task as TaskState), event);
  if (state === undefined) throw new Error(`${event.type} of a task that was never submitted: ${event.id}`);
  switch (event.type) {
    case 'task_file_changed':
      return { ...state, ...filedFields(event) };
    case 'task_depended_on':
      return { ...state, has_dependents: true };
    case 'dependency_met':
    case 'dependency_failed':
      return hearOf(state, event.type, data.task_id, at_ms);
    case 'task_promoted':
      return { ...state, status: 'pending', not_before_ms: undefined };
    case 'task_claimed':
      return {
        ...state,
        status: 'claimed',
        lease: data.lease,
        attempt_count: state.attempt_count + 1,
        claimed_at_ms: at_ms,
      };
    case 'task_renewed':
      return { ...state, lease: data.lease };
    case 'task_lease_expired':
      return { ...state, status: 'delayed', lease: undefined, not_before_ms: data.retry_at_ms };
    case 'task_reprioritised':
      return { ...state, priority: data.priority };
    case 'task_retried': {
      // Dependencies that have failed so far no longer block it: retrying a task that never ran means running
      // it without them.
      const unmet = state.unmet.filter((id) => !state.failed_dependencies.includes(id));
      return comeBack({ ...state, unmet, attempt_count: 0 }, at_ms);
    }
    case 'dependents_released':
      return { ...state, releasing: false };
    default:
      return endTask(state, event, at_ms);
  }
}

/** A dependency has ended: the task's own policy decides what follows. */
function hearOf(state: TaskState, how: string, parent: string, at_ms: number): TaskState {
  const without = (ids: readonly string[]) => ids.filter((id) => id !== parent);
  if (how === 'dependency_met') {
    const failed_dependencies = without(state.failed_dependencies);
    const next = { ...state, unmet: without(state.unmet), failed_dependencies };
    return state.status === 'skipped' && isHeldBack(next) ? next : comeBack(next, at_ms);
  }
  const failed_dependencies = [...state.failed_dependencies, parent];
  if (state.on_dependency_failure !== 'run') return { ...state, failed_dependencies };
  return waitOrGo({ ...state, unmet: without(state.unmet), failed_dependencies }, at_ms);
}

function endTask(state: TaskState, event: EventBody, at_ms: number): TaskState {
  const ended = {
    ...state,
    lease: undefined,
    ended_at_ms: at_ms,
    releasing: state.has_dependents,
    ...(event.data.file === undefined ? {} : { ...NOTHING_SAID, ...filedFields(event) }),
  };
  const { result, error_message } = event.data;
  switch (event.type) {
    case 'task_completed':
      return { ...ended, status: 'completed', result };
    case 'task_failed':
      return { ...ended, status: 'failed', result, error_message: error_message as string | undefined };
    case 'task_cancelled':
      return { ...ended, status: 'cancelled', error_message: error_message as string | undefined };
    case 'task_dead_lettered':
      return { ...ended, status: 'dead', error_message: error_message as string | undefined };
    case 'task_skipped': {
      const failed_dependencies = [...state.failed_dependencies, event.data.task_id as string];
      return { ...ended, status: 'skipped', failed_dependencies, error_message: error_message as string };
    }
    default:
      throw new Error(`unknown event of a task: ${event.type}`);
  }
}

/** Only the end that the file states counts: nothing of an earlier end stays. */
const NOTHING_SAID = { result: undefined, error_message: undefined };

/** It becomes a file, or is one again after its end was undone. */
function file(state: TaskState, event: EventBody): TaskState {
  const open = { releasing: false, ended_at_ms: undefined, not_before_ms: undefined, ...NOTHING_SAID };
  return { ...state, ...open, ...filedFields(event), status: 'filed' };
}

/** Its end, if it had one, is undone; dependents that have not been told of it keep waiting. */
function comeBack(state: TaskState, at_ms: number): TaskState {
  const open = { ...state, releasing: false, ended_at_ms: undefined, error_message: undefined };
  return waitOrGo(open, at_ms);
}

function waitOrGo(state: TaskState, at_ms: number): TaskState {
  if (state.unmet.length > 0) return { ...state, status: 'blocked' };
  if (state.not_before_ms !== undefined && state.not_before_ms > at_ms)
    return { ...state, status: 'delayed' };
  return { ...state, status: 'pending', not_before_ms: undefined };
}
