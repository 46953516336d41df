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
import { dueAt_ms } from './get-work.ts';
import { DUE, failedLink, TASK, type TaskRecord, type TaskState, taskEvent, waitingLink } from './task.ts';

/**
 * What time alone has made true, and what finished tasks still have to pass on to those who wait. Nobody has to run
 * this on a schedule: whoever asks for work does one round of it first, and a round that was interrupted is repeated.
 */
export function settleDue(): Decision<JsonObject> {
  return {
    needs: { ranges: [due] },
    decide(loaded, now_ms) {
      const tasks = loaded.list<TaskState>(due).filter(({ state }) => dueAt_ms(state) <= now_ms);
      const parent = tasks.find(({ state }) => state.releasing);
      const waiting = parent === undefined ? [] : dependentsOf(parent);
      if (waiting.some((range) => !loaded.hasList(range))) return need({ ranges: waiting });
      const events = tasks.flatMap((task) => passTime(task, now_ms));
      if (parent !== undefined) events.push(...release(loaded, parent, waiting));
      if (events.length === 0) return refused(refuse('no_tasks_available', 'Nothing is due.'));
      return commit(events, { success: true, settled: events.length });
    },
  };
}

const due = prefixed('sort', TASK, DUE, limits.due_per_round);

function passTime(task: TaskRecord, now_ms: number): EventBody[] {
  const { state } = task;
  if (state.status === 'delayed') return [taskEvent(task.id, 'task_promoted')];
  if (state.status !== 'claimed' || state.lease === undefined) return [];
  const { agent_id, token } = state.lease;
  if (state.attempt_count >= state.max_attempts) {
    const error_message = `Attempt ${state.attempt_count} of ${state.max_attempts} ended without an answer from ${agent_id}.`;
    return [taskEvent(task.id, 'task_dead_lettered', { agent_id, token, error_message })];
  }
  const retry_at_ms = now_ms + retryDelay_ms(state.attempt_count);
  return [taskEvent(task.id, 'task_lease_expired', { agent_id, token, retry_at_ms })];
}

/** 5 s, 10 s, 20 s … at most 5 minutes: an agent that dies of the task itself should not take the next one down at once. */
export function retryDelay_ms(attempt_count: number): number {
  return Math.min(5000 * 2 ** (attempt_count - 1), 300_000);
}

function dependentsOf(parent: TaskRecord): Range[] {
  const links = [waitingLink(parent.id)];
  if (parent.state.status === 'completed') links.push(failedLink(parent.id));
  return links.map((link) => ({
    by: 'link',
    kind: TASK,
    from: link,
    before: `${link}\u0000`,
    limit: limits.dependents_per_round,
  }));
}

/**
 * Tells up to one round of dependents how the parent ended. No new one can appear meanwhile (a submission expects its
 * parents unchanged), so a range that is not full is the last, and the parent's marker goes in the same commit.
 */
function release(loaded: Loaded, parent: TaskRecord, ranges: readonly Range[]): EventBody[] {
  const type = parent.state.status === 'completed' ? 'dependency_met' : 'dependency_failed';
  const events: EventBody[] = [];
  let finished = true;
  for (const range of ranges) {
    const dependents = loaded.list<TaskState>(range);
    if (dependents.length === range.limit) finished = false;
    for (const dependent of dependents) events.push(taskEvent(dependent.id, type, { task_id: parent.id }));
  }
  if (finished) events.push(taskEvent(parent.id, 'dependents_released'));
  return events;
}
