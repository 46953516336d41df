import { acquireLock as decide } from '../domain/commands.ts';
import { isRefusal } from '../kernel/refusal.ts';
import { answerOf, type Operation } from '../operation.ts';

interface Input {
  file_path: string;
  reason?: string | undefined;
  ttl_minutes: number;
  fencing_token?: number | undefined;
}

export const acquireLock: Operation<Input> = {
  name: 'acquire_lock',
  group: 'lock',
  verb: 'acquire',
  summary:
    'Lock a file before you change it. Calling again extends your lock. If it is blocked, someone else is on it.',
  route: { method: 'POST', path: '/locks/acquire' },
  mutates: true,
  standard: true,
  positional: ['file_path'],
  examples: ['cox lock acquire src/app.ts --reason "rename the router" --ttl-minutes 30'],
  input: async () => (await import('./schemas/locks.ts')).acquireLock,
  async handle(input, step) {
    const path = step.path(input.file_path, 'file_path');
    if (typeof path !== 'string') return path;
    const caller = { ...step.caller, token: input.fencing_token };
    const outcome = await step.run(
      decide({ path, caller, ttl_ms: input.ttl_minutes * 60_000, reason: input.reason }),
    );
    const answer = answerOf(outcome);
    if (!isRefusal(answer)) step.grants.remember(`lock/${path}`, answer.fencing_token as number);
    return answer;
  },
};
