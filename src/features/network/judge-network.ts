import type { Refusal } from '../../kernel/refusal.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { defineService } from '../../runtime/service.ts';
import type { Profile, Standing } from '../trust/index.ts';
import { type Address, readAddress, type SpecialKind, specialRange } from './address.ts';
import { expandEntry, type NetworkPolicies, type NetworkPolicy, policyNamed } from './policies.ts';
import {
  forbidsPort,
  isLocalhost,
  meansAddress,
  meansName,
  type NetworkRule,
  opensPort,
  readRule,
} from './rule.ts';

/** Where an agent wants to go: a host in its normal form, and the addresses of its name where they are known. */
export interface NetworkTarget {
  readonly host: string;
  readonly port: number;
  readonly addresses?: readonly string[] | undefined;
  /** What the TLS handshake asks for, where it can be read, in its normal form. */
  readonly server_name?: string | undefined;
}

/** What the settings say, for every agent. */
export interface NetworkSettings {
  readonly default: 'allow' | 'deny';
  /** The coordination API itself, as entries of a list: `coord.example.com`, `127.0.0.1:8081`. */
  readonly coordination: readonly string[];
}

/** Everything that counts for one agent. */
export interface NetworkTerms {
  readonly policy_name: string;
  /** Undefined: there is no policy of that name. */
  readonly policy: NetworkPolicy | undefined;
  readonly default: 'allow' | 'deny';
  readonly required: readonly string[];
  readonly coordination: readonly string[];
  readonly trust_level: TrustLevel;
}

export type Why =
  | 'coordination'
  | 'required_domain'
  | 'allowed'
  | 'default_allow'
  | 'no_network'
  | 'unknown_policy'
  | 'unreadable_rule'
  | 'denied'
  | 'port_not_listed'
  | 'address_not_listed'
  | 'special_address'
  | 'other_server_name'
  | 'not_listed';

export interface NetworkJudgement {
  readonly allowed: boolean;
  readonly why: Why;
  /** The entry that decided, as it stands in its list. */
  readonly rule?: string | undefined;
  readonly address?: { readonly text: string; readonly kind: SpecialKind } | undefined;
}

const CLOUD_TYPES: readonly string[] = ['claude_code_web', 'codex_cloud'];

function isCloud({ connection }: Profile, agent_type: string): boolean {
  return connection === 'http_api' || CLOUD_TYPES.includes(agent_type);
}

export function termsOf(
  { profile, trust_level }: Standing,
  agent_type: string,
  set: NetworkPolicies,
  settings: NetworkSettings,
): NetworkTerms {
  const policy = policyNamed(profile.network_policy, set, trust_level);
  const said = policy?.default ?? profile.network_default;
  // The setting for all opens nothing to an agent in a cloud: its policy or profile would have to say so itself.
  const otherwise = isCloud(profile, agent_type) ? 'deny' : settings.default;
  return {
    policy_name: profile.network_policy,
    policy,
    default: profile.network_default === 'deny' ? 'deny' : (said ?? otherwise),
    required: profile.required_domains,
    coordination: settings.coordination,
    trust_level,
  };
}

interface Entry {
  readonly text: string;
  readonly rule: NetworkRule;
}

interface Lists {
  readonly allow: readonly Entry[];
  readonly deny: readonly Entry[];
  /** An entry of the deny list that can't be understood may mean anything. */
  readonly unreadable: string | undefined;
}

/** What can't be read opens nothing. */
function readEntries(entries: readonly string[]): Entry[] {
  return entries.flatMap((text) =>
    (expandEntry(text) ?? []).flatMap((each) => {
      const rule = readRule(each);
      return rule === undefined ? [] : [{ text: each, rule }];
    }),
  );
}

function readLists({ allow, deny }: NetworkPolicy): Lists {
  const unreadable = deny.find((text) => (expandEntry(text) ?? ['']).some((each) => !readRule(each)));
  return { allow: readEntries(allow), deny: readEntries(deny), unreadable };
}

interface Place {
  readonly host: string;
  readonly port: number;
  /** Undefined: the host is a name. */
  readonly literal: Address | undefined;
  readonly addresses: readonly { readonly text: string; readonly address: Address | undefined }[];
}

function means(entry: Entry, { host, literal }: Place, purpose: 'allow' | 'deny'): boolean {
  return literal === undefined
    ? meansName(entry.rule, host, purpose)
    : meansAddress(entry.rule, literal, purpose);
}

function blocked(why: Why, rule?: string): NetworkJudgement {
  return { allowed: false, why, rule };
}

