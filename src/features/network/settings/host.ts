import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { readAddress } from '../address.ts';
import { isNormalName } from '../rule.ts';

export type HostProblem =
  | 'empty'
  | 'too_long'
  | 'control_character'
  | 'user_info'
  | 'percent_encoding'
  | 'not_a_host';

export type ReadHost =
  | { readonly ok: true; readonly host: string }
  | { readonly ok: false; readonly problem: HostProblem };

const HOST_CHARS_MAX = 1000;

const problem = (which: HostProblem): ReadHost => ({ ok: false, problem: which });

/**
 * The one normal form of a host, whatever way it is spelled: lower case, no trailing dot, IDN in punycode, IPv4 in its
 * decimal form (also from hex, octal, short and mapped ones), IPv6 as short as it gets and without brackets. What two
 * programs could read differently is refused, not guessed.
 */
export function hostOf(text: string): ReadHost {
  if (text === '') return problem('empty');
  if (text.length > HOST_CHARS_MAX) return problem('too_long');
  if (/[\s\p{Cc}\p{Cf}\p{Cs}]/u.test(text)) return problem('control_character');
  if (text.includes('@')) return problem('user_info');
  // A name has nothing to encode; a zone (fe80::1%eth0) is of this machine only.
  if (text.includes('%')) return problem('percent_encoding');
  const [, bracketed] = /^\[(.*)\]$/.exec(text) ?? [];
  if (bracketed !== undefined || isIPv6(text)) return literal6(bracketed ?? text);
  return nameOrLiteral4(text);
}

function literal6(text: string): ReadHost {
  if (!isIPv6(text)) return problem('not_a_host');
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const address = readAddress(short);
  if (address?.family !== 4) return { ok: true, host: short };
  // Mapped and translated ones are the IPv4 address they lead to.
  const octets = [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn);
  return { ok: true, host: octets.join('.') };
}

function nameOrLiteral4(text: string): ReadHost {
  // Whatever a URL would end at or turn around is no part of a host.
  if (/[/\\?#:[\]<>^|"`{}]/.test(text)) return problem('not_a_host');
  const ascii = domainToASCII(text).replace(/\.$/, '');
  if (isIPv4(ascii)) return { ok: true, host: ascii };
  if (ascii.length > 253) return problem('too_long');
  return isNormalName(ascii) ? { ok: true, host: ascii } : problem('not_a_host');
}

/** An entry of a list in its normal form: `*.Bücher.example:8080` → `*.xn--bcher-kva.example:8080`. */
export function normalEntry(entry: string): string {
  if (isIPv6(entry)) return normalEntry(`[${entry}]`);
  const [, star = '', host = '', port = ''] = /^(\*\.)?([^/]*?)(:(?:\d{1,5}|\*))?$/.exec(entry) ?? [];
  const read = host === '' || host === '*' ? undefined : hostOf(host);
  if (read?.ok !== true) return entry.toLowerCase();
  return `${star}${read.host.includes(':') ? `[${read.host}]` : read.host}${port}`;
}
