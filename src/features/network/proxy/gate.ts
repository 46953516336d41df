import { connect, isIP, type Socket } from 'node:net';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { isRefusal, type Refusal, refuse } from '../../../kernel/refusal.ts';
import { refusalOf } from '../../../runtime/answer.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { profileEnforcerOf } from '../../trust/enforcement/index.ts';
import { type RulebookState, rulebookKey, standingOf } from '../../trust/index.ts';
import { networkTerms } from '../check-network.ts';
import { judgeHost, type NetworkSettings, type NetworkTarget } from '../judge-network.ts';
import { checkNetwork } from '../operations/network-operations.ts';
import { originText, readAttempt } from '../settings/network-target.ts';
import type { Resolve } from './resolve.ts';

/** Where a connection may go: to these addresses and to no others, whatever the name leads to a moment later. */
export interface Admitted {
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

const RESOLVE_MS_MAX = 10_000;

export class NetworkGate {
  readonly #coxswain: Coxswain;
  readonly #settings: NetworkSettings;
  readonly #resolve: Resolve;

  constructor(coxswain: Coxswain, settings: NetworkSettings, resolve: Resolve) {
    this.#coxswain = coxswain;
    this.#settings = settings;
    this.#resolve = resolve;
  }

  /** The one question, asked by `check_network` itself: its answer is in the log before anything is connected. */
  async admit(connection: Connection, authority: string, port: number): Promise<Admitted | Refusal> {
    try {
      const { target } = readAttempt(authority, port);
      if (target === undefined)
        return this.#refused(await this.#ask(connection, originText(authority), { port }));
      const addresses = await this.#lookUp(connection, target);
      const known = addresses === undefined || isIP(target.host) !== 0 ? {} : { addresses: [...addresses] };
      const answer = await this.#ask(connection, authorityOf(target.host), { port: target.port, ...known });
      if (answer.success !== true || addresses === undefined) return this.#refused(answer);
      return { host: target.host, port: target.port, addresses };
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Another server than the connection was opened for is asked for on it: that is an attempt too. */
  async reportServerName(
    connection: Connection,
    authority: string,
    port: number,
    name: string,
  ): Promise<void> {
    const server_name = name.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 255) || '?';
    await this.#ask(connection, originText(authority), { port, server_name });
  }

  /** A name that is blocked is not even looked up: the question alone could carry something out. */
  async #lookUp(connection: Connection, target: NetworkTarget): Promise<readonly string[] | undefined> {
    const { store, project } = this.#coxswain;
    const { loaded } = await store.find(project, { keys: [rulebookKey] });
    const rulebook = loaded.get<RulebookState>(rulebookKey)?.state;
    const standing =
      profileEnforcerOf(connection)?.standingIn(loaded) ?? standingOf(rulebook, connection.actor);
    const terms = networkTerms(rulebook, standing, connection.actor, this.#settings);
    if (!judgeHost(target, terms).allowed) return undefined;
    if (isIP(target.host) !== 0) return [target.host];
    const found = await this.#resolveInTime(target.host);
    return [...new Set(found)].filter((text) => isIP(text) !== 0).slice(0, limits.network_addresses_max);
  }

  async #resolveInTime(name: string): Promise<readonly string[]> {
    const found = new AbortController();
    const tooLong = this.#coxswain.clock.sleep(RESOLVE_MS_MAX, found.signal).then(
      () => [],
      () => [],
    );
    try {
      return await Promise.race([this.#resolve(name), tooLong]);
    } finally {
      found.abort();
    }
  }

  async #ask(connection: Connection, domain: string, more: JsonObject): Promise<JsonObject> {
    return await connection.perform(checkNetwork, { domain, ...more });
  }

  #refused(answer: JsonObject): Refusal {
    if (isRefusal(answer)) return answer;
    return refuse('domain_blocked', 'The rules were changed at this very moment; try again.', {
      domain: answer.domain,
    });
  }
}

export function authorityOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Undefined: no address answers. */
export async function connectTo(
  { host, port, addresses }: Admitted,
  timeout_ms: number,
): Promise<Socket | undefined> {
  if (addresses.length === 0) return undefined;
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host,
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    // Never the resolver's own answer of now: only what was judged.
    lookup: (_name, { all }, callback) => {
      if (all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    },
  });
  return await new Promise((resolve) => {
    const timer = setTimeout(() => socket.destroy(), timeout_ms);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // Always followed by `close`; and later errors are handled by the new owner of the socket.
    socket.on('error', () => {});
  });
}
