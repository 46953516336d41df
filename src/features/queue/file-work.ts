import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused, type Verdict } from '../../ledger/decision.ts';
import { unknownTask } from './complete-work.ts';
import type { FiledAs } from './filed.ts';
import { keptInFile } from './mirror-work.ts';
import { type TaskState, taskEvent, taskKey } from './state.ts';

export interface FileWork {
  readonly task_id: string;
  readonly directory: string;
  /** The name the file should get. If an earlier writer has already chosen another name, that one stands. */
  readonly file_id: string;
  readonly agent: string;
  /** The process that writes it, for this one attempt. */
  readonly by: string;
  readonly lease_ms: number;
  /** The name chosen before, which another file has. */
  readonly instead_of?: string | undefined;
}

/**
 * A task leaves the queue for a work directory. This commit comes first, and the file after it: from now on
 * no agent is handed the task, and any process that finds the file overdue writes it. `resumed` says that it
 * may exist already.
 */
export function fileQueuedWork(command: FileWork): Decision<JsonObject> {
  const { task_id, directory, by } = command;
  const key = taskKey(task_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const state = loaded.get<TaskState>(key)?.state;
      if (state === undefined) return refused(unknownTask(task_id));
      if (state.status === 'pending') return filing(command, command.file_id, command.agent, false, now_ms);
      const { file } = state;
      if (state.status !== 'filed' || file?.filing === undefined || file.directory !== directory) {
        const message = `Task ${task_id} is ${state.status}; only a pending one can become a file.`;
        const refusal = keptInFile(task_id, state);
        return refused(refusal ?? refuse('wrong_status', message, { task_id, status: state.status }));
      }
      if (file.filing.by !== by && file.filing.until_ms > now_ms) {
        const message = `Somebody is writing the file of task ${task_id} at this moment.`;
        return refused(refuse('task_changed', message, { task_id }));
      }
      const { instead_of = '' } = command;
      const file_id = file.id === instead_of ? command.file_id : file.id;
      return filing(command, file_id, file.agent, true, now_ms);
    },
  };
}

function filing(
  { task_id, directory, by, lease_ms }: FileWork,
  file_id: string,
  agent: string,
  resumed: boolean,
  now_ms: number,
): Verdict<JsonObject> {
  const path = `inbox/${file_id}.yaml`;
  const until_ms = now_ms + lease_ms;
  const file: FiledAs = { directory, id: file_id, path, agent, status: 'new', filing: { by, until_ms } };
  return commit([taskEvent(task_id, 'task_filed', { file: file as unknown as JsonObject })], {
    success: true,
    task_id,
    task_file: file_id,
    agent,
    resumed,
  });
}
