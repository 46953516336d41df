import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import { endSession } from '../../features/sessions/operations.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { refusalOf } from '../../runtime/answer.ts';
import { Connection } from '../../runtime/coordinator.ts';
import type { CallOptions } from '../../runtime/coordinator-context.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { BODY_BYTES_MAX, bodyIn, dropBody, readBytes } from '../http/body.ts';
import { Callers, type Principal, typeOf } from './mcp-callers.ts';
import { type Catalogue, catalogueOf, createMcpServer, type Perform, untilEither } from './mcp-server.ts';
import { offerResources } from './resources.ts';
import { type Exchange, type SessionBounds, Sessions } from './sessions.ts';
import { chooseTools } from './toolset.ts';
import { Updates } from './updates.ts';
import { rpcError, sendWebResponse, toWebRequest, untilGone } from './web.ts';

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const PARSE_ERROR = -32_700;
const INTERNAL_ERROR = -32_603;
const REFUSED = -32_000;
const LISTEN = 'subscriptions/listen';
const METHODS = ['GET', 'POST', 'DELETE'];
const DRAIN_MS_MAX = 5_000;

export interface McpEndpointOptions {
  readonly coxswain: Coxswain;
  /** The tools shown to a client that does not choose with `?tools=…`. */
  readonly tools?: string | undefined;
  readonly bounds?: SessionBounds | undefined;
  /** Shown to every client instead of the product's own: for checks of the protocol itself. */
  readonly catalogue?: Catalogue | undefined;
  log?(text: string): void;
}

export interface McpEndpoint {
  /**
   * Answers one request, whichever revision its client speaks. Host, Origin and the key have been checked
   * before.
   */
  handle(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void>;
  /**
   * Accepts nothing more and finishes accepted requests, within bounds; then ends all sessions and streams.
   */
  stop(): Promise<void>;
}

/**
 * MCP over streamable HTTP, for any number of clients at once: revision 2026-07-28 without sessions, older
 * ones with.
 */
export function createMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  return new Endpoint(options);
}

class Endpoint implements McpEndpoint {
  readonly #coxswain: Coxswain;
  readonly #options: McpEndpointOptions;
  readonly #callers: Callers;
  readonly #sessions: Sessions;
  readonly #updates: Updates;
  readonly #modern: McpHttpHandler;
  readonly #stopping = new AbortController();
  readonly #answering = new Set<Promise<void>>();
  readonly #leaving = new Set<Promise<unknown>>();
  readonly #catalogues = new Map<string, Catalogue>();
  /** What a request came with, for the server that is created for it. */
  readonly #asked = new WeakMap<Request, { principal: Principal; catalogue: Catalogue }>();

  constructor(options: McpEndpointOptions) {
    const { coxswain } = options;
    this.#coxswain = coxswain;
    this.#options = options;
    this.#callers = new Callers(coxswain);
    const bounds = { sessions_max: limits.mcp_sessions_max, idle_ms: limits.mcp_session_idle_ms };
    this.#sessions = new Sessions(coxswain.clock, options.bounds ?? bounds);
    const changing = offerResources().map(({ resource, changedBy }) => ({ uri: resource.uri, changedBy }));
    this.#updates = new Updates(changing, async () => coxswain, coxswain.clock);
    this.#modern = this.#createModern();
  }

