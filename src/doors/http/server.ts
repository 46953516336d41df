import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Connection } from '../../coordinator.ts';
import type { Coxswain } from '../../index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal, refuse } from '../../kernel/refusal.ts';
import { version } from '../../kernel/version.ts';
import type { AnyOperation } from '../../operation.ts';
import { checkLocks } from '../../operations/check-locks.ts';
import { shownStore } from '../about.ts';
import { HTTP_STATUS, invalid, refusalOf, verdictOf } from '../answer.ts';
import { nearest } from '../nearest.ts';
import { BODY_BYTES_MAX, dropBody, readBody } from './body.ts';
import { Connections } from './connections.ts';
import { describeRoutes, loadRoutes, type Route, splitBody } from './routes.ts';

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 20_000;
const IDLE_MS_MAX = 65_000;
const DRAIN_MS_MAX = 5_000;
const STATUS_PREFIX = '/locks/status/';

export interface Api {
  readonly server: Server;
  /** Accepts nothing more, finishes what it accepted, within bounds. The store stays open. */
  stop(): Promise<void>;
}

/** The HTTP API over an open store; whoever calls it listens and closes the store. */
export async function createApi(coxswain: Coxswain, timeouts: { request_ms?: number } = {}): Promise<Api> {
  const api = new ApiHandler(coxswain, await loadRoutes());
  const request_ms = timeouts.request_ms ?? REQUEST_MS_MAX;
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_MS_MAX, request_ms),
      requestTimeout: request_ms,
      keepAliveTimeout: IDLE_MS_MAX,
      connectionsCheckingInterval: Math.min(1000, request_ms),
      maxHeaderSize: 16_384,
    },
    (request, response) => api.handle(request, response),
  );
  return {
    server,
    async stop() {
      api.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS_MAX);
      await closed;
      clearTimeout(timer);
    },
  };
}

const LOOPBACK_HOST = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Without keys yet, what protects the store from a web page in this machine's browser is that a page can't choose the
 * Host header (DNS rebinding), can't send JSON across origins unasked, and has an Origin.
 */
