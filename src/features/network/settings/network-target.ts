import type { Attempt } from '../check-network.ts';
import { type HostProblem, hostOf } from './host.ts';

const PORTS: Readonly<Record<string, number>> = {
  http: 80,
  ws: 80,
  https: 443,
  wss: 443,
  ssh: 22,
  git: 9418,
  ftp: 21,
};
const PORT_DEFAULT = 443;
const SHOWN_CHARS_MAX = 200;

/**
 * What of a URL says where it leads: scheme, host and port. A path or a query may hold secrets, and a user name and a
 * password do; none of it is needed, so none of it gets any further, least of all into the log.
 */
export function originText(text: string): string {
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*:\/+)?([^/?#]*)/i.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const place = at === -1 ? authority : `…${authority.slice(at)}`;
  // Some take a backslash for a slash, some for a part of the user name: it stays, so that it is refused.
  return `${scheme}${place.replace(/\\.*$/s, '\\')}`;
}

const PROBLEMS: Readonly<Record<HostProblem | 'port', string>> = {
  empty: 'There is no host in it.',
  too_long: 'No host is that long.',
  control_character: 'Spaces and invisible characters have no place in a host.',
  user_info: 'Ask without the user name and password before the @.',
  percent_encoding: 'A host is written without percent signs.',
  not_a_host: 'It is no host that every program would read the same way.',
  port: 'A port is a number from 1 to 65535.',
};

/** What is not understood is shown as far as it does no harm. */
function shownHost(text: string): string {
  const plain = text.slice(0, SHOWN_CHARS_MAX).toWellFormed();
  return plain.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, '?');
}

function unreadable(text: string, problem: HostProblem | 'port'): Attempt {
  return { domain: shownHost(text), problem: PROBLEMS[problem] };
}

/** `https://example.com:8443/…`, `example.com:8443`, `example.com`, `[::1]:80`; `port` counts where the text names none. */
export function readAttempt(text: string, port?: number): Attempt {
  const origin = originText(text);
  const [, scheme, authority = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(origin) ?? [];
  const split = splitPort(authority);
  if (split === undefined) return unreadable(authority, 'not_a_host');
  const read = hostOf(split.host);
  if (!read.ok) return unreadable(split.host, read.problem);
  const named = split.port === '' ? undefined : Number(split.port);
  const meant = named ?? port ?? PORTS[(scheme ?? '').toLowerCase()] ?? PORT_DEFAULT;
  if (!Number.isInteger(meant) || meant < 1 || meant > 65_535) return unreadable(authority, 'port');
  return { domain: read.host, target: { host: read.host, port: meant } };
}

function splitPort(authority: string): { host: string; port: string } | undefined {
  // More than one colon without brackets: an IPv6 address by itself.
  if (!authority.startsWith('[') && authority.split(':').length > 2) return { host: authority, port: '' };
  const [whole, host = '', port = ''] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/s.exec(authority) ?? [];
  return whole === undefined ? undefined : { host, port };
}
