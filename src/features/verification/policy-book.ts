import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, type Needs, refused } from '../../ledger/decision.ts';
import type { EntityKey, EntityType } from '../../ledger/entity.ts';
import { DEFAULT_POLICIES, UNTRUSTED_POLICY } from './defaults.ts';
import type { VerificationPolicy } from './verification-policy.ts';

/** What differs from what ships: a policy of one's own, or null where one was removed. */
export interface PolicyBook {
  readonly policies: Readonly<Record<string, VerificationPolicy | null>>;
}

/** One record, so that a routing which went by it is decided again when it has changed meanwhile. */
export const policyBookKey: EntityKey = { kind: 'verification_policy', id: 'all' };

export const policyBookEntity: EntityType<PolicyBook> = {
  kind: policyBookKey.kind,
  steady: true,
  everyones: true,
  evolve(state, event) {
    const policies = { ...state?.policies };
    switch (event.type) {
      case 'verification_policy_set': {
        const policy = event.data.policy as unknown as VerificationPolicy;
        return { policies: { ...policies, [policy.name]: policy } };
      }
      case 'verification_policy_removed':
        return { policies: { ...policies, [event.data.name as string]: null } };
      default:
        throw new Error(`unknown event of the verification policies: ${event.type}`);
    }
  },
  index: () => ({}),
};

export const policyNeeds: Needs = { keys: [policyBookKey] };

/** Those that hold now, the shipped ones first and by tier. */
export function policiesIn(loaded: Loaded): VerificationPolicy[] {
  const own = loaded.get<PolicyBook>(policyBookKey)?.state.policies ?? {};
  const shipped = DEFAULT_POLICIES.filter(({ name }) => !Object.hasOwn(own, name));
  const set = Object.values(own).filter((policy) => policy !== null);
  return [...shipped, ...set].sort((a, b) => a.tier - b.tier);
}

/** All or none: a file is applied as a whole. */
export function setVerificationPolicies(
  policies: readonly VerificationPolicy[],
  set_by: string,
): Decision<JsonObject> {
  return {
    needs: policyNeeds,
    decide(loaded) {
      const before = policiesIn(loaded);
      const names = new Set([...before.map(({ name }) => name), ...policies.map(({ name }) => name)]);
      if (names.has(UNTRUSTED_POLICY.name))
        return refused(invalidName(`another name: ${UNTRUSTED_POLICY.name} is for what nobody trusts`));
      if (names.size > limits.verification_policies_max)
        return refused(
          refuse('too_large', `There would be more than ${limits.verification_policies_max} policies.`),
        );
      const changed = policies.filter((policy) => !before.some((known) => isSame(known, policy)));
      const events = changed.map((policy) => ({
        ...policyBookKey,
        type: 'verification_policy_set',
        data: { policy: policy as unknown as JsonObject, set_by },
      }));
      return commit(events, {
        success: true,
        changed: changed.map(({ name }) => name),
        unchanged: policies.length - changed.length,
      });
    },
  };
}

export function removeVerificationPolicy(name: string, removed_by: string): Decision<JsonObject> {
  return {
    needs: policyNeeds,
    decide(loaded) {
      if (!policiesIn(loaded).some((policy) => policy.name === name))
        return refused(invalidName('the name of a policy, as list_verification_policies shows it'));
      const event = { ...policyBookKey, type: 'verification_policy_removed', data: { name, removed_by } };
      return commit([event], { success: true, removed: name });
    },
  };
}

function invalidName(expected: string): Refusal {
  return refuse('invalid_input', `name: expected ${expected}`, { field: 'name', expected });
}

function isSame(a: VerificationPolicy, b: VerificationPolicy): boolean {
  const text = (policy: VerificationPolicy) => JSON.stringify(Object.entries(policy).sort());
  return text(a) === text(b);
}

export function describePolicy(policy: VerificationPolicy): JsonObject {
  const isShipped = DEFAULT_POLICIES.some((shipped) => isSame(shipped, policy));
  return { ...(policy as unknown as JsonObject), source: isShipped ? 'shipped' : 'set' };
}
