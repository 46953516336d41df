import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type KeyState, storedKey } from '../../features/keys/index.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { secretHash } from '../../kernel/secret.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { Authority } from '../../runtime/operation.ts';
import type { EnvironmentKey } from './environment-keys.ts';
import { Buckets, networkOf } from './rate-limit.ts';

/** The caller of a request, as far as its credential proves it. */
export interface Principal {
  readonly role: 'agent' | 'service' | 'person' | 'session';
  readonly authority: Authority;
  /** The agent it is bound to; the request may state whatever is missing. A service is bound to no agent. */
  readonly actor?: Identity | undefined;
  /** The agent that a request of a service acts as if it names none. */
  readonly unless_named?: string;
  /** Identifies the credential in logs and limits without revealing it. */
  readonly credential: string;
}

export interface Identity {
  readonly agent_id: string;
  readonly agent_type?: string | undefined;
  readonly session_id?: string | undefined;
}

export interface Denial {
  readonly status: 401 | 429;
  readonly error: string;
  readonly message: string;
  readonly retry_after_seconds?: number;
}

/**
 * Resolves a token issued by `register_session`; undefined for any other token, or if the session has ended.
 */
export type ResolveSessionToken = (
  token: string,
) => Promise<{ agent_id: string; agent_type: string; session_id: string } | undefined>;

export interface AuthenticatorOptions {
  readonly environment: readonly EnvironmentKey[];
  readonly resolveSessionToken?: ResolveSessionToken | undefined;
}

/** What the callers of the original server were called if their key was bound to no agent. */
const UNBOUND_AGENT = 'cloud-agent';

/** How long a verified key is trusted: revoking it takes effect within this time. */
const FRESH_MS = 2_000;
/**
 * While the store can't be reached, its last answer counts for this long: a key can't be revoked there
 * either.
 */
const STALE_MS_MAX = 10 * 60_000;
const KNOWN_MAX = 1_000;
const ADDRESSES_MAX = 64;
/** Wrong keys from one network: this many at once, then one per refill period. */
const GUESSES = { burst: 20, refill_ms: 3_000 };

const NO_KEY: Denial = {
  status: 401,
  error: 'unauthorized',
  message: 'Send an API key in X-API-Key or as Authorization: Bearer. `cox key create` makes one.',
};
const WRONG_KEY: Denial = {
  status: 401,
  error: 'unauthorized',
  message: 'This key opens nothing: it is unknown, revoked or expired.',
};

interface Known {
  readonly principal: Principal;
  readonly verified_ms: number;
  readonly fresh_until_ms: number;
  /** Networks from which the key was good: they are not limited when a neighbour in the network guesses. */
  readonly networks: Set<string>;
}

interface Verified {
  readonly principal: Principal;
  readonly fresh_ms: number;
}

export class Authenticator {
  readonly #coxswain: Coxswain;
  readonly #options: AuthenticatorOptions;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Verified | undefined>>();
  readonly #networks = new Map<string, string>();
  readonly #presented = new WeakMap<object, { readonly presented: string; readonly hash: string }>();
  readonly #environment: ReadonlyMap<string, EnvironmentKey>;
  readonly #guesses: Buckets;

  constructor(coxswain: Coxswain, options: AuthenticatorOptions) {
    this.#coxswain = coxswain;
    this.#options = options;
    this.#environment = new Map(options.environment.map((key) => [key.hash, key]));
    this.#guesses = new Buckets(GUESSES, coxswain.clock);
  }

  /** Synchronous for a caller that was verified a moment ago. */
  authenticate(
    headers: IncomingHttpHeaders,
    socket: Pick<Socket, 'remoteAddress'>,
  ): Principal | Denial | Promise<Principal | Denial> {
    const presented = presentedKey(headers);
    if (presented === undefined) return NO_KEY;
    const hash = this.#hashOf(presented, socket);
    const known = this.#known.get(hash);
    const network = this.#networkOf(socket.remoteAddress ?? 'unknown');
    const isNeighbour = known?.networks.has(network) === true;
    if (known !== undefined && isNeighbour && this.#coxswain.clock.elapsed_ms() < known.fresh_until_ms)
      return known.principal;
    return this.#lookUp(presented, hash, network, known);
  }

  /**
   * Whether a call that was let in would still be let in. This is not a guess, so it uses up no tries of its
   * network and is not held back by the tries of its neighbours. However many calls with one key are checked
   * at once, the store is asked once.
   */
  async stillOpens(headers: IncomingHttpHeaders, socket: Pick<Socket, 'remoteAddress'>): Promise<boolean> {
    const presented = presentedKey(headers);
    if (presented === undefined) return false;
    const hash = this.#hashOf(presented, socket);
    const known = this.#known.get(hash);
    if (known !== undefined && this.#coxswain.clock.elapsed_ms() < known.fresh_until_ms) return true;
    const verified = await this.#verifyOnce(hash, presented);
    if (verified === undefined) this.#known.delete(hash);
    else this.#remember(hash, verified, this.#networkOf(socket.remoteAddress ?? 'unknown'));
    return verified !== undefined;
  }

  /**
   * Keys are looked up by hash, so the time of a map lookup says nothing about a secret. The last key of a
   * connection is compared only with what came over the same connection.
   */
  #hashOf(presented: string, socket: object): string {
    const last = this.#presented.get(socket);
    if (last?.presented === presented) return last.hash;
    const hash = secretHash(presented);
    this.#presented.set(socket, { presented, hash });
    return hash;
  }

  async #lookUp(
    presented: string,
    hash: string,
    network: string,
    known: Known | undefined,
  ): Promise<Principal | Denial> {
    const isNeighbour = known?.networks.has(network) === true;
    // Taken before the lookup and given back after a good one, so that a thousand requests at once are not a
    // thousand lookups.
    const wait_seconds = isNeighbour ? 0 : this.#guesses.take(network);
    if (wait_seconds > 0) return tooManyGuesses(wait_seconds);
    const giveBack = () => isNeighbour || this.#guesses.giveBack(network);
    try {
      const verified = await this.#verifyOnce(hash, presented);
      if (verified === undefined) {
        this.#known.delete(hash);
        if (isNeighbour) this.#guesses.take(network);
        return WRONG_KEY;
      }
      giveBack();
      this.#remember(hash, verified, network);
      return verified.principal;
    } catch (error) {
      giveBack();
      const age_ms = this.#coxswain.clock.elapsed_ms() - (known?.verified_ms ?? Number.NEGATIVE_INFINITY);
      if (error instanceof StoreFailure && known !== undefined && age_ms < STALE_MS_MAX)
        return known.principal;
      throw error;
    }
  }

