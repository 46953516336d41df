import { uuidFromKey } from '../../../kernel/ids.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { announceGuarded, askedBy } from '../../guardrails/index.ts';
import { guarded } from '../../trust/approvals/index.ts';
import { submitWork as decide } from '../commands.ts';
import { guardTasks } from '../guard-tasks.ts';
import type { FailurePolicy } from '../state.ts';
import type { NewTask } from '../submit-work.ts';

export interface TaskInput {
  task_type: string;
  task_description: string;
  input_data?: unknown;
  priority: number;
  files: string[];
  depends_on: string[];
  on_dependency_failure?: FailurePolicy | undefined;
  not_before?: string | undefined;
  max_attempts: number;
  idempotency_key?: string | undefined;
}

export const submitWork = {
  name: 'submit_work',
  group: 'work',
  verb: 'submit',
  summary: 'Put a task into the queue, optionally after others (depends_on).',
  route: { method: 'POST', path: '/work/submit' },
  mutates: true,
  proven: true,
  standard: true,
  positional: ['task_type', 'task_description'],
  examples: [
    'cox work submit test "run the browser tests" --priority 2',
    'cox work submit review "look at the new router" --depends-on 01926f…',
    'cox work submit report "say how it went" --depends-on 01926f… --on-dependency-failure run',
  ],
  sample: { task_type: 'test', task_description: 'run the browser tests', priority: 2 },
  input: async () => (await import('../schemas.ts')).submitWork,
  async handle(input, step) {
    const task = newTask(input, step, '');
    if ('success' in task) return task;
    const answer = await submitGuarded([task], step);
    if (isRefusal(answer)) return answer;
    const [submitted] = answer.tasks as JsonObject[];
    return { success: true, ...submitted };
  },
} satisfies Operation<TaskInput>;

/** A task's content is judged before any agent can be given it. */
export async function submitGuarded(tasks: readonly NewTask[], step: Step): Promise<JsonObject> {
  const submission = decide(tasks, step.caller.agent_id);
  const guard = await guardTasks(tasks);
  if (guard === undefined) return answerOf(await step.run(submission));
  const answer = answerOf(await step.run(guarded(askedBy(guard, step), submission)));
  announceGuarded(answer, step);
  return answer;
}

/** From the wire to the domain: normalised paths, ids from keys, times as numbers. */
export function newTask(input: TaskInput, step: Step, prefix: string): NewTask | Refusal {
  const files: string[] = [];
  for (const [index, file] of input.files.entries()) {
    const path = step.path(file, `${prefix}files.${index}`);
    if (typeof path !== 'string') return path;
    files.push(path);
  }
  const not_before_ms = input.not_before === undefined ? undefined : Date.parse(input.not_before);
  if (not_before_ms !== undefined && not_before_ms > step.now_ms() + limits.task_delay_ms_max)
    return refuse('invalid_input', 'not_before: expected a time within a year', {
      field: `${prefix}not_before`,
    });
  const key = input.idempotency_key;
  return {
    id: key === undefined ? step.ids.uuid() : taskIdOfKey(step, key),
    keyed: key !== undefined,
    task_type: input.task_type,
    description: input.task_description,
    input_data: input.input_data as Json | undefined,
    priority: input.priority,
    files: [...new Set(files)],
    depends_on: input.depends_on,
    on_dependency_failure: input.on_dependency_failure,
    not_before_ms,
    max_attempts: input.max_attempts,
  };
}

export function taskIdOfKey(step: Step, key: string): string {
  return uuidFromKey(`task\0${step.project}\0${key}`);
}
