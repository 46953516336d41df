import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refusalCode } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { waitFor } from '../../../runtime/waiting.ts';
import { type ClaimEdge, mayFreeClaim } from '../claim-edge.ts';
import { claimEdge as decide } from '../commands.ts';
import { commandOf, grantOf, type KeepClaimInput } from './keep-claim-operations.ts';
import { suggestNext } from './route-work-operation.ts';
import { signalStale, trySignalStale } from './stale-claim-operations.ts';

export interface ClaimEdgeInput extends KeepClaimInput {
  wait_seconds?: number | undefined;
}

export const claimEdge = {
  name: 'claim_edge',
  group: 'claim',
  verb: 'take',
  summary:
    'Claim a feature on an edge before you work on it: one agent has it at a time. If another has, you are told what to take instead.',
  route: { method: 'POST', path: '/claims/claim' },
  mutates: true,
  proven: true,
  standard: false,
  positional: ['feature', 'edge'],
  waits: 'wait_seconds',
  examples: [
    'cox claim take REQ-F-AUTH-001 design_code --agent-role architect',
    "cox claim take REQ-F-AUTH-001 'code↔unit_tests' --wait-seconds 60",
  ],
  sample: { feature: 'REQ-F-AUTH-001', edge: 'design_code', agent_role: 'architect' },
  input: async () => (await import('../schemas/claim-schemas.ts')).claimEdge,
  async handle(input, step) {
    const command = await commandOf(input, step);
    if ('success' in command) return command;
    const answer = await claim(command, (input.wait_seconds ?? 0) * 1000, step);
    if (!isRefusal(answer)) {
      step.grants.remember(grantOf(input), answer.fencing_token as number);
      return answer;
    }
    return isRejection(answer) ? await withSuggestion(answer, input, step) : answer;
  },
} satisfies Operation<ClaimEdgeInput>;

function isRejection(answer: JsonObject): boolean {
  return isRefusal(answer) && refusalCode(answer) === 'claim_rejected';
}

async function claim(command: ClaimEdge, wait_ms: number, step: Step): Promise<JsonObject> {
  const { rules } = command;
  if (wait_ms > 0 || rules.stale_action === 'auto_release') {
    // A rejection is logged at most once, at the end: a call has one outcome.
    const got = await tryFirst(command, wait_ms, step);
    if (got !== undefined) return got;
  }
  const answer = answerOf(await step.run(decide(command)));
  if (answer.stale === true) await trySignalStale(step, rules);
  return answer;
}

/** The outcome, unless it is a rejection. */
async function tryFirst(command: ClaimEdge, wait_ms: number, step: Step): Promise<JsonObject | undefined> {
  const tentative = { ...command, tentative: true };
  const attempt = async () => {
    const answer = answerOf(await step.run(decide(tentative)));
    return isRejection(answer) ? { rejected: answer } : { answer };
  };
  // Subscribe before the first look, so that no change by another process is missed afterwards.
  const hints = wait_ms === 0 ? undefined : step.hints((row) => mayFreeClaim(command, row));
  try {
    let tried = await attempt();
    if (tried.rejected?.stale === true && (await signalStale(step, command.rules))) tried = await attempt();
    if (tried.rejected === undefined || hints === undefined) return tried.answer;
    step.waiting(tried.rejected);
    let { expires_at } = tried.rejected;
    const awaited = {
      timeout_ms: wait_ms,
      renew_ms: limits.session_touch_ms,
      attempt: async () => {
        const looked = await attempt();
        expires_at = looked.rejected?.expires_at;
        return looked.answer;
      },
      renew: () => step.stillHere(),
      soonest_ms: () =>
        typeof expires_at === 'string' ? Date.parse(expires_at) - step.now_ms() : limits.session_touch_ms,
    };
    return await waitFor(step, hints, awaited);
  } finally {
    hints?.close();
  }
}

/** Told to the caller that was turned away, but not logged: it is advice of this moment. */
async function withSuggestion(rejection: Refusal, input: ClaimEdgeInput, step: Step): Promise<JsonObject> {
  const agent_role = input.agent_role ?? step.agent_role ?? '';
  const next = await suggestNext(step, { agent_id: step.caller.agent_id, agent_role }, input);
  const suggestion =
    next === undefined ? null : { feature: next.feature, edge: next.edge, reason: next.reason };
  const { message, remedy, ...rest } = rejection;
  const instead = next === undefined ? '' : ` You could take ${next.edge} on ${next.feature}: ${next.reason}`;
  return { ...rest, suggestion, message: `${message}${instead}`, remedy };
}
