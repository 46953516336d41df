import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { stuckBoardClaims } from '../board/index.ts';
import { staleEdgeClaims } from '../claims/index.ts';
import { endedBadly, type TaskRecord, type TaskState, taskKey } from '../queue/index.ts';
import { deadTasks, filedTasks, heldBackTasks, type OverviewTimes } from './overview.ts';
import { awaitingApproval } from './trusted.ts';

/** A caller that has waited this long is worth a look. */
const LONG_WAIT_MS = 10 * 60_000;

/** The tasks whose end blocks other tasks; they are read in a second step. */
export function stuckNeeds(loaded: Loaded): Needs {
  const parents = [...byFailedParent(loaded).keys()].slice(0, limits.overview_stuck_max);
  return { keys: parents.map(taskKey) };
}

function byFailedParent(loaded: Loaded): Map<string, TaskRecord[]> {
  const held = new Map<string, TaskRecord[]>();
  for (const task of heldBackTasks(loaded))
    for (const parent of task.state.failed_dependencies)
      if (task.state.unmet.includes(parent)) held.set(parent, [...(held.get(parent) ?? []), task]);
  return held;
}

/** What continues only if a person or an agent acts, each with the command that helps. */
export function stuckThings(
  loaded: Loaded,
  parents: Loaded,
  seen: JsonObject,
  { stale_ms, claim_rules }: OverviewTimes,
  now_ms: number,
): JsonObject[] {
  const held = byFailedParent(loaded);
  const dead = deadTasks(loaded);
  const files = filedTasks(loaded).flatMap((task) => stuckFile(task, held.get(task.id)?.length ?? 0, now_ms));
  const known = new Set([...dead.map(({ id }) => id), ...files.map(({ task_id }) => task_id)]);
  return [
    ...awaitingApproval(loaded, now_ms),
    ...staleEdgeClaims(loaded, claim_rules, now_ms),
    ...stuckBoardClaims(loaded, now_ms),
    ...files,
    ...dead.map((task) => givenUp(task, held.get(task.id)?.length ?? 0)),
    ...[...held]
      .filter(([parent]) => !known.has(parent))
      .flatMap(([parent, tasks]) => failedParent(parent, tasks, parents)),
    ...silentHolders(seen, stale_ms, now_ms),
    ...longWaits(seen, now_ms),
  ];
}

/** A task file in error, or in progress for too long. */
function stuckFile({ id, state }: TaskRecord, holds_back: number, now_ms: number): JsonObject[] {
  const { file } = state;
  const stalls_at_ms = file?.stalls_at_ms ?? Number.POSITIVE_INFINITY;
  if (file === undefined || (file.status !== 'error' && stalls_at_ms > now_ms)) return [];
  const isError = file.status === 'error';
  return [
    {
      what: isError ? 'failed_file' : 'stalled_file',
      task_id: id,
      task_file: file.id,
      agent_id: file.agent,
      task_description: state.description,
      since_at: isoTime((isError ? state.ended_at_ms : file.started_at_ms) ?? stalls_at_ms),
      ...(holds_back === 0 ? {} : { holds_back }),
      message: state.error_message,
      command: `cox task ${isError ? 'retry' : 'show'} ${file.id}`,
    },
  ];
}

function givenUp({ id, state }: TaskRecord, holds_back: number): JsonObject {
  return {
    what: 'dead_letter',
    task_id: id,
    task_type: state.task_type,
    task_description: state.description,
    since_at: isoTime(state.ended_at_ms ?? 0),
    ...(holds_back === 0 ? {} : { holds_back }),
    message: state.error_message,
    command: `cox work retry ${id}`,
  };
}

/**
 * Its dependents learn only from its success that the failure is resolved; a task that was sent back is in
 * progress.
 */
function failedParent(parent: string, tasks: readonly TaskRecord[], parents: Loaded): JsonObject[] {
  const key = taskKey(parent);
  const state = parents.has(key) ? parents.get<TaskState>(key)?.state : undefined;
  if (state === undefined || !endedBadly(state.status)) return [];
  const thing = {
    what: 'failed_dependency',
    task_id: parent,
    task_type: state.task_type,
    task_description: state.description,
    since_at: isoTime(state.ended_at_ms ?? 0),
    holds_back: tasks.length,
    message: state.error_message,
    command: failedParentCommand(parent, state, tasks),
  };
  return [thing];
}

function failedParentCommand(parent: string, { file, status }: TaskState, tasks: readonly TaskRecord[]) {
  if (file?.status === 'frozen') return `cox task retry ${file.id}`;
  // A cancelled task stays cancelled; then the dependent has to do without it.
  return `cox work retry ${status === 'cancelled' ? tasks[0]?.id : parent}`;
}

function silentHolders({ agents }: JsonObject, stale_ms: number, now_ms: number): JsonObject[] {
  return (agents as JsonObject[])
    .filter(({ last_heartbeat_at }) => now_ms - Date.parse(last_heartbeat_at as string) >= stale_ms)
    .filter(({ locks, tasks }) => Number(locks) + Number(tasks) > 0)
    .map(({ agent_id, last_heartbeat_at, locks, tasks }) => ({
      what: 'silent_holder',
      agent_id,
      since_at: last_heartbeat_at,
      locks,
      tasks,
      command: 'cox session cleanup',
    }));
}

function longWaits({ waiting = [], locks }: JsonObject, now_ms: number): JsonObject[] {
  return (waiting as JsonObject[])
    .filter(({ waiting_since_at }) => now_ms - Date.parse(waiting_since_at as string) >= LONG_WAIT_MS)
    .map(({ agent_id, file_path, waiting_since_at }) => {
      const holder = (locks as JsonObject[]).find((lock) => lock.file_path === file_path)?.locked_by;
      return {
        what: 'long_wait',
        agent_id,
        file_path,
        since_at: waiting_since_at,
        locked_by: holder,
        command: 'cox lock check',
      };
    });
}
