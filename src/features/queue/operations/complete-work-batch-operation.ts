import type { JsonObject } from '../../../kernel/json.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { completeWorkBatch as decide } from '../commands.ts';
import { type CompletionInput, endTasks, releaseDependents } from './complete-work-operation.ts';

export interface CompleteWorkBatchInput {
  items: CompletionInput[];
}

export const completeWorkBatch = {
  name: 'complete_work_batch',
  group: 'work',
  verb: 'complete-batch',
  summary: 'End several claimed tasks in one commit; each item has its own answer.',
  route: { method: 'POST', path: '/work/complete-batch' },
  mutates: true,
  repeatable: true,
  standard: false,
  winds_down: true,
  examples: [`cox work complete-batch --items '[{"task_id":"01926f…","success":true}]'`],
  sample: { items: [{ task_id: '0192a000-0000-7000-8000-000000000001', success: true }] },
  input: async () => (await import('../schemas.ts')).completeWorkBatch,
  async handle(input, step) {
    const [answer, meant] = await endTasks(input.items, step, decide);
    if (isRefusal(answer) && answer.results === undefined) return answer;
    const results = answer.results as JsonObject[];
    for (const [index, result] of results.entries())
      if (result.success === true) step.grants.forget(`task/${result.task_id}`, meant[index]?.caller.token);
    if (results.some((result) => result.has_dependents === true)) await releaseDependents(step);
    return answer;
  },
} satisfies Operation<CompleteWorkBatchInput>;