  async handle(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void> {
    try {
      await this.#answer(request, response, principal);
    } catch (error) {
      const { message } = refusalOf(error);
      this.#options.log?.(message);
      if (!response.headersSent) await sendWebResponse(response, rpcError(500, INTERNAL_ERROR, message));
    }
  }

  async stop(): Promise<void> {
    // Calls that wait in line are answered now.
    this.#stopping.abort();
    this.#sessions.closeStreams();
    await this.#within(Promise.allSettled(this.#answering));
    await Promise.all([this.#sessions.closeAll(), this.#modern.close()]);
    await this.#within(Promise.allSettled(this.#leaving));
    this.#updates.stop();
  }

  async #within(work: Promise<unknown>): Promise<void> {
    const late = new AbortController();
    await Promise.race([work, this.#coxswain.clock.sleep(DRAIN_MS_MAX, late.signal).catch(() => {})]);
    late.abort();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void> {
    const send = (answer: Response) => sendWebResponse(response, answer);
    const turnAway = async (answer: Response) => {
      await dropBody(request, response);
      await send(answer);
    };
    if (this.#stopping.signal.aborted) return await turnAway(stopping());
    const { method = 'GET' } = request;
    if (!METHODS.includes(method)) return await turnAway(wrongMethod());
    const catalogue = this.#catalogueFor(request);
    if (catalogue instanceof Response) return await turnAway(catalogue);
    const body = method === 'POST' ? await readMessage(request, response) : undefined;
    if (body === 'gone') return;
    if (body instanceof Response) return await send(body);
    // Reading the body may have taken a while.
    if (this.#stopping.signal.aborted) return await send(stopping());
    const web = toWebRequest(request, untilGone(response));
    const exchange = {
      request: web,
      body,
      principal,
      send,
      createServer: () => this.#createSessionServer(principal, catalogue),
    };
    const answered = (await isLegacyRequest(web, body))
      ? this.#sessions.serve(exchange)
      : this.#serveModern(exchange, catalogue);
    // A stream on which only the server sends ends with the server.
    if (method !== 'POST' || body?.method === LISTEN) return await answered;
    this.#answering.add(answered);
    await answered.finally(() => this.#answering.delete(answered));
  }

  async #serveModern({ request, body, principal, send }: Exchange, catalogue: Catalogue): Promise<void> {
    this.#asked.set(request, { principal, catalogue });
    // We follow the log before the client learns that it will be notified.
    const listening = body?.method === LISTEN ? this.#updates.listen(() => {}) : undefined;
    let answer: Response;
    try {
      await listening?.ready;
      answer = await this.#modern.fetch(request, { parsedBody: body });
    } finally {
      listening?.end();
    }
    await send(answer);
  }

  #createModern(): McpHttpHandler {
    return createMcpHandler(
      ({ requestInfo }) => {
        const asked = requestInfo === undefined ? undefined : this.#asked.get(requestInfo);
        if (asked === undefined) throw new Error('a request that nobody asked');
        const { principal, catalogue } = asked;
        const perform: Perform = (operation, input, clientName, options) => {
          const found = this.#callers.find(principal, clientName, operation.mutates);
          return this.#perform(found, operation, input, options);
        };
        return createMcpServer(catalogue, { perform, updates: this.#updates });
      },
      {
        legacy: 'reject',
        maxSubscriptions: limits.mcp_sessions_max,
        onerror: (error) => this.#options.log?.(error.message),
        // Only resources change while we run.
        bus: {
          publish: () => {},
          subscribe: (tell) => this.#updates.listen((uri) => tell({ kind: 'resource_updated', uri })).end,
        },
      },
    );
  }

  /**
   * The session is the client. Identity fields that it does not state are made up, differently for each
   * session.
   */
  #createSessionServer(principal: Principal, catalogue: Catalogue): Server {
    let connection: Connection | undefined;
    const underWay = new Set<Promise<JsonObject>>();
    const perform: Perform = (operation, input, clientName, options) => {
      const agent_type = principal.actor.agent_type ?? typeOf(clientName);
      connection ??= this.#coxswain.connect({ ...principal.actor, agent_type }, principal.authority, {
        door: 'mcp_http',
      });
      const answer = this.#perform(connection, operation, input, options);
      underWay.add(answer);
      return answer.finally(() => underWay.delete(answer));
    };
    const server = createMcpServer(catalogue, { perform, updates: this.#updates });
    const { agent_id, session_id } = principal.actor;
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      // An identity made up for the session ends with it: no client could ever release what it holds.
      if (connection !== undefined && agent_id === undefined && session_id === undefined)
        this.#sayGoodbye(connection, Promise.allSettled(underWay));
    };
    return server;
  }

  #sayGoodbye(connection: Connection, ended: Promise<unknown>): void {
    const leaving = ended
      .then(() => connection.perform(endSession, {}))
      .catch(() => {})
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  async #perform(
    found: Connection | Refusal,
    operation: AnyOperation,
    input: unknown,
    options: CallOptions,
  ): Promise<JsonObject> {
    if (!(found instanceof Connection)) return found;
    try {
      return await found.perform(operation, input, untilEither(operation, input, options, this.#stopping));
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Each client may choose what it sees: `/mcp?tools=all`. A session keeps what it was opened with. */
  #catalogueFor({ url = '/' }: IncomingMessage): Catalogue | Response {
    if (this.#options.catalogue !== undefined) return this.#options.catalogue;
    const query = url.indexOf('?');
    const set = query === -1 ? null : new URLSearchParams(url.slice(query)).get('tools');
    const tools = chooseTools(set ?? this.#options.tools);
    if ('success' in tools) return rpcError(400, INVALID_PARAMS, tools.message, tools);
    const key = tools.map(({ name }) => name).join();
    const known = this.#catalogues.get(key) ?? catalogueOf(tools);
    this.#catalogues.set(key, known);
    return known;
  }
}

function stopping(): Response {
  return rpcError(503, REFUSED, 'The server is stopping');
}

function wrongMethod(): Response {
  const answer = rpcError(405, REFUSED, 'Method not allowed.');
  answer.headers.set('allow', METHODS.join(', '));
  return answer;
}

/** One JSON-RPC message. Batches existed in only one revision, which allowed but never required them. */
async function readMessage(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<JsonObject | Response | 'gone'> {
  const body = bodyIn(await readBytes(request));
  switch (body.kind) {
    case 'gone':
      return 'gone';
    case 'too_large':
      response.shouldKeepAlive = false;
      return rpcError(413, REFUSED, `Payload Too Large: at most ${BODY_BYTES_MAX} bytes`);
    case 'malformed': {
      const { expected } = body.refusal;
      const code = expected === 'JSON' || expected === 'UTF-8' ? PARSE_ERROR : INVALID_REQUEST;
      return rpcError(400, code, `Bad Request: ${body.refusal.message}`);
    }
    case 'object':
      return body.value;
  }
}
