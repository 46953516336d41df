import { settleDue, getWork as take } from '../domain/commands.ts';
import { DUE_FIRST } from '../domain/queue/get-work.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isRefusal, type Refusal, refusalCode } from '../kernel/refusal.ts';
import { answerOf, type Operation, type Step } from '../operation.ts';

export interface ClaimInput {
  task_types?: string[] | undefined;
  lease_minutes: number;
}

export const getWork: Operation<ClaimInput> = {
  name: 'get_work',
  group: 'work',
  verb: 'get',
  summary:
    'Claim the most urgent task that is ready. It is yours until expires_at; end it with complete_work.',
  route: { method: 'POST', path: '/work/claim' },
  mutates: true,
  standard: true,
  positional: ['task_types'],
  examples: ['cox work get', 'cox work get test review --lease-minutes 60 --json'],
  input: async () => (await import('./schemas/work.ts')).getWork,
  async handle(input, step) {
    const claimed = await claim(input, 1, step);
    if (isRefusal(claimed)) return claimed;
    const [task] = claimed.tasks as JsonObject[];
    return { success: true, ...task };
  },
};

/** Rounds of due work that one caller does before it gives up finding something to hand out. */
const ROUNDS_MAX = 400;

/**
 * One round of what is due comes first, so that the most urgent task is found even if it became ready only now. After
 * that it claims; only a caller who would go away with nothing does more rounds.
 */
export async function claim(input: ClaimInput, count: number, step: Step): Promise<JsonObject | Refusal> {
  const command = {
    caller: step.caller,
    task_types: input.task_types,
    count,
    lease_ms: input.lease_minutes * 60_000,
  };
  const first = answerOf(await step.take(take({ ...command, settled: false })));
  let answer = first;
  let due = isRefusal(first) && first[DUE_FIRST] === true;
  for (let round = 0; due && round < ROUNDS_MAX; round += 1) {
    due = (await step.chore('settle_due', settleDue())).status === 'committed';
    answer = answerOf(await step.take(take({ ...command, settled: true })));
    if (!isRefusal(answer) || refusalCode(answer) !== 'no_tasks_available') break;
  }
  if (!isRefusal(answer))
    for (const task of answer.tasks as JsonObject[])
      step.grants.remember(`task/${task.task_id}`, task.fencing_token as number);
  return answer;
}