/** Deny beats allow; a policy beats the categories; what is required and the coordination host pass before all of it. */
export function judgeHost(target: NetworkTarget, terms: NetworkTerms): NetworkJudgement {
  const { host, port, addresses = [], server_name = host } = target;
  // Behind one address stand many servers, and the handshake says which one is meant.
  if (server_name !== host) return blocked('other_server_name', server_name);
  const place: Place = {
    host,
    port,
    literal: readAddress(host),
    addresses: addresses.map((text) => ({ text, address: readAddress(text) })),
  };
  const always = judgeAlways(place, terms);
  if (always !== undefined) return always;
  if (terms.trust_level === 0) return blocked('no_network');
  if (terms.policy === undefined) return blocked('unknown_policy');
  const lists = readLists(terms.policy);
  if (lists.unreadable !== undefined) return blocked('unreadable_rule', lists.unreadable);
  const name = judgeByLists(place, lists, terms.default);
  return name.allowed ? (judgeAddresses(place, lists) ?? name) : name;
}

function judgeAlways(place: Place, { coordination, required }: NetworkTerms): NetworkJudgement | undefined {
  for (const [why, entries] of [
    ['coordination', coordination],
    ['required_domain', required],
  ] as const) {
    const found = readEntries(entries).find(
      (entry) => means(entry, place, 'allow') && opensPort(entry.rule, place.port),
    );
    if (found === undefined) continue;
    // It may well stand in a network of one's own, but nothing that is needed is where a cloud keeps its keys.
    const stray = place.addresses.map(special).find((each) => each && !isOwnNetwork(each.kind));
    return stray
      ? { allowed: false, why: 'special_address', address: stray }
      : { allowed: true, why, rule: found.text };
  }
  return undefined;
}

function isOwnNetwork(kind: SpecialKind): boolean {
  return kind === 'private' || kind === 'loopback';
}

function special({ text, address }: Place['addresses'][number]): NetworkJudgement['address'] {
  if (address === undefined) return { text, kind: 'reserved' };
  const range = specialRange(address);
  return range && { text, kind: range.kind };
}

const WEB: NetworkRule = { kind: 'every_name', port: undefined };

function judgeByLists(place: Place, { allow, deny }: Lists, fallback: 'allow' | 'deny'): NetworkJudgement {
  const { port, literal } = place;
  const denied = deny.find((entry) => means(entry, place, 'deny') && forbidsPort(entry.rule, port));
  if (denied !== undefined) return blocked('denied', denied.text);
  const meant = allow.filter((entry) => means(entry, place, 'allow'));
  const opening = meant.find(({ rule }) => opensPort(rule, port));
  if (opening !== undefined) return { allowed: true, why: 'allowed', rule: opening.text };
  if (literal !== undefined && meant.length === 0) return judgeLiteral(place);
  if (meant.length > 0) return blocked('port_not_listed', meant[0]?.text);
  // The default is about names out there and the web; everything else takes a rule.
  if (fallback === 'deny' || !meansName(WEB, place.host, 'allow')) return blocked('not_listed');
  return opensPort(WEB, port) ? { allowed: true, why: 'default_allow' } : blocked('port_not_listed');
}

function judgeLiteral({ host, literal }: Place): NetworkJudgement {
  const address = special({ text: host, address: literal });
  return { allowed: false, why: address === undefined ? 'address_not_listed' : 'special_address', address };
}

/** Where an allowed name leads: a name is easily made to lead to somewhere else. */
function judgeAddresses(place: Place, { allow, deny }: Lists): NetworkJudgement | undefined {
  for (const { text, address } of place.addresses) {
    if (address === undefined)
      return { allowed: false, why: 'special_address', address: { text, kind: 'reserved' } };
    const denied = deny.find(
      ({ rule }) => meansAddress(rule, address, 'deny') && forbidsPort(rule, place.port),
    );
    if (denied !== undefined) return blocked('denied', denied.text);
    const range = specialRange(address);
    if (range === undefined || (range.kind === 'loopback' && isLocalhost(place.host))) continue;
    const listed = allow.some(
      ({ rule }) => meansAddress(rule, address, 'allow') && opensPort(rule, place.port),
    );
    if (!listed) return { allowed: false, why: 'special_address', address: { text, kind: range.kind } };
  }
  return undefined;
}

/** What this place says about the network, or what is wrong with how it says it. */
export const networkService = defineService<() => Promise<NetworkSettings | Refusal>>(
  'network settings',
  () => async () => ({ default: 'deny', coordination: [] }),
);
