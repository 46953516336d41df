import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { unknownTask } from './complete-work.ts';
import { keptInFile } from './mirror-work.ts';
import { isEnded, isHeldBack, type TaskState, taskEntity, taskEvent, taskKey } from './state.ts';

/** Cancels a task, even one in progress: its holder learns of it when it completes the task. */
export function cancelWork(
  task_id: string,
  agent_id: string,
  reason: string | undefined,
): Decision<JsonObject> {
  return change(task_id, 'cancel', (state) => {
    if (isEnded(state.status)) return undefined;
    const event = taskEvent(task_id, 'task_cancelled', { agent_id, error_message: reason });
    const has_dependents = state.has_dependents ? true : undefined;
    return { event, answer: { success: true, status: 'cancelled', task_id, has_dependents } };
  });
}

export function reprioritiseWork(task_id: string, priority: number): Decision<JsonObject> {
  return change(task_id, 'reprioritise', (state) => {
    if (isEnded(state.status)) return undefined;
    const event = taskEvent(task_id, 'task_reprioritised', { priority });
    return { event, answer: { success: true, task_id, status: state.status, priority } };
  });
}

/**
 * Brings a failed or dead task back to the queue with all its attempts; tasks that depend on it wait again. A
 * task that was skipped, or is blocked by a failed dependency, continues without that dependency.
 */
export function retryWork(task_id: string): Decision<JsonObject> {
  return change(task_id, 'retry', (state, now_ms) => {
    const stopped = ['failed', 'dead', 'skipped'].includes(state.status);
    if (!stopped && !(state.status === 'blocked' && isHeldBack(state))) return undefined;
    const event = taskEvent(task_id, 'task_retried');
    const { status } = taskEntity.evolve(state, event, now_ms);
    return { event, answer: { success: true, task_id, status } };
  });
}

function change(
  task_id: string,
  verb: string,
  step: (state: TaskState, now_ms: number) => { event: EventBody; answer: JsonObject } | undefined,
): Decision<JsonObject> {
  const key = taskKey(task_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const state = loaded.get<TaskState>(key)?.state;
      if (state === undefined) return refused(unknownTask(task_id));
      const filed = keptInFile(task_id, state);
      if (filed !== undefined) return refused(filed);
      const done = step(state, now_ms);
      if (done !== undefined) return commit([done.event], done.answer);
      const message = `Task ${task_id} is ${state.status}; it is not possible to ${verb} it.`;
      return refused(refuse('wrong_status', message, { task_id, status: state.status }));
    },
  };
}
