import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Loaded, type Needs, prefixed, type Range } from '../../ledger/decision.ts';
import { unknownTask } from './complete-work.ts';
import { filedGroups, filedPath, OPEN_STATUSES, type OpenStatus } from './filed.ts';
import { DUE, policyOf, READY, TASK, type TaskRecord, type TaskState, taskKey } from './state.ts';

export function showWorkNeeds(task_id: string): Needs {
  return { keys: [taskKey(task_id)] };
}

export function showWork(task_id: string, loaded: Loaded): JsonObject {
  const record = loaded.get<TaskState>(taskKey(task_id));
  return record === undefined ? unknownTask(task_id) : { success: true, ...describeTask(record) };
}

export function listWorkNeeds(limit: number): Needs {
  return {
    ranges: [
      prefixed('sort', TASK, READY, limit),
      prefixed('sort', TASK, DUE, limit),
      ...filedRanges(limit).map(([, range]) => range),
    ],
  };
}

/** The open tasks of work directories, by the status in their files. */
export function filedRanges(limit: number): [OpenStatus, Range][] {
  return OPEN_STATUSES.map((status) => [status, prefixed('group', TASK, filedGroups(status), limit)]);
}

/**
 * Tasks that can be handed out, in that order; claimed or delayed ones, soonest first; and tasks that are
 * files.
 */
export function listWork(limit: number, loaded: Loaded): JsonObject {
  const ready = loaded.list<TaskState>(prefixed('sort', TASK, READY, limit));
  const timed = loaded.list<TaskState>(prefixed('sort', TASK, DUE, limit));
  const of = (status: string) => timed.filter(({ state }) => state.status === status).map(describeTask);
  // Tasks in error have ended, like other failed tasks.
  const open = filedRanges(limit).filter(([status]) => status !== 'error');
  const filed = open.flatMap(([, range]) => loaded.list<TaskState>(range));
  return {
    success: true,
    pending: ready.map(describeTask),
    claimed: of('claimed'),
    delayed: of('delayed'),
    ...(filed.length === 0 ? {} : { filed: filed.slice(0, limit).map(inList) }),
  };
}

export function describeTask({ id, state }: TaskRecord): JsonObject {
  return {
    task_id: id,
    status: state.status,
    task_type: state.task_type,
    task_description: state.description,
    input_data: state.input_data,
    priority: state.priority,
    files: some(state.files),
    depends_on: some(state.depends_on),
    waiting_for: some(state.unmet),
    failed_dependencies: some(state.failed_dependencies),
    on_dependency_failure: state.depends_on.length === 0 ? undefined : policyOf(state),
    attempt_count: state.attempt_count,
    max_attempts: state.max_attempts,
    submitted_by: state.submitted_by,
    created_at: isoTime(state.created_at_ms),
    not_before: time(state.not_before_ms),
    claimed_by: state.lease?.agent_id,
    expires_at: time(state.lease?.expires_at_ms),
    ended_at: time(state.ended_at_ms),
    result: state.result,
    error_message: state.error_message,
    ...describeFile(state),
  };
}

/** Without what the file's path already says, or what only the queue needs. */
function inList(task: TaskRecord): JsonObject {
  const { task_id, status, priority, file_status, agent, started_by, file_path, task_description } =
    describeTask(task);
  return { task_id, status, agent, file_status, started_by, priority, file_path, task_description };
}

/** For a task that is a file: where it lies, whose it is and what it says. */
function describeFile({ file }: TaskState): JsonObject {
  if (file === undefined) return {};
  return {
    agent: file.agent,
    file_status: file.filing === undefined ? file.status : 'being_written',
    started_by: file.started_by,
    file_path: filedPath(file),
    task_file: file.id,
    waits_for_files: some(file.depends_on ?? []),
  };
}

function some(list: readonly string[]): string[] | undefined {
  return list.length === 0 ? undefined : [...list];
}

function time(value_ms: number | undefined): string | undefined {
  return value_ms === undefined ? undefined : isoTime(value_ms);
}
