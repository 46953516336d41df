import { isRefusal } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { renewWork as decide } from '../commands.ts';

export interface RenewWorkInput {
  task_id: string;
  lease_minutes: number;
  fencing_token?: number | undefined;
}

export const renewWork = {
  name: 'renew_work',
  group: 'work',
  verb: 'renew',
  summary: 'Keep a claimed task while you go on working on it.',
  route: { method: 'POST', path: '/work/renew' },
  mutates: true,
  repeatable: true,
  standard: false,
  positional: ['task_id'],
  examples: ['cox work renew 01926f… --lease-minutes 30'],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001', lease_minutes: 30 },
  input: async () => (await import('../schemas.ts')).renewWork,
  async handle(input, step) {
    const granted = `task/${input.task_id}`;
    const caller = { ...step.caller, token: input.fencing_token ?? step.grants.of(granted) };
    const answer = answerOf(await step.run(decide(input.task_id, caller, input.lease_minutes * 60_000)));
    if (!isRefusal(answer)) step.grants.remember(granted, answer.fencing_token as number);
    return answer;
  },
} satisfies Operation<RenewWorkInput>;
