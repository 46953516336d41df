import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Operation, Step } from '../../../runtime/operation.ts';
import { rulesFor } from '../../trust/rules/index.ts';
import { checkNetwork as judge } from '../commands.ts';
import { networkService } from '../judge-network.ts';
import { hostOf } from '../settings/host.ts';
import { readAttempt } from '../settings/network-target.ts';

export interface CheckNetworkInput {
  url?: string | undefined;
  domain?: string | undefined;
  port?: number | undefined;
  addresses?: string[] | undefined;
  server_name?: string | undefined;
}

export const checkNetwork = {
  name: 'check_network',
  group: 'network',
  verb: 'check',
  summary: 'May you reach this? Every question is logged; a blocked one raises an alert.',
  route: { method: 'POST', path: '/network/check' },
  mutates: true,
  permission: 'network',
  standard: false,
  positional: ['domain'],
  examples: ['cox network check pypi.org', 'cox network check --url https://example.com/a --json'],
  sample: { url: 'https://pypi.org/simple/' },
  input: async () => (await import('../schemas.ts')).checkNetwork,
  async handle({ url, domain, port, addresses, server_name }, step) {
    const settings = await step.use(networkService)();
    if ('success' in settings) return settings;
    const attempt = readAttempt(url ?? domain ?? '', port);
    const target = attempt.target && { ...attempt.target, addresses, server_name: normalName(server_name) };
    const { agent_id, agent_type } = step.caller;
    const { default_trust } = rulesFor(step);
    const asking = { agent_id, agent_type, default_trust };
    return answerOf(await step.run(judge(asking, { ...attempt, target }, settings)));
  },
} satisfies Operation<CheckNetworkInput>;

/** What is no name stays as it was: it is another one than any host. */
function normalName(text: string | undefined): string | undefined {
  const read = text === undefined ? undefined : hostOf(text);
  return read?.ok === true ? read.host : text;
}

export interface AccessInput {
  agent_id?: string | undefined;
  allowed?: boolean | undefined;
  limit: number;
}

export const listNetworkAccess = {
  name: 'list_network_access',
  group: 'network',
  verb: 'log',
  summary: 'What agents tried to reach, newest first, and whether they were let.',
  route: { method: 'POST', path: '/network/log' },
  mutates: false,
  standard: false,
  examples: ['cox network log --limit 50', 'cox network log --agent-id alice --no-allowed'],
  input: async () => (await import('../schemas.ts')).listNetworkAccess,
  async handle({ agent_id, allowed, limit }, step) {
    const visible = visibleAgent(agent_id, step);
    if (typeof visible === 'object') return visible;
    const result = allowed === undefined ? undefined : allowed ? 'success' : 'domain_blocked';
    const page = await step.search({ agent_id: visible, operation: checkNetwork.name, result, limit });
    return { success: true, attempts: page.entries.flatMap(shown) };
  },
} satisfies Operation<AccessInput>;

/** As with the audit trail: an agent sees what it did itself. */
function visibleAgent(
  agent_id: string | undefined,
  { authority, caller }: Step,
): string | undefined | Refusal {
  if (authority !== 'agent') return agent_id;
  if (agent_id === undefined || agent_id === caller.agent_id) return caller.agent_id;
  return refuse('forbidden', 'An agent sees only its own attempts.', { field: 'agent_id' });
}

/** A question that was put wrong is in the trail too, but was no attempt. */
function shown({ at_ms, agent_id, agent_type, session_id, result }: LogEntry): JsonObject[] {
  const { domain, port, allowed, alert, policy, why, rule, address } = result;
  if (typeof allowed !== 'boolean') return [];
  const timestamp = isoTime(at_ms);
  return [
    { timestamp, agent_id, agent_type, session_id, domain, port, allowed, alert, policy, why, rule, address },
  ];
}
