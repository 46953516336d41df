import { isoTime } from '../../kernel/clock.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EntityKey, EventBody } from '../../ledger/entity.ts';
import {
  endedBadly,
  type FailurePolicy,
  isEnded,
  policyOf,
  type TaskState,
  type TaskStatus,
  taskEntity,
  taskEvent,
  taskKey,
  tellDependent,
} from './state.ts';

export interface NewTask {
  readonly id: string;
  /** The id was made from the caller's idempotency key, so the task may already exist. */
  readonly keyed: boolean;
  readonly task_type: string;
  readonly description: string;
  readonly input_data?: Json | undefined;
  readonly priority: number;
  readonly files: readonly string[];
  readonly depends_on: readonly string[];
  readonly on_dependency_failure?: FailurePolicy | undefined;
  readonly not_before_ms?: number | undefined;
  readonly max_attempts: number;
}

/**
 * Submits tasks together or not at all. Parents are loaded by key and so expected unchanged: if one completes
 * meanwhile, this decides again, and no child is left waiting for a parent that has already passed on its
 * end.
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
      // A keyed task that already exists is left as it is: its parents no longer matter, and for the new
      // tasks of the batch it is a parent like any other, which may have ended.
      const fresh = new Map(
        [...batch].filter(([id, task]) => !task.keyed || loaded.get(taskKey(id)) === undefined),
      );
      const problem = parentProblem(loaded, fresh);
      if (problem !== undefined) return refused(problem);
      const awaited = new Set([...fresh.values()].flatMap((task) => task.depends_on));
      const events = markParents(loaded, fresh, awaited);
      const answers: JsonObject[] = [];
      for (const task of batch.values()) {
        if (!fresh.has(task.id)) {
          const status = loaded.get<TaskState>(taskKey(task.id))?.state.status;
          answers.push({ task_id: task.id, status, existing: true });
          continue;
        }
        const parents = [...new Set(task.depends_on)]
          .filter((id) => !fresh.has(id))
          .map((id) => ({ id, ...known(loaded, id) }));
        const data = newState(task, submitted_by, now_ms, awaited.has(task.id), (id) =>
          parents.some((parent) => parent.id === id && parent.status === 'completed'),
        );
        const submission = taskEvent(task.id, 'task_submitted', data);
        events.push(submission);
        let state = taskEntity.evolve(undefined, submission, now_ms);
        // Told at once what an earlier submitted task was told when it happened, so that the time of
        // submission makes no difference.
        for (const { id, status } of parents) {
          if (status === undefined || !endedBadly(status) || !state.unmet.includes(id)) continue;
          const event = tellDependent(task.id, state, id, status);
          events.push(event);
          state = taskEntity.evolve(state, event, now_ms);
        }
        answers.push({ task_id: task.id, status: state.status });
      }
      return commit(events, { success: true, tasks: answers });
    },
  };
}

function known(loaded: Loaded, id: string): Partial<TaskState> {
  return loaded.get<TaskState>(taskKey(id))?.state ?? {};
}

function parentProblem(loaded: Loaded, fresh: ReadonlyMap<string, NewTask>): Refusal | undefined {
  for (const task of fresh.values())
    for (const parent of task.depends_on) {
      if (fresh.has(parent)) continue;
      const { status, ended_at_ms } = known(loaded, parent);
      if (status === undefined)
        return refuse('unknown_dependency', `There is no task ${parent} to depend on.`, {
          field: 'depends_on',
          task_id: parent,
        });
      if (!endedBadly(status) || policyOf(task) !== 'block') continue;
      const message = `Task ${parent} ended as ${status} at ${isoTime(ended_at_ms ?? 0)}, so this one could never start.`;
      return refuse('dependency_failed', message, { field: 'depends_on', task_id: parent, status });
    }
  return undefined;
}

/**
 * A task with dependents passes its end on. A failed one may be retried, and then the tasks that were skipped
 * come back.
 */
function markParents(
  loaded: Loaded,
  fresh: ReadonlyMap<string, NewTask>,
  awaited: ReadonlySet<string>,
): EventBody[] {
  const skipping = [...fresh.values()].filter((task) => policyOf(task) === 'skip');
  const heard = (parent: string, status: TaskStatus | undefined) =>
    status !== undefined &&
    (!isEnded(status) || (endedBadly(status) && skipping.some((task) => task.depends_on.includes(parent))));
  return [...awaited].flatMap((parent) => {
    if (fresh.has(parent)) return [];
    const { status, has_dependents } = known(loaded, parent);
    return has_dependents || !heard(parent, status) ? [] : [taskEvent(parent, 'task_depended_on')];
  });
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
    on_dependency_failure: policyOf(task) === 'block' ? undefined : task.on_dependency_failure,
    not_before_ms: task.not_before_ms,
    max_attempts: task.max_attempts,
    attempt_count: 0,
    submitted_by,
    created_at_ms: now_ms,
    has_dependents,
    releasing: false,
  };
}

/** A new task can only wait for existing tasks, so a cycle can only lie within one batch. */
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
