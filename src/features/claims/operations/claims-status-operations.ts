import { answerOf } from '../../../ledger/decision.ts';
import type { Operation } from '../../../runtime/operation.ts';
import type { ClaimMode, SecondAgent } from '../claim-mode.ts';
import { DEFAULT_RULES } from '../claim-rules.ts';
import { type ClaimsQuery, claimsNeeds, claimsStatus as describe, describeRules } from '../claim-status.ts';
import { resolveStaleClaim as resolveStale, setClaimMode as setMode } from '../commands.ts';
import { fleetService } from '../fleet/fleet.ts';
import { trySignalStale } from './stale-claim-operations.ts';

export const claimsStatus = {
  name: 'claims_status',
  group: 'claim',
  verb: 'status',
  also: ['list'],
  summary: 'Who has claimed which edges, which claims are stale, which convergences wait for a person.',
  route: { method: 'GET', path: '/claims/status' },
  aliases: [{ method: 'GET', path: '/api/status' }],
  mutates: false,
  standard: false,
  examples: ['cox claim status', 'cox claim status --feature REQ-F-AUTH-001 --json'],
  sample: { feature: 'REQ-F-AUTH-001' },
  input: async () => (await import('../schemas/claim-schemas.ts')).claimsStatus,
  async handle(query, step) {
    const read = await step.use(fleetService).rules();
    // A file with mistakes must not prevent the status from being shown.
    const rules = 'success' in read ? DEFAULT_RULES : read;
    if (!('success' in read)) await trySignalStale(step, rules);
    const { loaded, now_ms } = await step.find(claimsNeeds(query));
    const { health, ...status } = describe(query, rules, loaded, now_ms);
    const { success: _, ...problem } = 'success' in read ? read : { success: false };
    return { ...status, rules: 'success' in read ? problem : describeRules(rules), health };
  },
} satisfies Operation<ClaimsQuery>;

export interface ResolveInput {
  feature: string;
  edge: string;
  decision: 'release' | 'keep';
  reason?: string | undefined;
  even_if_active: boolean;
}

export const resolveStaleClaim = {
  name: 'resolve_stale_claim',
  group: 'claim',
  verb: 'resolve',
  summary: 'What becomes of a claim whose holder has fallen silent. A person’s decision.',
  route: { method: 'POST', path: '/claims/resolve' },
  mutates: true,
  destructive: true,
  standard: false,
  personal: true,
  positional: ['feature', 'edge', 'decision'],
  examples: [
    'cox claim resolve REQ-F-AUTH-001 design_code release --reason "its machine is gone"',
    'cox claim resolve REQ-F-AUTH-001 design_code keep',
  ],
  sample: { feature: 'REQ-F-AUTH-001', edge: 'design_code', decision: 'release' },
  input: async () => (await import('../schemas/claim-schemas.ts')).resolveStaleClaim,
  async handle({ feature, edge, decision, reason, even_if_active }, step) {
    const rules = await step.use(fleetService).rules();
    // A person's decision does not wait until a file is repaired.
    const { stale_ms } = 'success' in rules ? DEFAULT_RULES : rules;
    const decided_by = step.caller.agent_id;
    const command = { feature, edge, decision, reason, even_if_active, decided_by, rules: { stale_ms } };
    return answerOf(await step.run(resolveStale(command)));
  },
} satisfies Operation<ResolveInput>;

export const setClaimMode = {
  name: 'set_claim_mode',
  group: 'claim',
  verb: 'mode',
  summary: 'Whether one agent works here alone, without claiming first, or many do.',
  route: { method: 'POST', path: '/claims/mode' },
  mutates: true,
  standard: false,
  administers: true,
  positional: ['mode'],
  examples: ['cox claim mode single', 'cox claim mode single --second-agent refuse', 'cox claim mode many'],
  sample: { mode: 'many' },
  input: async () => (await import('../schemas/claim-schemas.ts')).setClaimMode,
  handle: async ({ mode, second_agent }, step) =>
    answerOf(await step.run(setMode({ mode, second_agent, changed_by: step.caller.agent_id }))),
} satisfies Operation<{ mode: ClaimMode['mode']; second_agent: SecondAgent }>;
