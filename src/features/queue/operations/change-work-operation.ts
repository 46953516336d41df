import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import {
  cancelWork as decideCancel,
  reprioritiseWork as decideReprioritise,
  retryWork as decideRetry,
} from '../commands.ts';
import { releaseDependents } from './complete-work-operation.ts';

export const cancelWork = {
  name: 'cancel_work',
  group: 'work',
  verb: 'cancel',
  summary: 'Take a task back; whoever works on it is told when it completes.',
  route: { method: 'POST', path: '/work/cancel' },
  mutates: true,
  destructive: true,
  repeatable: true,
  standard: false,
  positional: ['task_id'],
  examples: ['cox work cancel 01926f… --reason "no longer needed"'],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001', reason: 'no longer needed' },
  input: async () => (await import('../schemas.ts')).cancelWork,
  async handle(input, step) {
    const answer = answerOf(await step.run(decideCancel(input.task_id, step.caller.agent_id, input.reason)));
    if (answer.has_dependents === true) await releaseDependents(step);
    return answer;
  },
} satisfies Operation<{ task_id: string; reason?: string | undefined }>;

export const reprioritiseWork = {
  name: 'reprioritise_work',
  group: 'work',
  verb: 'reprioritise',
  summary: 'Change how urgent a task is: 1 first, 10 last.',
  route: { method: 'POST', path: '/work/reprioritise' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['task_id', 'priority'],
  examples: ['cox work reprioritise 01926f… 1'],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001', priority: 1 },
  input: async () => (await import('../schemas.ts')).reprioritiseWork,
  handle: async (input, step) => answerOf(await step.run(decideReprioritise(input.task_id, input.priority))),
} satisfies Operation<{ task_id: string; priority: number }>;

export const retryWork = {
  name: 'retry_work',
  group: 'work',
  verb: 'retry',
  summary: 'Bring a failed, dead or skipped task back, or one that a failed dependency blocks.',
  route: { method: 'POST', path: '/work/retry' },
  mutates: true,
  standard: false,
  positional: ['task_id'],
  examples: ['cox work retry 01926f…'],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001' },
  input: async () => (await import('../schemas.ts')).retryWork,
  handle: async (input, step) => answerOf(await step.run(decideRetry(input.task_id))),
} satisfies Operation<{ task_id: string }>;
