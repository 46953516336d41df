import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refusalOf } from '../../../runtime/answer.ts';
import type { Connection } from '../../../runtime/coordinator.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { dropBody } from '../../../transports/http/body.ts';
import type { EnvironmentKey } from '../../../transports/http/environment-keys.ts';
import type { NetworkSettings } from '../judge-network.ts';
import { forward, readRequest } from './forward-request.ts';
import { type Admitted, authorityOf, connectTo, NetworkGate } from './gate.ts';
import {
  blockedByPolicy,
  type OwnAnswer,
  own,
  respond,
  respondRaw,
  turnedAway,
  unreachable,
} from './proxy-answers.ts';
import { Callers, type FixedAgent } from './proxy-callers.ts';
import { type Resolve, systemResolve } from './resolve.ts';
import { tunnel } from './tunnel.ts';

export interface ProxyTimes {
  /** For a request to be asked in full, without its body. */
  readonly headers_ms: number;
  readonly connect_ms: number;
  /** Without a byte in either direction. */
  readonly idle_ms: number;
  /** For what is under way when the proxy is told to stop. */
  readonly drain_ms: number;
}

export interface ProxyOptions {
  readonly settings: NetworkSettings;
  /** The one agent that it is for; without one, every client shows a key. */
  readonly agent?: FixedAgent | undefined;
  readonly keys?: readonly EnvironmentKey[] | undefined;
  readonly resolve?: Resolve | undefined;
  readonly times?: Partial<ProxyTimes> | undefined;
  /** Requests and tunnels of one agent at the same time. */
  readonly per_agent_max?: number | undefined;
}

export interface NetworkProxy {
  readonly server: Server;
  listen(host: string, port: number): Promise<number>;
  stop(): Promise<void>;
}

const TIMES: ProxyTimes = { headers_ms: 10_000, connect_ms: 10_000, idle_ms: 10 * 60_000, drain_ms: 3_000 };
const PER_AGENT_MAX = 128;
const CONNECTIONS_MAX = 2_000;
const HEADER_BYTES_MAX = 16_384;
const ESTABLISHED = 'HTTP/1.1 200 Connection Established\r\n\r\n';

/** A forward proxy that lets through what the caller's network policy allows, and nothing else. */
export function createProxy(coxswain: Coxswain, options: ProxyOptions): NetworkProxy {
  const times = { ...TIMES, ...options.times };
  const handler = new ProxyHandler(coxswain, options, times);
  const server = createServer({
    headersTimeout: times.headers_ms,
    // A long upload is fine as long as it moves, which the timeout of its connection sees to.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(1000, times.headers_ms),
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.setTimeout(times.idle_ms);
  server.on('request', (request, response) => void handler.request(request, response));
  server.on('connect', (request, socket, head) => void handler.connect(request, socket, head));
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return {
    server,
    async listen(host, port) {
      server.listen({ host, port });
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => {
        for (const socket of open) socket.destroy();
      }, times.drain_ms);
      await closed;
      clearTimeout(timer);
    },
  };
}

interface Passed {
  readonly connection: Connection;
  readonly admitted: Admitted;
  readonly upstream: Socket;
}

class ProxyHandler {
  readonly #callers: Callers;
  readonly #gate: NetworkGate;
  readonly #times: ProxyTimes;
  readonly #per_agent_max: number;
  readonly #busy = new Map<string, number>();

  constructor(coxswain: Coxswain, options: ProxyOptions, times: ProxyTimes) {
    this.#callers = new Callers(coxswain, options.agent, options.keys ?? []);
    this.#gate = new NetworkGate(coxswain, options.settings, options.resolve ?? systemResolve);
    this.#times = times;
    this.#per_agent_max = options.per_agent_max ?? PER_AGENT_MAX;
  }

  async request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#within(request, async (connection) => {
      const asked = readRequest(request);
      if ('status' in asked) return asked;
      if (asked.other !== undefined) {
        await this.#gate.reportServerName(connection, asked.authority, 80, asked.other);
        return own(400, 'bad_request', 'The header Host names another host than the request does.');
      }
      const passed = await this.#pass(connection, asked.authority, 80);
      if ('status' in passed) return passed;
      try {
        await forward(request, response, passed.upstream, passed.admitted, asked.path);
      } finally {
        passed.upstream.destroy();
      }
      return undefined;
    });
    if (answer === undefined) return;
    // Who sends it slowly on purpose is not waited for.
    const timer = setTimeout(() => request.destroy(), this.#times.headers_ms);
    await dropBody(request, response);
    clearTimeout(timer);
    respond(response, answer);
  }

  async connect(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // From here on the connection is ours alone, and what goes wrong with it too.
    socket.on('error', () => {});
    const answer = await this.#within(request, async (connection) => {
      // CONNECT names host and port and nothing else (RFC 9110, 9.3.6).
      if (!/^[^/?#\\@]*:\d{1,5}$/.test(request.url ?? ''))
        return own(400, 'bad_request', 'CONNECT takes host:port, such as example.com:443.');
      const passed = await this.#pass(connection, request.url ?? '', 443);
      if ('status' in passed) return passed;
      await this.#join(passed, socket, head);
      return undefined;
    });
    if (answer !== undefined && !socket.destroyed) respondRaw(socket, answer);
  }

  async #join({ connection, admitted, upstream }: Passed, socket: Duplex, head: Buffer): Promise<void> {
    if (socket.destroyed) {
      upstream.destroy();
      return;
    }
    for (const side of [socket as Socket, upstream]) {
      side.setTimeout(this.#times.idle_ms);
      side.once('timeout', () => side.destroy());
    }
    socket.write(ESTABLISHED);
    const other = await tunnel(socket, upstream, head, admitted.host);
    if (other === undefined) return;
    const { host, port } = admitted;
    await this.#gate.reportServerName(connection, authorityOf(host), port, other);
  }

  /** Who asks, and whether it has not too much under way already. */
  async #within(
    request: IncomingMessage,
    work: (connection: Connection) => Promise<OwnAnswer | undefined>,
  ): Promise<OwnAnswer | undefined> {
    try {
      const { headers, socket, httpVersion } = request;
      // Node reads a line without a version as HTTP/0.9, whose end can not be told.
      if (!['1.0', '1.1'].includes(httpVersion)) return own(400, 'bad_request', 'Speak HTTP/1.1.');
      const found = await this.#callers.find(headers['proxy-authorization'], socket);
      if ('status' in found) return turnedAway(found);
      const { agent_id } = found.actor;
      const busy = this.#busy.get(agent_id) ?? 0;
      if (busy >= this.#per_agent_max)
        return own(429, 'rate_limited', `${busy} connections of yours are open; close some first.`);
      this.#busy.set(agent_id, busy + 1);
      try {
        return await work(found);
      } finally {
        const left = (this.#busy.get(agent_id) ?? 1) - 1;
        if (left === 0) this.#busy.delete(agent_id);
        else this.#busy.set(agent_id, left);
      }
    } catch (error) {
      return blockedByPolicy(refusalOf(error));
    }
  }

  async #pass(connection: Connection, authority: string, port: number): Promise<Passed | OwnAnswer> {
    const admitted = await this.#gate.admit(connection, authority, port);
    if ('success' in admitted) return blockedByPolicy(admitted);
    const upstream = await connectTo(admitted, this.#times.connect_ms);
    if (upstream === undefined) return unreachable(admitted.host, admitted.port);
    upstream.setTimeout(this.#times.idle_ms);
    return { connection, admitted, upstream };
  }
}
