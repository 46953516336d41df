import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode } from '../../../kernel/refusal.ts';
import { answerOf, type Outcome, withoutCommit } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { waitFor } from '../../../runtime/waiting.ts';
import { teamService } from '../../teams/index.ts';
import { joinLine, leaveLine, settleDue, getWork as take } from '../commands.ts';
import { lookFurther } from '../far-work.ts';
import { type GetWork, nextDue, nextDueAt_ms, type WorkStep } from '../get-work.ts';
import { termsFor } from '../team-terms.ts';
import { mayBringWork } from '../work-line.ts';

export interface GetWorkInput {
  task_types?: string[] | undefined;
  lease_minutes: number;
  wait_seconds?: number | undefined;
}

export const getWork = {
  name: 'get_work',
  group: 'work',
  verb: 'get',
  summary:
    'Claim the most urgent task that is ready. It is yours until expires_at; end it with complete_work.',
  route: { method: 'POST', path: '/work/claim' },
  aliases: [{ method: 'POST', path: '/work/get' }],
  mutates: true,
  standard: true,
  positional: ['task_types'],
  waits: 'wait_seconds',
  examples: [
    'cox work get',
    'cox work get test review --lease-minutes 60 --json',
    'cox work get --wait-seconds 600',
  ],
  sample: { task_types: ['test'], lease_minutes: 30 },
  input: async () => (await import('../schemas.ts')).getWork,
  async handle(input, step) {
    const claimed = await claim(input, 1, step);
    if (isRefusal(claimed)) return claimed;
    const [task] = claimed.tasks as JsonObject[];
    return { success: true, ...task };
  },
} satisfies Operation<GetWorkInput>;

type Wanted = Omit<GetWork, 'settled' | 'among'>;

export async function claim(input: GetWorkInput, count: number, step: Step): Promise<JsonObject | Refusal> {
  const { task_types, lease_minutes, wait_seconds = 0 } = input;
  const terms = termsFor(await step.use(teamService)(), step.caller.agent_id);
  if (terms !== undefined && 'success' in terms) return terms;
  const wanted = { caller: step.caller, task_types, count, lease_ms: lease_minutes * 60_000, terms };
  let answer = await takeNow(wanted, step);
  if (isEmpty(answer) && (await step.reclaimFromDeadSessions())) answer = await takeNow(wanted, step);
  if (wait_seconds > 0 && isEmpty(answer))
    answer = await takeInLine(wanted, wait_seconds * 1000, answer, step);
  if (!isRefusal(answer))
    for (const task of answer.tasks as JsonObject[])
      step.grants.remember(`task/${task.task_id}`, task.fencing_token as number);
  return answer;
}

function isEmpty(answer: JsonObject): answer is Refusal {
  return isRefusal(answer) && refusalCode(answer) === 'no_tasks_available';
}

/** Rounds of due work that one caller does before it gives up finding something to hand out. */
const ROUNDS_MAX = 400;

async function takeNow(wanted: Wanted, step: Step): Promise<JsonObject | Refusal> {
  const outcome = await takeFirst(wanted, step);
  return hidesMore(outcome) ? await takeFurther(wanted, step) : answerOf(outcome);
}

function comesFirst(outcome: Outcome<JsonObject>, step: WorkStep['step']): boolean {
  return outcome.status === 'first' && outcome.first.step === step;
}

function hidesMore(outcome: Outcome<JsonObject>): boolean {
  return comesFirst(outcome, 'look_further');
}

/**
 * One round of due work comes first, so that the most urgent task is found even if it became ready only now.
 * Then it claims. Only a caller that would get nothing does more rounds.
 */
