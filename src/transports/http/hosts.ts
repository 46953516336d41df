import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|::1)$/i;
const REMEMBERED_MAX = 100;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** `name:port`, `1.2.3.4`, `[::1]:8081`: the part that names the machine. */
function hostOf(authority: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/@\s]+))(?::\d{1,5})?$/i.exec(authority) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/** A name that may appear in a Host header, or `*` for any. */
export function isHostName(name: string): boolean {
  return name === '*' || hostOf(name) !== undefined;
}

/**
 * A web page in a user's browser may reach us under its own host name (DNS rebinding), and has its own
 * origin. So we answer only to names we know. An IP address can't be rebound: a client that uses one meant
 * this machine, and a web page still has a foreign origin.
 */
export class Hosts {
  readonly #known: ReadonlySet<string>;
  readonly #isPublic: boolean;
  /** Hosts found acceptable before; the same few come all day. */
  readonly #fine = new Set<string>();

  constructor(bound: string, allowed: readonly string[] = []) {
    this.#isPublic = !isLoopback(bound);
    this.#known = new Set([bound, ...allowed].map((name) => hostOf(name) ?? name.toLowerCase()));
  }

  isForeign({ host = '', origin }: IncomingHttpHeaders): boolean {
    if (!this.#isFine(host)) return true;
    return origin !== undefined && !this.#isFine(origin.replace(/^https?:\/\//, ''));
  }

  #isFine(authority: string): boolean {
    if (this.#fine.has(authority)) return true;
    const host = hostOf(authority);
    if (host === undefined) return false;
    const fine =
      isLoopback(host) ||
      this.#known.has(host) ||
      this.#known.has('*') ||
      (this.#isPublic && isIP(host) !== 0);
    if (fine && this.#fine.size < REMEMBERED_MAX) this.#fine.add(authority);
    return fine;
  }
}
