import type { Operation } from '../../../runtime/operation.ts';
import { listWork as list, listWorkNeeds, showWork as show, showWorkNeeds } from '../show-work.ts';

export const showWork = {
  name: 'show_work',
  group: 'work',
  verb: 'show',
  summary: 'One task: status, who has it, what it waits for, what came out of it.',
  route: { method: 'POST', path: '/work/show' },
  mutates: false,
  standard: false,
  positional: ['task_id'],
  examples: ['cox work show 01926f… --json'],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001' },
  input: async () => (await import('../schemas.ts')).showWork,
  async handle(input, step) {
    const { loaded } = await step.find(showWorkNeeds(input.task_id));
    return show(input.task_id, loaded);
  },
} satisfies Operation<{ task_id: string }>;

export const listWork = {
  name: 'list_work',
  group: 'work',
  verb: 'list',
  summary: 'What is ready, in the order it is handed out, and what is claimed or delayed.',
  route: { method: 'POST', path: '/work/list' },
  aliases: [{ method: 'GET', path: '/work/queue' }],
  mutates: false,
  standard: false,
  examples: ['cox work list', 'cox work list --limit 10 --json'],
  sample: { limit: 10 },
  input: async () => (await import('../schemas.ts')).listWork,
  async handle(input, step) {
    const { loaded } = await step.find(listWorkNeeds(input.limit));
    return list(input.limit, loaded);
  },
} satisfies Operation<{ limit: number }>;
