import type { Operation } from '../../../runtime/operation.ts';
import { claim, type GetWorkInput } from './get-work-operation.ts';

export interface GetWorkBatchInput extends GetWorkInput {
  count: number;
}

export const getWorkBatch = {
  name: 'get_work_batch',
  group: 'work',
  verb: 'get-batch',
  summary: 'Claim up to `count` tasks at once, most urgent first.',
  route: { method: 'POST', path: '/work/claim-batch' },
  aliases: [{ method: 'POST', path: '/work/get-batch' }],
  mutates: true,
  standard: false,
  waits: 'wait_seconds',
  examples: ['cox work get-batch --count 10 --json'],
  sample: { count: 2 },
  input: async () => (await import('../schemas.ts')).getWorkBatch,
  handle: (input, step) => claim(input, input.count, step),
} satisfies Operation<GetWorkBatchInput>;
