import { releaseLock as decide } from '../domain/commands.ts';
import { isRefusal } from '../kernel/refusal.ts';
import { answerOf, type Operation } from '../operation.ts';

interface Input {
  file_path: string;
  fencing_token?: number | undefined;
}

export const releaseLock: Operation<Input> = {
  name: 'release_lock',
  group: 'lock',
  verb: 'release',
  summary: 'Release a lock you hold, as soon as your change is done.',
  route: { method: 'POST', path: '/locks/release' },
  mutates: true,
  standard: true,
  positional: ['file_path'],
  examples: ['cox lock release src/app.ts'],
  input: async () => (await import('./schemas/locks.ts')).releaseLock,
  async handle(input, step) {
    const path = step.path(input.file_path, 'file_path');
    if (typeof path !== 'string') return path;
    const granted = `lock/${path}`;
    const token = input.fencing_token ?? step.grants.of(granted);
    const answer = answerOf(await step.run(decide({ path, caller: { ...step.caller, token } })));
    if (!isRefusal(answer)) step.grants.forget(granted, token);
    return answer;
  },
};
