import { completeWork as decide, settleDue } from '../domain/commands.ts';
import type { Completion } from '../domain/queue/complete-work.ts';
import type { Json } from '../kernel/json.ts';
import { isRefusal, StoreFailure } from '../kernel/refusal.ts';
import { answerOf, type Operation, type Step } from '../operation.ts';

export interface CompletionInput {
  task_id: string;
  success: boolean;
  result?: unknown;
  error_message?: string | undefined;
  fencing_token?: number | undefined;
}

export const completeWork = {
  name: 'complete_work',
  group: 'work',
  verb: 'complete',
  summary: 'End a task you claimed, as done or failed. Tasks that waited for it become ready.',
  route: { method: 'POST', path: '/work/complete' },
  mutates: true,
  repeatable: true,
  standard: true,
  positional: ['task_id'],
  examples: [
    'cox work complete 01926f… --success --result \'{"commit":"4f1c2"}\'',
    'cox work complete 01926f… --no-success --error-message "the build is red"',
  ],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001', success: true, result: { passed: 12 } },
  input: async () => (await import('./schemas/work.ts')).completeWork,
  async handle(input, step) {
    const meant = completion(input, step);
    const answer = answerOf(await step.run(decide(meant)));
    if (isRefusal(answer)) return answer;
    step.grants.forget(`task/${input.task_id}`, meant.caller.token);
    if (answer.has_dependents === true) await releaseDependents(step);
    return answer;
  },
} satisfies Operation<CompletionInput>;

export function completion(input: CompletionInput, step: Step): Completion {
  const token = input.fencing_token ?? step.grants.of(`task/${input.task_id}`);
  return { ...input, result: input.result as Json | undefined, caller: { ...step.caller, token } };
}

/** Most fan-outs are small and done at once; a large one is gone on with by whoever asks for work next. */
const ROUNDS_AT_ONCE = 4;

export async function releaseDependents(step: Step): Promise<void> {
  try {
    for (let round = 0; round < ROUNDS_AT_ONCE; round += 1) {
      const outcome = await step.chore('settle_due', settleDue());
      if (outcome.status === 'refused') return;
    }
  } catch (error) {
    // The task itself has ended, and that is the answer; what is left to pass on is marked in the store.
    if (!(error instanceof StoreFailure)) throw error;
  }
}
