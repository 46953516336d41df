import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { unknownTask } from './complete-work.ts';
import { isEnded, type TaskState, taskEvent, taskKey } from './task.ts';

/** Takes a task back. One that is being worked on too: its holder is told when it completes. */
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

/** Brings a failed or dead task back to the queue with all its attempts; what waited for it waits again. */
export function retryWork(task_id: string): Decision<JsonObject> {
  return change(task_id, 'retry', (state) => {
    if (state.status !== 'failed' && state.status !== 'dead') return undefined;
    return {
      event: taskEvent(task_id, 'task_retried'),
      answer: { success: true, task_id, status: 'pending' },
    };
  });
}

function change(
  task_id: string,
  verb: string,
  step: (state: TaskState) => { event: EventBody; answer: JsonObject } | undefined,
): Decision<JsonObject> {
  const key = taskKey(task_id);
  return {
    needs: { keys: [key] },
    decide(loaded) {
      const state = loaded.get<TaskState>(key)?.state;
      if (state === undefined) return refused(unknownTask(task_id));
      const done = step(state);
      if (done !== undefined) return commit([done.event], done.answer);
      const message = `Task ${task_id} is ${state.status}; it is not possible to ${verb} it.`;
      return refused(refuse('wrong_status', message, { task_id, status: state.status }));
    },
  };
}
