import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { nearest } from '../../kernel/nearest.ts';
import { refusalOf } from '../../runtime/answer.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { LogFeed } from '../../runtime/log-feed.ts';
import { operations } from '../../runtime/operation-list.ts';
import type { McpEndpoint } from '../mcp/mcp-http.ts';
import {
  Authenticator,
  isDenial,
  type Principal,
  presentsKey,
  type ResolveSessionToken,
} from './authenticate.ts';
import { announcesTooMuch } from './body.ts';
import { Connections, identify, refuseOthersNames } from './connections.ts';
import { answerDocs } from './docs.ts';
import { EventStreams, type StreamLimits } from './events.ts';
import { webhookRoute } from './github-webhook.ts';
import { Hosts } from './hosts.ts';
import { type ApiConfig, readApiConfig } from './http-config.ts';
import { Exchange, type Surroundings } from './http-exchange.ts';
import { Metrics } from './metrics-route.ts';
import { describeApi } from './openapi.ts';
import { operationRoutes, type Prepared, prepareOperations } from './operate.ts';
import { Buckets } from './rate-limit.ts';
import { type Route, Routes } from './routes.ts';
import { GET, lookRoutes } from './status-routes.ts';
import { Vigil } from './vigil.ts';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 20_000;
const IDLE_MS_MAX = 65_000;
const DRAIN_MS_MAX = 5_000;
const CONNECTIONS_MAX = 5_000;

export interface ApiOptions {
  /** Default: this machine only, and no key but those in the store. */
  readonly config?: ApiConfig | undefined;
  readonly request_ms?: number | undefined;
  /** How often waiting calls are checked for whether they may go on. */
  readonly vigil_ms?: number | undefined;
  readonly streams?: Partial<StreamLimits> | undefined;
  readonly resolveSessionToken?: ResolveSessionToken | undefined;
  readonly mcp?: McpEndpoint | undefined;
  /** Further lines for /metrics, in its format. */
  readonly moreMetrics?: (() => Promise<string>) | undefined;
}

export interface Api {
  readonly server: Server;
  readonly routes: readonly Pick<Route, 'path' | 'methods' | 'key'>[];
  /** Accepts nothing more and finishes accepted requests, within bounds. The store stays open. */
  stop(): Promise<void>;
}

/** The HTTP API over an open store. The caller does the listening and closes the store. */
export async function createApi(coxswain: Coxswain, options: ApiOptions = {}): Promise<Api> {
  const api = new ApiHandler(coxswain, await prepareOperations(), options);
  const request_ms = options.request_ms ?? REQUEST_MS_MAX;
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_MS_MAX, request_ms),
      requestTimeout: request_ms,
      keepAliveTimeout: IDLE_MS_MAX,
      connectionsCheckingInterval: Math.min(1000, request_ms),
      maxHeaderSize: 16_384,
      insecureHTTPParser: false,
    },
    (request, response) => api.handle(request, response),
  );
  // A client that asks before it sends is not told to go on with what will be refused.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!announcesTooMuch(request)) response.writeContinue();
    api.handle(request, response);
  });
  server.maxConnections = CONNECTIONS_MAX;
  api.countConnections(server);
  return {
    server,
    routes: api.routes,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      await api.stop();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS_MAX);
      await closed;
      clearTimeout(timer);
    },
  };
}

class ApiHandler {
  readonly #stopping = new AbortController();
  readonly #coxswain: Coxswain;
  readonly #options: ApiOptions;
  readonly #hosts: Hosts;
  readonly #authenticator: Authenticator;
  readonly #rates: Buckets | undefined;
  readonly #metrics = new Metrics();
  readonly #streams: EventStreams;
  readonly #surroundings: Surroundings;
  readonly #routes: Routes;