  /** Working out the network costs more than the rest of a request from a known caller. */
  #networkOf(address: string): string {
    const known = this.#networks.get(address);
    if (known !== undefined) return known;
    const network = networkOf(address);
    this.#networks.set(address, network);
    forgetOldest(this.#networks, KNOWN_MAX);
    return network;
  }

  /** Many clients may come with one key at once; the store is asked once. */
  #verifyOnce(hash: string, presented: string): Promise<Verified | undefined> {
    const asked = this.#asking.get(hash);
    if (asked !== undefined) return asked;
    const asking = this.#verify(hash, presented).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asking);
    return asking;
  }

  async #verify(hash: string, presented: string): Promise<Verified | undefined> {
    const configured = this.#configured(hash);
    if (configured !== undefined) return { principal: configured, fresh_ms: Number.POSITIVE_INFINITY };
    if (presented.startsWith('coxs_')) {
      const session = await this.#options.resolveSessionToken?.(presented);
      if (session === undefined) return undefined;
      const credential = `session ${JSON.stringify([session.agent_id, session.session_id])}`;
      return {
        principal: { role: 'session', authority: 'agent', actor: session, credential },
        fresh_ms: FRESH_MS,
      };
    }
    const stored = await storedKey(this.#coxswain, presented);
    if (stored === undefined) return undefined;
    const left_ms = (stored.key.expires_at_ms ?? Number.POSITIVE_INFINITY) - stored.now_ms;
    return { principal: principalOf(stored.id, stored.key), fresh_ms: Math.min(FRESH_MS, left_ms) };
  }

  /** By the hash of what was presented: the time it takes says nothing about any key. */
  #configured(hash: string): Principal | undefined {
    const key = this.#environment.get(hash);
    if (key === undefined) return undefined;
    const credential = `environment ${hash.slice(0, 8)}`;
    if (key.actor === undefined)
      return { role: 'service', authority: 'agent', credential, unless_named: UNBOUND_AGENT };
    return { role: 'agent', authority: 'agent', actor: key.actor, credential };
  }

  #remember(hash: string, { principal, fresh_ms }: Verified, network: string): void {
    const verified_ms = this.#coxswain.clock.elapsed_ms();
    // Read again now: other requests with the same key may have come while this one was looked up.
    const networks = this.#known.get(hash)?.networks ?? new Set();
    networks.add(network);
    forgetOldest(networks, ADDRESSES_MAX);
    this.#known.delete(hash);
    this.#known.set(hash, { principal, verified_ms, fresh_until_ms: verified_ms + fresh_ms, networks });
    forgetOldest(this.#known, KNOWN_MAX);
  }
}

function forgetOldest(kept: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

function principalOf(id: string, { role, agent_id, agent_type }: KeyState): Principal {
  const actor = agent_id === undefined ? undefined : { agent_id, agent_type };
  return { role, authority: role === 'person' ? 'person' : 'agent', actor, credential: `key ${id}` };
}

/** X-API-Key as the seed has it, or a bearer token as most clients send. Two that differ prove nothing. */
function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers;
  const key = headers['x-api-key'] === '' ? undefined : (headers['x-api-key'] as string | undefined);
  if (authorization === undefined) return key;
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (token !== undefined && key !== undefined && key !== token) return undefined;
  return token ?? key;
}

export function presentsKey(headers: IncomingHttpHeaders): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

function tooManyGuesses(retry_after_seconds: number): Denial {
  const message =
    'Too many wrong keys came from your network. Try again later, with a key that opens something.';
  return { status: 429, error: 'rate_limited', message, retry_after_seconds };
}

export function isDenial(answer: Principal | Denial): answer is Denial {
  return 'status' in answer;
}
