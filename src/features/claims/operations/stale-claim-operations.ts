import { limits } from '../../../kernel/limits.ts';
import { isRefusal, StoreFailure } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { InternalCommand, Step } from '../../../runtime/operation.ts';
import type { ClaimRules } from '../claim-rules.ts';
import { signalStaleClaims } from '../commands.ts';
import { type ClaimState, idleSince, staleClaims } from '../edge-claim.ts';
import { fleetService } from '../fleet/fleet.ts';
import { isIdle, mayFreeClaim, type SeenIdle } from '../stale-claims.ts';

/**
 * Claims that fell silent together are reported in at most this many commits; the next call that looks
 * handles the rest.
 */
const ROUNDS_MAX = 20;

/**
 * Reports each claim that was silent for too long as stale, once. This needs no schedule: every call that is
 * turned away or lists the claims does it. True: something was freed.
 */
export async function signalStale(step: Step, rules: ClaimRules): Promise<boolean> {
  let freed = false;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // The store's own time, not this machine's.
    const { now_ms } = await step.find({});
    const seen = await dueNow(step, rules, now_ms);
    if (seen.length === 0) break;
    const { stale_ms, stale_action } = rules;
    const decision = signalStaleClaims({ seen, rules: { stale_ms, stale_action } });
    const answer = answerOf(await step.chore('signal_stale_claims', decision));
    if (isRefusal(answer)) break;
    freed ||= Number(answer.freed) > 0;
    if (Number(answer.signalled) > 0) step.announce();
  }
  return freed;
}

/**
 * Silent claims that are not yet reported and, where the rules free stale claims, those that were only
 * reported.
 */
async function dueNow(step: Step, rules: ClaimRules, now_ms: number): Promise<SeenIdle[]> {
  const idle = idleSince(claimLastSign_ms(rules, now_ms));
  const told = rules.stale_action === 'auto_release' ? [staleClaims] : [];
  const { loaded } = await step.find({ ranges: [idle, ...told] });
  const left = told
    .flatMap((range) => loaded.list<ClaimState>(range))
    .filter(({ state }) => mayFreeClaim(state, rules, now_ms) && isIdle(state, rules, now_ms));
  return [...loaded.list<ClaimState>(idle), ...left]
    .slice(0, limits.claims_per_round)
    .map(({ state: { feature, edge, last_active_ms } }) => ({ feature, edge, last_active_ms }));
}

/** A claim whose last sign of life is before this is stale now. */
export function claimLastSign_ms({ stale_ms }: Pick<ClaimRules, 'stale_ms'>, now_ms: number): number {
  return Math.floor(now_ms) - stale_ms + 1;
}

/** For read calls: they still answer when the report can't be written. */
export async function trySignalStale(step: Step, rules: ClaimRules): Promise<void> {
  try {
    await signalStale(step, rules);
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
  }
}

/** Not listed: long-lived processes call it from time to time, with an input they have built. */
export const signalStaleClaimsNow = {
  name: 'signal_stale_claims',
  group: 'claim',
  mutates: true,
  async handle(_input, step) {
    const rules = await step.use(fleetService).rules();
    if ('success' in rules) return rules;
    return { success: true, freed: await signalStale(step, rules) };
  },
} satisfies InternalCommand;
