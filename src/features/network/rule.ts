import { ADDRESS_BITS, type Address, isWithin, readAddress, specialRange } from './address.ts';

/** `any`: whichever. Undefined: the ports of the web. */
type RulePort = number | 'any' | undefined;

/**
 * One entry of an allow or deny list: `example.com`, `*.example.com` (what is below it, not itself), `*` (every name),
 * `192.0.2.7`, `10.0.0.0/8`, `[fd00::/8]`; each with `:8080` or `:*` behind it for other ports than 80 and 443.
 */
export type NetworkRule =
  | { readonly kind: 'name'; readonly name: string; readonly port: RulePort }
  | { readonly kind: 'below'; readonly suffix: string; readonly port: RulePort }
  | { readonly kind: 'every_name'; readonly port: RulePort }
  | { readonly kind: 'network'; readonly network: Address; readonly bits: number; readonly port: RulePort };

const WEB_PORTS: readonly number[] = [80, 443];
const ENTRY = /^(?:\[([^\]]*)\]|([^[\]]*?))(?::(\d{1,5}|\*))?$/;
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const NAME = new RegExp(`^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$`);

/** Whether it is a name in its one normal form. What ends in a number is an address, or nothing. */
export function isNormalName(text: string): boolean {
  return NAME.test(text) && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(text);
}

/** Undefined: it says nothing that could be understood. */
export function readRule(entry: string): NetworkRule | undefined {
  // An IPv6 network without brackets has no room for a port.
  const bare = /^[^[]*:[^[]*:/.test(entry) ? `[${entry}]` : entry;
  const [, bracketed, plain = '', shown] = ENTRY.exec(bare) ?? [];
  const port = shown === undefined ? undefined : shown === '*' ? 'any' : Number(shown);
  if (typeof port === 'number' && (port < 1 || port > 65_535)) return undefined;
  const text = (bracketed ?? plain).toLowerCase().replace(/(?<=[^*])\.$/, '');
  const network = readNetwork(text);
  if (network !== undefined) return { kind: 'network', ...network, port };
  if (bracketed !== undefined) return undefined;
  if (text === '*') return { kind: 'every_name', port };
  if (text.startsWith('*.') && isNormalName(text.slice(2)))
    return { kind: 'below', suffix: text.slice(1), port };
  return isNormalName(text) ? { kind: 'name', name: text, port } : undefined;
}

function readNetwork(text: string): { network: Address; bits: number } | undefined {
  const [address = '', length, more] = text.split('/');
  const network = readAddress(address);
  if (network === undefined || more !== undefined) return undefined;
  const most = ADDRESS_BITS[network.family];
  if (length === undefined) return { network, bits: most };
  // A mapped address is one of 32 bits now, and no author means a length counted from the other form.
  const isMapped = network.family === 4 && address.includes(':');
  const bits = /^\d{1,3}$/.test(length) && !isMapped ? Number(length) : Number.NaN;
  return bits >= 0 && bits <= most ? { network, bits } : undefined;
}

/** A forbidden name is forbidden on all its ports, unless the rule names one. */
export function forbidsPort(rule: NetworkRule, port: number): boolean {
  return rule.port === undefined || rule.port === 'any' || rule.port === port;
}

/** An allowed one is allowed on the ports of the web, unless the rule names another. */
export function opensPort(rule: NetworkRule, port: number): boolean {
  return rule.port === undefined ? WEB_PORTS.includes(port) : rule.port === 'any' || rule.port === port;
}

/** Names that lead to this machine, or to the keys of the cloud it runs in: no wildcard means them. */
function isSpecialName(name: string): boolean {
  return isLocalhost(name) || name === 'metadata.google.internal';
}

export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

export function meansName(rule: NetworkRule, name: string, purpose: 'allow' | 'deny'): boolean {
  switch (rule.kind) {
    case 'name':
      return rule.name === name;
    case 'below':
      return name.endsWith(rule.suffix) && (purpose === 'deny' || !isSpecialName(name));
    case 'every_name':
      return purpose === 'deny' || !isSpecialName(name);
    case 'network':
      return false;
  }
}

/** `0.0.0.0/0` is the whole Internet, but not this machine and what is behind it: those take a rule of their own. */
export function meansAddress(rule: NetworkRule, address: Address, purpose: 'allow' | 'deny'): boolean {
  if (rule.kind !== 'network' || !isWithin(address, rule.network, rule.bits)) return false;
  return purpose === 'deny' || rule.bits >= (specialRange(address)?.bits ?? 0);
}
