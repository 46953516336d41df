import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import type { Operation } from '../../../runtime/operation.ts';
import type { NewTask } from '../submit-work.ts';
import { releaseDependents } from './complete-work-operation.ts';
import { newTask, submitGuarded, type TaskInput, taskIdOfKey } from './submit-work-operation.ts';

export interface SubmitWorkBatchInput {
  tasks: TaskInput[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const submitWorkBatch = {
  name: 'submit_work_batch',
  group: 'work',
  verb: 'submit-batch',
  summary:
    'Put up to 50 tasks into the queue, all or none; they may depend on each other by idempotency_key.',
  route: { method: 'POST', path: '/work/submit-batch' },
  mutates: true,
  standard: false,
  examples: [`cox work submit-batch --tasks '[{"task_type":"test","task_description":"run them"}]'`],
  sample: { tasks: [{ task_type: 'test', task_description: 'run the unit tests' }] },
  input: async () => (await import('../schemas.ts')).submitWorkBatch,
  async handle(input, step) {
    const keys = new Set(input.tasks.flatMap((task) => task.idempotency_key ?? []));
    const tasks: NewTask[] = [];
    for (const [index, item] of input.tasks.entries()) {
      const field = `tasks.${index}.depends_on`;
      const depends_on: string[] = [];
      for (const dependency of item.depends_on) {
        if (keys.has(dependency)) depends_on.push(taskIdOfKey(step, dependency));
        else if (UUID.test(dependency)) depends_on.push(dependency.toLowerCase());
        else
          return refuse(
            'unknown_dependency',
            `${field}: ${JSON.stringify(dependency)} is no task id and no key in this batch.`,
            { field },
          );
      }
      const task = newTask({ ...item, depends_on }, step, `tasks.${index}.`);
      if ('success' in task) return task;
      if (tasks.some(({ id }) => id === task.id))
        return refuse('invalid_input', `tasks.${index}.idempotency_key: expected each key once`, { field });
      tasks.push(task);
    }
    const answer = await submitGuarded(tasks, step);
    // A task that was skipped at once may have dependents in the same batch.
    const submitted = (answer.tasks ?? []) as JsonObject[];
    if (submitted.some(({ status }) => status === 'skipped')) await releaseDependents(step);
    return answer;
  },
} satisfies Operation<SubmitWorkBatchInput>;
