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
import { type Standing, writesUnderLock } from './profile.ts';
import { type RulebookState, rulebookKey, standingOf } from './rulebook.ts';
import { lockNeeds, refuseUnlocked } from './under-lock.ts';
import { countUsage, type UsageState, usageKey } from './usage.ts';

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
      const files = filesToHold(standing, demand);
      if (!limited && files.length === 0) return decision.decide(loaded, now_ms);
      const more = furtherNeeds(files, demand, limited, loaded);
      if (more !== undefined) return need(together(more, decision.decide(loaded, now_ms)));
      const unlocked =
        files.length === 0 ? undefined : refuseUnlocked(files, standing, demand, loaded, now_ms);
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
  files: readonly string[],
  demand: Demand,
  limited: boolean,
  loaded: Loaded,
): Needs | undefined {
  const locks = files.length === 0 ? undefined : lockNeeds(files, loaded);
  const usage = usageKey(demand.actor);
  const keys: EntityKey[] = [...(locks?.keys ?? [])];
  if (limited && !loaded.hasKey(usage)) keys.push(usage);
  const ranges = locks?.ranges ?? [];
  return keys.length + ranges.length === 0 ? undefined : { keys, ranges };
}

/** Whether the profile limits anything that this call uses. */
export function isLimited({ profile }: Standing, { uses, winds_down, sessionless }: Demand): boolean {
  const { resource_limits: most } = profile;
  if (sessionless === true) return false;
  if (most.max_execution_seconds !== undefined && winds_down !== true) return true;
  if (uses === undefined) return false;
  return (
    (most.max_file_modifications !== undefined &&
      (uses.modifies !== undefined || uses.means_to_modify !== undefined)) ||
    (most.max_file_reads !== undefined && uses.file_reads !== undefined) ||
    (most.max_spawned_agents !== undefined && uses.spawned_agents !== undefined)
  );
}

/** The files whose locks the caller has to hold for this call. */
function filesToHold(standing: Standing, { uses }: Demand): readonly string[] {
  const files = uses?.modifies ?? [];
  return files.length === 0 || uses?.locks_them === true || !writesUnderLock(standing) ? [] : files;
}

export const GOVERNED = 'governed';

/**
 * The decision, made only if the profile permits the caller to ask for it. With a custom policy engine, no
 * other process can make the decision.
 */
export function governedBy<A extends JsonObject>(
  decision: Decision<A>,
  demand: Demand,
  engine: PolicyEngine,
): Decision<A> {
  const { command: inner } = decision;
  const outer = governed(decision, demand, engine);
  if (inner === undefined || engine !== nativeEngine) return outer;
  return { ...outer, command: { name: GOVERNED, args: [demand, inner] } };
}
