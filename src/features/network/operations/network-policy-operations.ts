import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import { type RulebookState, rulebookKey } from '../../trust/index.ts';
import { listPolicies } from '../change-policies.ts';
import { removeNetworkPolicy as remove, setNetworkPolicy as set } from '../commands.ts';

export interface PolicyInput {
  name: string;
  allow: string[];
  deny: string[];
  default?: 'allow' | 'deny' | undefined;
}

export const setNetworkPolicy = {
  name: 'set_network_policy',
  group: 'network',
  verb: 'set-policy',
  summary: 'Give a network policy its lists. For a person, or an agent of trust 4.',
  route: { method: 'POST', path: '/network/policies/set' },
  mutates: true,
  trust: 4,
  standard: false,
  positional: ['name'],
  examples: [
    'cox network set-policy our_docs --allow category:documentation "*.docs.example.com" --deny old.docs.example.com',
  ],
  sample: { name: 'our_docs', allow: ['category:documentation', '*.docs.example.com'], default: 'deny' },
  input: async () => (await import('../schemas.ts')).setNetworkPolicy,
  async handle({ name, allow, deny, default: otherwise }, step) {
    const policy = {
      allow: [...new Set(allow)],
      deny: [...new Set(deny)],
      ...(otherwise === undefined ? {} : { default: otherwise }),
    };
    return answerOf(await step.run(set(name, policy)));
  },
} satisfies Operation<PolicyInput>;

export const removeNetworkPolicy = {
  name: 'remove_network_policy',
  group: 'network',
  verb: 'remove-policy',
  summary: 'Take a network policy away; what ships under its name counts again. For a person, or trust 4.',
  route: { method: 'POST', path: '/network/policies/remove' },
  mutates: true,
  trust: 4,
  destructive: true,
  repeatable: true,
  standard: false,
  positional: ['name'],
  examples: ['cox network remove-policy our_docs'],
  sample: { name: 'our_docs' },
  input: async () => (await import('../schemas.ts')).removeNetworkPolicy,
  handle: async ({ name }, step) => answerOf(await step.run(remove(name))),
} satisfies Operation<{ name: string }>;

export const listNetworkPolicies = {
  name: 'list_network_policies',
  group: 'network',
  verb: 'policies',
  summary: 'The network policies that there are, with their lists, and the categories they may name.',
  route: { method: 'POST', path: '/network/policies/list' },
  mutates: false,
  standard: false,
  examples: ['cox network policies', 'cox network policies --json'],
  input: async () => (await import('../schemas.ts')).listNetworkPolicies,
  async handle(_input, step) {
    const { loaded } = await step.find({ keys: [rulebookKey] });
    return listPolicies(loaded.get<RulebookState>(rulebookKey)?.state);
  },
} satisfies Operation<Record<never, never>>;