function isForeign({ headers }: IncomingMessage): boolean {
  if (!LOOPBACK_HOST.test(headers.host ?? '')) return true;
  return headers.origin !== undefined && !LOOPBACK_HOST.test(headers.origin.replace(/^https?:\/\//, ''));
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

class ApiHandler {
  readonly #stopping = new AbortController();
  readonly #coxswain: Coxswain;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #connections: Connections;
  readonly #version = version();
  readonly #operations: JsonObject;

  constructor(coxswain: Coxswain, routes: ReadonlyMap<string, Route>) {
    this.#coxswain = coxswain;
    this.#routes = routes;
    this.#connections = new Connections(coxswain);
    this.#operations = describeRoutes(routes);
  }

  /** Whoever waits in line is answered now. */
  stop(): void {
    this.#stopping.abort();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    this.#answer(request, response).catch((error: unknown) => {
      if (!response.headersSent) this.#send(response, 500, refusalOf(error));
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isForeign(request))
      return await this.#turnAway(
        request,
        response,
        403,
        'forbidden',
        'Ask from this machine, as localhost.',
      );
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query === -1 ? url : url.slice(0, query);
    const route = this.#routes.get(path);
    if (route === undefined) return await this.#look(request, response, path);
    // What only reads can be asked with a body too.
    const asked = !route.operation.mutates && request.method === 'POST' ? 'GET' : request.method;
    if (asked !== route.operation.route.method && request.method !== route.operation.route.method)
      return await this.#wrongMethod(request, response, route.operation.route.method);
    if (!isJson(request.headers['content-type']))
      return await this.#turnAway(request, response, 415, 'unsupported_media_type', 'Send application/json.');
    await this.#operate(route, request, response);
  }

  async #operate(
    { operation, own }: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const body = await readBody(request);
    if (body.kind === 'gone') return;
    if (body.kind === 'too_large') return this.#tooLarge(response);
    if (body.kind === 'malformed') return this.#send(response, 422, body.refusal);
    const { input, identity } = splitBody(body.value, own);
    const connection = this.#connections.find(identity, request.headers, operation.mutates);
    if (!(connection instanceof Connection)) return this.#send(response, 422, connection);
    const key = request.headers['idempotency-key'];
    if (key !== undefined && operation.mutates && input.operation_id === undefined)
      input.operation_id = key as string;
    const answer = await connection.perform(operation, input, {
      signal: this.#untilGone(operation, input, response),
    });
    this.#send(response, HTTP_STATUS[verdictOf(answer)], answer);
  }

  /** Only a call that waits needs to know that nobody is left to answer. */
  #untilGone({ waits }: AnyOperation, input: JsonObject, response: ServerResponse): AbortSignal | undefined {
    if (waits === undefined || !(Number(input[waits]) > 0)) return undefined;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, this.#stopping.signal]);
  }

  /** What needs no identity and changes nothing. */
  async #look(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const isStatus = path.startsWith(STATUS_PREFIX);
    if (!isStatus && path !== '/health' && path !== '/ready' && path !== '/operations')
      return await this.#notFound(request, response, path);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return await this.#wrongMethod(request, response, 'GET');
    if (path === '/health') return this.#send(response, 200, { status: 'ok', version: this.#version });
    if (path === '/operations') return this.#send(response, 200, this.#operations);
    if (path === '/ready') return await this.#ready(response);
    let file_path: string;
    try {
      file_path = decodeURIComponent(path.slice(STATUS_PREFIX.length));
    } catch {
      return this.#send(response, 422, invalid('path', 'a percent-encoded path'));
    }
    const answer = await this.#connections.anonymous.perform(checkLocks, { file_paths: [file_path] });
    const [lock] = isRefusal(answer) ? [] : (answer.locks as JsonObject[]);
    const shown = isRefusal(answer)
      ? answer
      : { success: true, file_path, ...lock, locked: lock !== undefined };
    this.#send(response, HTTP_STATUS[verdictOf(answer)], shown);
  }

  async #ready(response: ServerResponse): Promise<void> {
    const { store, store_url, project } = this.#coxswain;
    const about = { version: this.#version, store: shownStore(store_url), project };
    try {
      // A real read, of a record that need not exist.
      await store.find(project, { keys: [{ kind: 'lock', id: 'ready' }] });
      this.#send(response, 200, { status: 'ok', ...about });
    } catch (error) {
      this.#send(response, 503, { status: 'unavailable', ...about, ...refusalOf(error) });
    }
  }

  async #notFound(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const paths = [...this.#routes.keys(), '/health', '/ready', '/operations', `${STATUS_PREFIX}{path}`];
    const near = nearest(path, paths);
    await this.#turnAway(request, response, 404, 'not_found', 'Nothing is here; see GET /operations.', {
      near,
    });
  }

  async #wrongMethod(request: IncomingMessage, response: ServerResponse, method: string): Promise<void> {
    response.setHeader('allow', method === 'GET' ? 'GET, HEAD' : method);
    await this.#turnAway(request, response, 405, 'method_not_allowed', `Use ${method}.`);
  }

  #tooLarge(response: ServerResponse): void {
    const message = `body: expected at most ${BODY_BYTES_MAX} bytes`;
    response.shouldKeepAlive = false;
    this.#send(response, 413, refuse('too_large', message, { field: 'body' }));
  }

  async #turnAway(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    error: string,
    message: string,
    details: JsonObject = {},
  ): Promise<void> {
    await dropBody(request);
    if (!request.complete) response.shouldKeepAlive = false;
    this.#send(response, status, { success: false, error, ...details, message });
  }

  #send(response: ServerResponse, status: number, answer: JsonObject): void {
    const text = JSON.stringify(answer);
    if (this.#stopping.signal.aborted) response.shouldKeepAlive = false;
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  }
}
