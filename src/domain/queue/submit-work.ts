import { isoTime } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EntityKey, EventBody } from '../../ledger/entity.ts';
import { isEnded, type TaskState, type TaskStatus, taskEvent, taskKey } from './task.ts';

export interface NewTask {
  readonly id: string;
  /** The id was made from the caller's idempotency key, so the task may exist already. */
  readonly keyed: boolean;
  readonly task_type: string;
  readonly description: string;
  readonly input_data?: Json | undefined;
  readonly priority: number;
  readonly files: readonly string[];
  readonly depends_on: readonly string[];
  readonly not_before_ms?: number | undefined;
  readonly max_attempts: number;
}

/**
 * Submits tasks together or not at all. Parents are loaded by key and so expected unchanged: one that completes
 * meanwhile makes this decide again, and no child is left waiting for a parent that has already passed on its end.
 */
export function submitWork(tasks: readonly NewTask[], submitted_by: string): Decision<JsonObject> {
  const batch = new Map(tasks.map((task) => [task.id, task]));
  const named = new Set(tasks.flatMap((task) => task.depends_on).filter((id) => !batch.has(id)));
  const keys: EntityKey[] = [...named].map(taskKey);
  for (const task of batch.values()) if (task.keyed) keys.push(taskKey(task.id));
  return {
    needs: { keys },
    decide(loaded, now_ms) {
      const cycle = findCycle(batch);
      if (cycle !== undefined) {
        const message = `These tasks wait for each other: ${cycle.join(' → ')}.`;
        return refused(refuse('dependency_cycle', message, { field: 'depends_on', cycle }));
      }
      // A keyed task that exists already is left as it is: its parents do not matter any more, and for the new tasks
      // of the batch it is a parent like any other, which may have ended.
      const fresh = new Map(
        [...batch].filter(([id, task]) => !task.keyed || loaded.get(taskKey(id)) === undefined),
      );
      const awaited = new Set([...fresh.values()].flatMap((task) => task.depends_on));
      const events: EventBody[] = [];
      for (const parent of awaited) {
        if (fresh.has(parent)) continue;
        const problem = parentProblem(loaded, parent);
        if (problem !== undefined) return refused(problem);
        const state = loaded.get<TaskState>(taskKey(parent))?.state;
        if (state?.has_dependents === false && !isEnded(state.status))
          events.push(taskEvent(parent, 'task_depended_on'));
      }
      const answers: JsonObject[] = [];
      for (const task of batch.values()) {
        if (!fresh.has(task.id)) {
          const status = loaded.get<TaskState>(taskKey(task.id))?.state.status;
          answers.push({ task_id: task.id, status, existing: true });
          continue;
        }
        const data = newState(task, submitted_by, now_ms, awaited.has(task.id), (id) =>
          isMet(loaded, fresh, id),
        );
        events.push(taskEvent(task.id, 'task_submitted', data));
        answers.push({ task_id: task.id, status: initialStatus(data as unknown as TaskState, now_ms) });
      }
      return commit(events, { success: true, tasks: answers });
    },
  };
}

function parentProblem(loaded: Loaded, parent: string): Refusal | undefined {
  const record = loaded.get<TaskState>(taskKey(parent));
  if (record === undefined)
    return refuse('unknown_dependency', `There is no task ${parent} to depend on.`, {
      field: 'depends_on',
      task_id: parent,
    });
  const { status, ended_at_ms } = record.state;
  if (!isEnded(status) || status === 'completed') return undefined;
  const message = `Task ${parent} ended as ${status} at ${isoTime(ended_at_ms ?? 0)}, so this one could never start.`;
  return refuse('dependency_failed', message, { field: 'depends_on', task_id: parent, status });
}

function isMet(loaded: Loaded, fresh: ReadonlyMap<string, NewTask>, id: string): boolean {
  return !fresh.has(id) && loaded.get<TaskState>(taskKey(id))?.state.status === 'completed';
}

function newState(
  task: NewTask,
  submitted_by: string,
  now_ms: number,
  has_dependents: boolean,
  met: (id: string) => boolean,
): JsonObject {
  const depends_on = [...new Set(task.depends_on)];
  return {
    task_type: task.task_type,
    description: task.description,
    input_data: task.input_data,
    priority: task.priority,
    files: [...task.files],
    depends_on,
    unmet: depends_on.filter((id) => !met(id)),
    failed_dependencies: [],
    not_before_ms: task.not_before_ms,
    max_attempts: task.max_attempts,
    attempt_count: 0,
    submitted_by,
    created_at_ms: now_ms,
    has_dependents,
    releasing: false,
  };
}

function initialStatus(state: TaskState, now_ms: number): TaskStatus {
  if (state.unmet.length > 0) return 'blocked';
  return state.not_before_ms !== undefined && state.not_before_ms > now_ms ? 'delayed' : 'pending';
}

/** A new task can only wait for tasks that exist, so a cycle can only lie within one batch. */
function findCycle(batch: ReadonlyMap<string, NewTask>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (id: string): string[] | undefined => {
    const start = path.indexOf(id);
    if (start >= 0) return [...path.slice(start), id];
    const task = batch.get(id);
    if (task === undefined || done.has(id)) return undefined;
    path.push(id);
    for (const parent of task.depends_on) {
      const cycle = visit(parent);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(id);
    return undefined;
  };
  for (const id of batch.keys()) {
    const cycle = visit(id);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