async function takeFirst(wanted: Wanted, step: Step): Promise<Outcome<JsonObject>> {
  const attempt = async (settled: boolean) => {
    const taking = take({ ...wanted, settled });
    // A store's own fast path knows neither the line nor a team's rules.
    const plain = wanted.waiter_id === undefined && wanted.terms === undefined;
    return await (plain ? step.take(taking) : step.run(taking.decision));
  };
  let outcome = await attempt(false);
  let due = comesFirst(outcome, 'settle_due');
  for (let round = 0; due && round < ROUNDS_MAX; round += 1) {
    due = (await step.chore('settle_due', settleDue())).status === 'committed';
    outcome = await attempt(true);
    if (!hidesMore(outcome) && !isEmpty(answerOf(outcome))) break;
  }
  return outcome;
}

/** Searches behind the head of the queue. */
async function takeFurther(wanted: Wanted, step: Step): Promise<JsonObject | Refusal> {
  const looking = lookFurther(wanted);
  let look = looking.next();
  while (!look.done) look = looking.next(await step.find(look.value));
  const { among, refusal } = look.value;
  if (among.length === 0) return refusal;
  return answerOf(await step.run(take({ ...wanted, settled: true, among }).decision));
}

/**
 * There is no notification when a lock on a task's file expires; a caller waits at most this long for that.
 */
const LOOK_AGAIN_MS = 5000;
/** This reads all of a long queue, and every released lock wakes all waiting callers. */
const LOOK_FAR_EVERY_MS = 4000;

async function takeInLine(
  command: Wanted,
  timeout_ms: number,
  refusal: Refusal,
  step: Step,
): Promise<JsonObject | Refusal> {
  const wanted = { ...command, waiter_id: step.ids.uuid() };
  const { waiter_id, task_types } = wanted;
  const place = { waiter_id, agent_id: step.caller.agent_id, task_types };
  // Subscribe before joining the line, so that no change by another process is missed afterwards.
  const hints = step.hints(mayBringWork);
  const started_ms = step.elapsed_ms();
  let last = refusal;
  let soonest_ms = 0;
  let lookedFar_ms = started_ms;
  const isFarLookDue = () => {
    const now_ms = step.elapsed_ms();
    const isDue = now_ms - lookedFar_ms >= LOOK_FAR_EVERY_MS;
    if (isDue) lookedFar_ms = now_ms;
    return isDue;
  };
  /** Reads first: a commit is only worthwhile for what is available now. */
  const look = async () => {
    const seen = await step.consider(take({ ...wanted, settled: false }).decision);
    const considered = seen.verdict === 'commit' ? undefined : withoutCommit(seen);
    const isSure = considered !== undefined && !comesFirst(considered, 'settle_due');
    const outcome = isSure ? considered : await takeFirst(wanted, step);
    const further = () => (isFarLookDue() ? takeFurther(wanted, step) : last);
    const answer = hidesMore(outcome) ? await further() : answerOf(outcome);
    if (!isEmpty(answer)) return answer;
    last = answer;
    const { loaded, now_ms } = await step.find(nextDue);
    soonest_ms = Math.min(nextDueAt_ms(loaded, waiter_id, now_ms), now_ms + LOOK_AGAIN_MS);
    return undefined;
  };
  const renew = async () => {
    await step.stillHere();
    await step.chore('wait_for_work', joinLine(place));
  };
  let got: JsonObject | undefined;
  try {
    const joined = answerOf(await step.chore('wait_for_work', joinLine(place)));
    if (isRefusal(joined)) return joined;
    step.waiting(refusal);
    const renew_ms = limits.waiter_alive_ms / 2;
    const soonest = () => soonest_ms - step.now_ms();
    got = await waitFor(step, hints, { timeout_ms, renew_ms, attempt: look, renew, soonest_ms: soonest });
    const waited_seconds = Math.round((step.elapsed_ms() - started_ms) / 100) / 10;
    return got ?? { ...last, waited_seconds };
  } finally {
    hints.close();
    // Best effort: a silent waiter counts as dead within a few seconds. A caller with a claim has already
    // left the line.
    if (got === undefined || isRefusal(got))
      await step.chore('leave_line', leaveLine({ waiter_id })).catch(() => {});
  }
}