  constructor(coxswain: Coxswain, prepared: readonly Prepared[], options: ApiOptions) {
    this.#coxswain = coxswain;
    this.#options = options;
    const { clock, store, project } = coxswain;
    const config = options.config ?? defaultConfig();
    const { rate_per_minute: rate } = config;
    this.#hosts = new Hosts(config.host, config.allowed_hosts);
    const { resolveSessionToken } = options;
    this.#authenticator = new Authenticator(coxswain, { environment: config.keys, resolveSessionToken });
    // Ten seconds' worth at once: agents work in bursts.
    if (rate > 0)
      this.#rates = new Buckets({ burst: Math.max(1, rate / 6), refill_ms: 60_000 / rate }, clock);
    this.#streams = new EventStreams(new LogFeed(store, clock, project), options.streams);
    const vigil = new Vigil(this.#authenticator, options.vigil_ms);
    this.#surroundings = { clock, metrics: this.#metrics, stopping: this.#stopping.signal, vigil };
    this.#routes = new Routes(this.#declareRoutes(prepared, config));
    this.#metrics.gauge({
      name: 'cox_event_listeners',
      help: 'Clients that listen to /events.',
      value: () => this.#streams.size,
    });
    this.#metrics.gauge({
      name: 'cox_audit_rows_dropped_total',
      help: 'Rows of reads and refusals given up under pressure.',
      type: 'counter',
      value: () => store.dropped,
    });
  }

  get routes(): readonly Route[] {
    return this.#routes.all;
  }

  countConnections(server: Server): void {
    let open = 0;
    server.on('connection', (socket) => {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
    });
    this.#metrics.gauge({ name: 'cox_http_connections', help: 'Open connections.', value: () => open });
  }

  /** Calls that wait in line or listen are answered now. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#streams.stop();
    await this.#options.mcp?.stop();
  }

  #declareRoutes(prepared: readonly Prepared[], { webhook }: ApiConfig): Route[] {
    const connections = new Connections(this.#coxswain);
    const description = JSON.stringify(describeApi(prepared));
    const { mcp } = this.#options;
    const routes: Route[] = [
      ...prepared.flatMap((each) => operationRoutes(each, connections)),
      ...lookRoutes(this.#coxswain, connections),
      { path: '/metrics', methods: GET, key: 'required', handle: (exchange) => this.#expose(exchange) },
      { path: '/events', methods: ['GET'], key: 'required', handle: (...call) => this.#listen(...call) },
      {
        path: '/openapi.json',
        methods: GET,
        key: 'none',
        handle: (exchange) => exchange.sendText(200, 'application/json', description),
      },
      { path: '/docs', methods: GET, key: 'none', handle: answerDocs },
      { path: '/docs/{file}', methods: GET, key: 'none', handle: answerDocs },
      webhookRoute(this.#coxswain, webhook),
    ];
    if (mcp !== undefined)
      routes.push({
        path: '/mcp',
        methods: ['POST', 'GET', 'DELETE'],
        key: 'required',
        handle: (exchange, principal) => this.#converse(mcp, exchange, principal),
      });
    return routes;
  }

  async #converse(mcp: McpEndpoint, exchange: Exchange, principal: Principal | undefined): Promise<void> {
    if (principal === undefined) throw new Error('nobody speaks MCP without a key');
    const { request, response, headers } = exchange;
    const who = identify(headers, principal);
    if (!who.ok) return exchange.answer(who.refusal);
    response.once('close', () => response.headersSent && exchange.observe(response.statusCode));
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    this.#surroundings.vigil.watch(request, response);
    const { authority, credential } = principal;
    await mcp.handle(request, response, { actor: who.identity, authority, credential });
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    // After an answer that closes the connection nothing more can be answered on it, so nothing more is done.
    if (request.socket.writableEnded) return void request.socket.destroy();
    const exchange = new Exchange(request, response, this.#surroundings);
    // Its body is not read, so nothing else can follow on the connection.
    if (announcesTooMuch(request)) response.shouldKeepAlive = false;
    this.#answer(exchange).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else exchange.answer(refusalOf(error));
    });
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, headers } = exchange;
    if (this.#hosts.isForeign(headers))
      return await exchange.turnAway(
        403,
        'forbidden',
        'This server does not go by that name; see API_ALLOWED_HOSTS.',
      );
    const route = this.#routes.find(exchange.path);
    if (route === undefined) return await this.#notFound(exchange);
    exchange.route = route.path;
    if (!route.methods.includes(request.method ?? '')) return await exchange.wrongMethod(route.methods);
    const { key } = route;
    if (key === 'none' || (key === 'optional' && !presentsKey(headers)))
      return await route.handle(exchange, undefined);
    const found = this.#authenticator.authenticate(headers, request.socket);
    const principal = found instanceof Promise ? await found : found;
    if (isDenial(principal)) return await exchange.deny(principal);
    const filters = request.method === 'POST' ? undefined : route.filters;
    const spoofed = refuseOthersNames(headers, exchange.query, principal, filters);
    if (spoofed !== undefined) return await exchange.refuse(spoofed);
    const wait_seconds = this.#rates?.take(principal.credential) ?? 0;
    if (wait_seconds === 0) return await route.handle(exchange, principal);
    const message = 'Too many requests with this key; see API_RATE_LIMIT.';
    await exchange.busy(429, 'rate_limited', message, wait_seconds);
  }

  async #expose(exchange: Exchange): Promise<void> {
    const more = (await this.#options.moreMetrics?.()) ?? '';
    exchange.sendText(200, 'text/plain; version=0.0.4; charset=utf-8', this.#metrics.expose() + more);
  }

  async #listen(exchange: Exchange, principal: Principal | undefined): Promise<void> {
    if (principal === undefined) throw new Error('nobody listens without a key');
    await this.#streams.open(exchange, principal);
  }

  async #notFound(exchange: Exchange): Promise<void> {
    const paths = this.routes.map(({ path }) => path);
    const near = [...new Set([...meantByWords(exchange.path), ...nearest(exchange.path, paths)])].slice(
      0,
      NEAR_MAX,
    );
    await exchange.turnAway(404, 'not_found', 'Nothing is here; see GET /openapi.json.', { near });
  }
}

const NEAR_MAX = 3;

/** A path made of the words of the command line or of an operation's name: `/task/done`, `/acquire_lock`. */
function meantByWords(path: string): string[] {
  const words = path
    .slice(1)
    .split('/')
    .map((word) => word.replaceAll('-', '_'));
  const [first = '', second = ''] = words;
  return operations
    .filter(
      ({ name, group, verb }) =>
        name === words.at(-1) || (verb === second && [group, `${group}s`].includes(first)),
    )
    .map(({ route }) => route.path);
}

function defaultConfig(): ApiConfig {
  const read = readApiConfig({}, {});
  if (!read.ok) throw new Error(read.refusal.message);
  return read.config;
}
