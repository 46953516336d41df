import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isRefusal, StoreFailure } from '../../../kernel/refusal.ts';
import { answerOf, type Decision } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { announceGuarded, askedBy } from '../../guardrails/index.ts';
import { guarded } from '../../trust/approvals/index.ts';
import { completeWork as decide, settleDue } from '../commands.ts';
import type { Completion } from '../complete-work.ts';
import { judgeChanges, saysChanges } from '../guard-changes.ts';

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
  proven: true,
  repeatable: true,
  standard: true,
  winds_down: true,
  positional: ['task_id'],
  examples: [
    'cox work complete 01926f… --success --result \'{"commit":"4f1c2"}\'',
    'cox work complete 01926f… --no-success --error-message "the build is red"',
  ],
  sample: { task_id: '0192a000-0000-7000-8000-000000000001', success: true, result: { passed: 12 } },
  input: async () => (await import('../schemas.ts')).completeWork,
  async handle(input, step) {
    const [answer, [meant]] = await endTasks([input], step, ([only]) => decide(only as Completion));
    if (isRefusal(answer)) return answer;
    step.grants.forget(`task/${input.task_id}`, meant?.caller.token);
    if (answer.has_dependents === true) await releaseDependents(step);
    return answer;
  },
} satisfies Operation<CompletionInput>;

/** Ends them in one decision, after judging what they have changed. */
export async function endTasks(
  inputs: readonly CompletionInput[],
  step: Step,
  decideAll: (meant: readonly Completion[]) => Decision<JsonObject>,
): Promise<[JsonObject, readonly Completion[]]> {
  for (const of_session of [false, true]) {
    const { refusal, guard, commits } = await judgeChanges(inputs, step, of_session);
    if (refusal !== undefined) return [refusal, []];
    const meant = inputs.map((input) => ({
      ...completion(input, step, commits.get(input.task_id)),
      is_judged: of_session || saysChanges(input.result),
    }));
    const ending = decideAll(meant);
    const outcome = await step.run(guard === undefined ? ending : guarded(askedBy(guard, step), ending));
    // Rare: the session has reported changes besides its results.
    if (outcome.status === 'first') continue;
    const answer = answerOf(outcome);
    if (guard !== undefined) announceGuarded(answer, step);
    return [answer, meant];
  }
  throw new Error('a completion was to be judged twice');
}

function completion(input: CompletionInput, step: Step, commit_sha: string | undefined): Completion {
  const token = input.fencing_token ?? step.grants.of(`task/${input.task_id}`);
  return {
    ...input,
    result: input.result as Json | undefined,
    caller: { ...step.caller, token },
    commit_sha,
  };
}

/** Most fan-outs are small and done at once; the next callers that ask for work continue a large one. */
const ROUNDS_AT_ONCE = 4;

export async function releaseDependents(step: Step): Promise<void> {
  try {
    for (let round = 0; round < ROUNDS_AT_ONCE; round += 1) {
      const outcome = await step.chore('settle_due', settleDue());
      if (outcome.status === 'refused') return;
    }
  } catch (error) {
    // The task itself has ended, and that is the answer; the rest of the fan-out is marked in the store.
    if (!(error instanceof StoreFailure)) throw error;
  }
}
