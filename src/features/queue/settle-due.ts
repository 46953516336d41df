import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import {
  commit,
  type Decision,
  type Loaded,
  need,
  prefixed,
  type Range,
  refused,
} from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { taskDueAt_ms } from './get-work.ts';
import {
  DUE,
  failedLink,
  TASK,
  type TaskRecord,
  type TaskState,
  taskEntity,
  taskEvent,
  taskKey,
  tellDependent,
  waitingLink,
} from './state.ts';

/**
 * Applies what time alone has made true, and what finished tasks still have to pass on to their dependents.
 * This needs no schedule: every call that asks for work does one round first, and an interrupted round is
 * repeated.
 */
export function settleDue(): Decision<JsonObject> {
  return {
    needs: { ranges: [due] },
    decide(loaded, now_ms) {
      const tasks = loaded.list<TaskState>(due).filter(({ state }) => taskDueAt_ms(state) <= now_ms);
      const parents = withRanges(tasks.filter(({ state }) => state.releasing));
      const ranges = parents.flatMap((parent) => parent.ranges);
      // The parents by key as well, so that they are expected unchanged: a retried parent has nothing to pass
      // on.
      if (ranges.some((range) => !loaded.hasList(range)))
        return need({ keys: parents.map(({ task }) => taskKey(task.id)), ranges });
      const events = tasks.flatMap((task) => passTime(task, now_ms));
      events.push(...release(loaded, parents, now_ms));
      if (events.length === 0 && parents.length === 0)
        return refused(refuse('no_tasks_available', 'Nothing is due.'));
      return commit(events, { success: true, settled: events.length });
    },
  };
}

const due = prefixed('sort', TASK, DUE, limits.due_per_round);

function passTime(task: TaskRecord, now_ms: number): EventBody[] {
  const { state } = task;
  return state.status === 'delayed' ? [taskEvent(task.id, 'task_promoted')] : giveBack(task, now_ms);
}

/** The claim has ended without an answer. */
export function giveBack({ id, state }: TaskRecord, now_ms: number): EventBody[] {
  if (state.status !== 'claimed' || state.lease === undefined) return [];
  const { agent_id, token } = state.lease;
  if (state.attempt_count >= state.max_attempts) {
    const error_message = `Attempt ${state.attempt_count} of ${state.max_attempts} ended without an answer from ${agent_id}.`;
    return [taskEvent(id, 'task_dead_lettered', { agent_id, token, error_message })];
  }
  const retry_at_ms = now_ms + retryDelay_ms(state.attempt_count);
  return [taskEvent(id, 'task_lease_expired', { agent_id, token, retry_at_ms })];
}

/**
 * 5 s, 10 s, 20 s … at most 5 minutes: a task that kills its agent should not take the next one down at once.
 */
export function retryDelay_ms(attempt_count: number): number {
  return Math.min(5000 * 2 ** (attempt_count - 1), 300_000);
}

interface Parent {
  readonly task: TaskRecord;
  /** The dependents that are still to be told. */
  readonly ranges: readonly Range[];
}

/** Many parents with few dependents are as quick as one with many: they share the dependents of a round. */
function withRanges(releasing: readonly TaskRecord[]): Parent[] {
  const parents = releasing.slice(0, limits.parents_per_round).map((task) => {
    const links = [waitingLink(task.id)];
    if (task.state.status === 'completed') links.push(failedLink(task.id));
    return { task, links };
  });
  const limit = Math.floor(limits.dependents_per_round / parents.flatMap(({ links }) => links).length);
  const range = (link: string): Range => ({
    by: 'link',
    kind: TASK,
    from: link,
    before: `${link}\u0000`,
    limit,
  });
  return parents.map(({ task, links }) => ({ task, ranges: links.map(range) }));
}

/**
 * Tells up to one round of dependents how their parents ended. No new one can appear meanwhile (a submission
 * expects its parents unchanged), so a range that is not full is the last, and the parent's marker is removed
 * in the same commit.
 */
function release(loaded: Loaded, parents: readonly Parent[], now_ms: number): EventBody[] {
  const events: EventBody[] = [];
  /**
   * Their state after what this round has told them: a task may wait for several parents, and a parent may
   * itself wait.
   */
  const told = new Map<string, TaskState>();
  for (const { task: parent, ranges } of parents) {
    if (told.has(parent.id)) continue;
    if (loaded.get(taskKey(parent.id))?.version !== parent.version) continue;
    for (const dependent of ranges.flatMap((range) => loaded.list<TaskState>(range))) {
      const state = told.get(dependent.id) ?? dependent.state;
      const event = tellDependent(dependent.id, state, parent.id, parent.state.status);
      told.set(dependent.id, taskEntity.evolve(state, event, now_ms));
      events.push(event);
    }
    if (ranges.every((range) => loaded.list(range).length < range.limit))
      events.push(taskEvent(parent.id, 'dependents_released'));
  }
  return events;
}
