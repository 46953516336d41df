import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import { type RulebookState, rulebookKey } from '../trust/index.ts';
import {
  CATEGORY_NAMES,
  CONFIGURABLE,
  categoryEntry,
  NETWORK_CATEGORIES,
  type NetworkPolicy,
  SHIPPED_POLICIES,
} from './policies.ts';

/** In their normal form already; replaces whatever had the name. */
export function setNetworkPolicy(name: string, policy: NetworkPolicy): Decision<JsonObject> {
  return {
    needs: { keys: [rulebookKey] },
    decide(loaded) {
      const set = loaded.get<RulebookState>(rulebookKey)?.state.network_policies ?? {};
      const isNew = !Object.hasOwn(set, name);
      if (isNew && Object.keys(set).length >= limits.network_policies_max)
        return refused(
          refuse('too_large', `There are ${limits.network_policies_max} network policies already.`),
        );
      const data = { name, ...policy } as unknown as JsonObject;
      return commit([{ ...rulebookKey, type: 'network_policy_set', data }], {
        success: true,
        ...describe(name, policy, isShipped(name) ? 'changed' : 'set'),
      });
    },
  };
}

/** What ships under the name counts again; a name of one's own is gone, and opens nothing to those who still have it. */
export function removeNetworkPolicy(name: string): Decision<JsonObject> {
  return {
    needs: { keys: [rulebookKey] },
    decide(loaded) {
      const set = loaded.get<RulebookState>(rulebookKey)?.state.network_policies ?? {};
      const removed = Object.hasOwn(set, name);
      const events = removed ? [{ ...rulebookKey, type: 'network_policy_removed', data: { name } }] : [];
      return commit(events, { success: true, name, removed });
    },
  };
}

function isShipped(name: string): boolean {
  return name === CONFIGURABLE || Object.hasOwn(SHIPPED_POLICIES, name);
}

/** `shipped`, `changed` (a shipped name with other rules), `set`. */
function describe(name: string, policy: NetworkPolicy, source: string): JsonObject {
  const { allow, deny } = policy;
  return { name, source, allow: [...allow], deny: [...deny], default: policy.default };
}

export function listPolicies(rulebook: RulebookState | undefined): JsonObject {
  const set = rulebook?.network_policies ?? {};
  const shipped = Object.entries({ ...SHIPPED_POLICIES, [CONFIGURABLE]: BY_TRUST })
    .filter(([name]) => !Object.hasOwn(set, name))
    .map(([name, policy]) => describe(name, policy, 'shipped'));
  const own = Object.entries(set).map(([name, policy]) =>
    describe(name, policy, isShipped(name) ? 'changed' : 'set'),
  );
  const categories = CATEGORY_NAMES.map((name) => ({
    name,
    domains: [...NETWORK_CATEGORIES[name].domains],
    trust_min: NETWORK_CATEGORIES[name].trust_min,
  }));
  const byName = (a: JsonObject, b: JsonObject) => (String(a.name) < String(b.name) ? -1 : 1);
  return { success: true, policies: [...shipped, ...own].sort(byName), categories };
}

const BY_TRUST: NetworkPolicy = { allow: CATEGORY_NAMES.map(categoryEntry), deny: [] };
