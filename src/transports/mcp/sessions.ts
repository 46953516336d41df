import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { Clock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Principal } from './mcp-callers.ts';
import { rpcError } from './web.ts';

export interface SessionBounds {
  readonly sessions_max: number;
  readonly idle_ms: number;
}

const UNKNOWN_SESSION = -32_001;
const REFUSED = -32_000;
const ID_BYTES = 24;
/** How many checks are made within a session's idle time. */
const LOOKS = 4;

interface Session {
  readonly principal: Principal;
  readonly server: Server;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Unanswered requests and open streams. */
  open: number;
  used_ms: number;
}

/** One HTTP request of a client, and what is needed to answer it. */
export interface Exchange {
  readonly request: Request;
  readonly body: JsonObject | undefined;
  readonly principal: Principal;
  /** A server for this client alone. */
  createServer(): Server;
  /** Resolves when all of it is sent or the client has gone. */
  send(answer: Response): Promise<void>;
}

/**
 * Clients of the revisions before 2026-07-28: they open a session with `initialize` and name it in every
 * request. Each has its own server and transport, which no other client's request ever reaches.
 */
export class Sessions {
  readonly #clock: Clock;
  readonly #bounds: SessionBounds;
  readonly #sessions = new Map<string, Session>();
  /** Handshakes in progress: a thousand at once must not all find the last place free. */
  #opening = 0;
  #tidying: AbortController | undefined;

  constructor(clock: Clock, bounds: SessionBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, body, principal, send } = exchange;
    const id = request.headers.get('mcp-session-id');
    if (id === null && body?.method === 'initialize') return await this.#initialize(exchange);
    if (id === null) {
      const message = 'Bad Request: start with initialize, then send its Mcp-Session-Id with every request';
      return await send(rpcError(400, REFUSED, message));
    }
    const session = this.#sessions.get(id);
    // The same message for a session that does not exist and one of another client: guessing reveals nothing.
    if (session === undefined || !isSame(session.principal, principal))
      return await send(rpcError(404, UNKNOWN_SESSION, 'Session not found'));
    await this.#pass(session, exchange);
  }

  /** Ends the streams on which only the server sends; requests in progress go on. */
  closeStreams(): void {
    for (const { transport } of this.#sessions.values()) transport.closeStandaloneSSEStream();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#close(id)));
  }

  async #initialize(exchange: Exchange): Promise<void> {
    const { principal, send } = exchange;
    if (!(await this.#makeRoom(principal))) {
      const busy = rpcError(503, REFUSED, 'Too many sessions are open; try again later');
      busy.headers.set('retry-after', '60');
      return await send(busy);
    }
    const server = exchange.createServer();
    const session: Session = {
      principal,
      server,
      transport: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => Buffer.from(systemRandom.bytes(ID_BYTES)).toString('base64url'),
        onsessioninitialized: (id) => this.#add(id, session),
        onsessionclosed: (id) => this.#remove(id),
      }),
      open: 0,
      used_ms: this.#clock.elapsed_ms(),
    };
    this.#opening += 1;
    try {
      await server.connect(session.transport);
      await this.#pass(session, exchange);
    } finally {
      this.#opening -= 1;
      // It was not a handshake after all, and the client has been told so.
      if (session.transport.sessionId === undefined) await server.close();
    }
  }

  async #pass(session: Session, { request, body, send }: Exchange): Promise<void> {
    session.open += 1;
    try {
      const options = body === undefined ? {} : { parsedBody: body };
      await send(await session.transport.handleRequest(request, options));
    } finally {
      session.open -= 1;
      session.used_ms = this.#clock.elapsed_ms();
    }
  }

  #add(id: string, session: Session): void {
    this.#sessions.set(id, session);
    if (this.#tidying === undefined) void this.#tidy();
  }

  /**
   * A credential with too many clients loses its own idle ones first, and takes no place from other
   * credentials.
   */
  async #makeRoom({ credential }: Principal): Promise<boolean> {
    if (this.#sessions.size + this.#opening < this.#bounds.sessions_max) return true;
    const idle = [...this.#sessions]
      .filter(([, session]) => session.open === 0 && session.principal.credential === credential)
      .sort(([, a], [, b]) => a.used_ms - b.used_ms);
    const [oldest] = idle;
    if (oldest === undefined) return false;
    await this.#close(oldest[0]);
    return true;
  }

  /** Ends the sessions of clients that left without a word; runs only while there are sessions. */
  async #tidy(): Promise<void> {
    const over = new AbortController();
    this.#tidying = over;
    while (this.#sessions.size > 0 && !over.signal.aborted) {
      await this.#clock.sleep(this.#bounds.idle_ms / LOOKS, over.signal).catch(() => {});
      const before_ms = this.#clock.elapsed_ms() - this.#bounds.idle_ms;
      for (const [id, session] of [...this.#sessions])
        if (session.open === 0 && session.used_ms <= before_ms) await this.#close(id);
    }
  }

  async #close(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#remove(id);
    await session?.server.close().catch(() => {});
  }

  #remove(id: string): void {
    this.#sessions.delete(id);
    if (this.#sessions.size > 0) return;
    this.#tidying?.abort();
    this.#tidying = undefined;
  }
}

/**
 * The same key that opened it, and no other agent's name. A later request need not repeat what the first one
 * said.
 */
function isSame(opened: Principal, { credential, authority, actor }: Principal): boolean {
  if (credential !== opened.credential || authority !== opened.authority) return false;
  return (['agent_id', 'session_id', 'agent_type'] as const).every(
    (field) => actor[field] === undefined || actor[field] === opened.actor[field],
  );
}
