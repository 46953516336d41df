import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision } from '../../ledger/decision.ts';
import type { Actor } from '../../ledger/log.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { type RulebookState, rulebookKey, type Standing, standingOf } from '../trust/index.ts';
import {
  judgeHost,
  type NetworkJudgement,
  type NetworkSettings,
  type NetworkTarget,
  type NetworkTerms,
  termsOf,
} from './judge-network.ts';

/** What an agent wants to reach. Without a host it was not a valid one; `problem` says why. */
export interface Attempt {
  /** What is shown and logged: the normal form, or a harmless rendering of what was given. */
  readonly domain: string;
  readonly target?: NetworkTarget | undefined;
  readonly problem?: string | undefined;
}

export interface Asking extends Pick<Actor, 'agent_id' | 'agent_type'> {
  /** Of agents without a profile, where it is not what ships. */
  readonly default_trust?: TrustLevel | undefined;
}

export function networkTerms(
  rulebook: RulebookState | undefined,
  standing: Standing,
  { agent_type }: Asking,
  settings: NetworkSettings,
): NetworkTerms {
  return termsOf(standing, agent_type, rulebook?.network_policies ?? {}, settings);
}

/**
 * Every attempt is a row of the log, written before the answer is given: also a blocked one is committed, so that no
 * alert is lost under pressure as the row of a mere refusal may be.
 */
export function checkNetwork(
  actor: Asking,
  attempt: Attempt,
  settings: NetworkSettings,
): Decision<JsonObject> {
  return {
    needs: { keys: [rulebookKey] },
    decide(loaded) {
      const { domain, target, problem } = attempt;
      if (target === undefined) return commit([], blockedAnswer(domain, 'invalid_host', problem ?? ''));
      const rulebook = loaded.get<RulebookState>(rulebookKey)?.state;
      const terms = networkTerms(rulebook, standingOf(rulebook, actor, actor.default_trust), actor, settings);
      const { policy_name: policy } = terms;
      const judgement = judgeHost(target, terms);
      const { port } = target;
      const { why, rule } = judgement;
      if (judgement.allowed)
        return commit([], { success: true, allowed: true, domain, port, policy, why, rule });
      const address = judgement.address?.text;
      const message = explain(domain, port, judgement, policy);
      return commit([], { ...blockedAnswer(domain, why, message), port, policy, rule, address });
    },
  };
}

function blockedAnswer(domain: string, why: string, message: string): JsonObject {
  return refuse('domain_blocked', message, { domain, allowed: false, alert: true, why });
}

function explain(
  domain: string,
  port: number,
  { why, rule, address }: NetworkJudgement,
  policy: string,
): string {
  switch (why) {
    case 'denied':
      return `${domain} is on the deny list of the network policy ${policy} (${rule}).`;
    case 'port_not_listed':
      return `Port ${port} of ${domain} is not open: other ports than 80 and 443 must be listed (${domain}:${port}).`;
    case 'address_not_listed':
      return `${domain} is an address, not a name; addresses must be listed themselves.`;
    case 'special_address':
      return `${domain} leads to ${address?.text}, a ${address?.kind.replace('_', '-')} address; such ones must be listed themselves.`;
    case 'other_server_name':
      return `The connection was asked for as ${domain}, but its handshake asks for ${rule}.`;
    case 'no_network':
      return 'An agent of trust 0 reaches nothing but the coordination host and what its profile requires.';
    case 'unknown_policy':
      return `There is no network policy ${policy}, so nothing is open.`;
    case 'unreadable_rule':
      return `An entry of the deny list of ${policy} can't be understood (${rule}), so nothing is open.`;
    default:
      return `${domain} is not among what the network policy ${policy} allows.`;
  }
}
