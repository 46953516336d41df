import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal, type Refusal } from '../../kernel/refusal.ts';
import {
  type Decision,
  type Loaded,
  type Needs,
  need,
  refused,
  type Verdict,
} from '../../ledger/decision.ts';
import type { EntityKey } from '../../ledger/entity.ts';
import type { Demand } from '../../runtime/access.ts';
import { nativeEngine, type PolicyEngine, permit } from './permit.ts';
import type { Standing } from './profile.ts';
import { type RulebookState, rulebookKey, standingOf } from './rulebook.ts';
import { lockNeeds, refuseUnlocked } from './under-lock.ts';
import { countUsage, isLimited, type UsageState, usageKey } from './usage.ts';

/**
 * A decision that is made only if the caller may ask for it. The rulebook is read by its key, and so expected
 * unchanged: if a profile is revoked while the decision is made, the decision fails with it. What the call
 * uses up is counted in the same commit.
 */
export function governed<A extends JsonObject>(
  decision: Decision<A>,
  demand: Demand,
  engine: PolicyEngine = nativeEngine,
): Decision<A> {
  const { keys = [], ranges } = decision.needs;
  const needs: Needs = { keys: [...keys, rulebookKey], ...(ranges === undefined ? {} : { ranges }) };
  // Every operation that changes files needs the permission to write.
  const asked = demand.uses?.modifies?.length ? { permission: 'write' as const, ...defined(demand) } : demand;
  return {
    needs,
    decide(loaded, now_ms) {
      const standing = standingIn(loaded, demand);
      const refusal = permit(standing, asked, engine);
      if (refusal !== undefined) return refused(refusal);
      const limited = isLimited(standing, demand);
      const more = furtherNeeds(standing, demand, limited, loaded);
      if (more !== undefined) return need(together(more, decision.decide(loaded, now_ms)));
      const unlocked = refuseUnlocked(standing, demand, loaded, now_ms);
      if (unlocked !== undefined) return refused(unlocked);
      if (!limited) return decision.decide(loaded, now_ms);
      const counted = countUsage(standing, demand, usageIn(loaded, demand), now_ms);
      if (!Array.isArray(counted)) return refused(counted as Refusal);
      const verdict = decision.decide(loaded, now_ms);
      if (verdict.verdict !== 'commit' || counted.length === 0 || isRefusal(verdict.answer)) return verdict;
      return { ...verdict, events: [...verdict.events, ...counted] };
    },
  };
}

/**
 * Adds what the decision itself needs next: a decision has a limited number of rounds, and the rules must not
 * use up any.
 */
function together(more: Needs, verdict: Verdict<JsonObject>): Needs {
  const { keys = [], ranges = [] } = verdict.verdict === 'need' ? verdict.needs : {};
  return { keys: [...(more.keys ?? []), ...keys], ranges: [...(more.ranges ?? []), ...ranges] };
}

function defined({ permission, ...demand }: Demand): Demand {
  return permission === undefined ? demand : { ...demand, permission };
}

function standingIn(loaded: Loaded, { actor, default_trust }: Demand): Standing {
  return standingOf(loaded.get<RulebookState>(rulebookKey)?.state, actor, default_trust);
}

function usageIn(loaded: Loaded, { actor }: Demand): UsageState | undefined {
  return loaded.get<UsageState>(usageKey(actor))?.state;
}

function furtherNeeds(
  standing: Standing,
  demand: Demand,
  limited: boolean,
  loaded: Loaded,
): Needs | undefined {
  const locks = lockNeeds(standing, demand, loaded);
  const usage = usageKey(demand.actor);
  const keys: EntityKey[] = [...(locks?.keys ?? [])];
  if (limited && !loaded.hasKey(usage)) keys.push(usage);
  const ranges = locks?.ranges ?? [];
  return keys.length + ranges.length === 0 ? undefined : { keys, ranges };
}
