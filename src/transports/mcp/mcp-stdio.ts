import { PassThrough } from 'node:stream';
import { type JSONRPCMessage, type Server, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { endSession } from '../../features/sessions/operations.ts';
import { type Channel, Courier } from '../../features/trust/notify/index.ts';
import { open } from '../../index.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Actor } from '../../ledger/log.ts';
import { refusalOf } from '../../runtime/answer.ts';
import { maintain } from '../../runtime/background-maintenance.ts';
import { NO_STORE } from '../../runtime/choose-store.ts';
import type { Connection } from '../../runtime/coordinator.ts';
import type { CallOptions } from '../../runtime/coordinator-context.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { AnyOperation } from '../../runtime/operation.ts';
import { typeOf } from './mcp-callers.ts';
import { type Catalogue, catalogueOf, createMcpServer, untilEither } from './mcp-server.ts';
import { type Listening, Updates } from './updates.ts';

export interface McpService {
  readonly tools: readonly AnyOperation[];
  /** What was configured; the rest is made up, differently for every process. */
  readonly identity: Partial<Actor>;
  readonly capabilities?: readonly string[] | undefined;
  /** The agent's identity was not configured, whatever its client's process says. */
  readonly unnamed?: boolean | undefined;
  readonly agent_role?: string | undefined;
  readonly place: { readonly store: string | undefined; readonly project: string; readonly cwd: string };
  readonly stop: Promise<void>;
  /** The channels that notify people. */
  readonly channels?: readonly Channel[] | undefined;
  /** If the identity is that of the client's process: has that process ended? */
  readonly clientIsGone?: (() => Promise<boolean>) | undefined;
  log(text: string): void;
}

const DRAIN_MS_MAX = 5_000;
const LEAVE_MS_MAX = 1_000;
const GREETING_MS_MAX = 250;

/** MCP over this process's stdin and stdout, for the one client at the other end. */
export async function serveMcp(service: McpService): Promise<void> {
  const catalogue = catalogueOf(service.tools);
  const client = new McpClient(service, catalogue);
  const input = new PassThrough();
  const transport = new StdioServerTransport(input);
  let server: Server | undefined;
  serveStdio(
    () => {
      server = createMcpServer(catalogue, client);
      return server;
    },
    { transport, onerror: (error) => service.log(error.message) },
  );
  const closed = new Promise<void>((resolve) => {
    const inner = transport.onclose;
    transport.onclose = () => {
      inner?.();
      resolve();
    };
  });
  const answered = watchAnswers(transport);
  watchListens(transport, client.updates, (uri) => void server?.sendResourceUpdated({ uri }).catch(() => {}));
  const greeted = untilFirstSent(transport);
  process.stdin.pipe(input, { end: false });
  let isOver = false;
  void greeted.then(() => {
    if (isOver) return;
    // Opened ahead, so that the first call need not wait. If the store is not there yet, each call tries
    // again.
    client.open().catch((error: unknown) => service.log(refusalOf(error).message));
    // And prepare what is asked for next.
    catalogue.listed().catch(() => {});
  });
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('error', () => resolve());
  });
  // When we are told to stop, waiting calls are answered at once; when only the input ends, within the time
  // to drain.
  void service.stop.then(() => client.leave());
  await Promise.race([ended, service.stop, closed]);
  isOver = true;
  // The transport drops pending requests when its input ends, but a user who pipes a script into us wants the
  // answers.
  await answered(DRAIN_MS_MAX);
  await transport.close();
  process.stdin.unpipe(input);
  process.stdin.destroy();
  await client.close();
}

/** Work that is needed later waits until the first answer is out, or for a moment if no request comes. */
function untilFirstSent(transport: StdioServerTransport): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, GREETING_MS_MAX).unref();
    const send = transport.send.bind(transport);
    transport.send = async (message) => {
      await send(message);
      clearTimeout(timer);
      resolve();
    };
  });
}

/** Counts requests in and answers out on the wire. */
function watchAnswers(transport: StdioServerTransport): (limit_ms: number) => Promise<void> {
  const open = new Set<unknown>();
  let idle = () => {};
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    // A listen request is answered only when the connection ends.
    if ('id' in message && 'method' in message && message.method !== LISTEN) open.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled')
      open.delete(message.params?.requestId);
    receive?.(message);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if ('id' in message && !('method' in message)) open.delete(message.id);
    if (open.size === 0) idle();
  };
  return (limit_ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, limit_ms);
      idle = () => {
        clearTimeout(timer);
        resolve();
      };
      // The last piped input is delivered on a later turn of the event loop.
      setImmediate(() => {
        if (open.size === 0) idle();
      });
    });
}

const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/**
 * Since revision 2026-07-28 the SDK itself answers a client that wants to listen, and forwards what it
 * subscribed to. This detects such a client. We follow the log before the client learns that it will be
 * notified.
 */
function watchListens(transport: StdioServerTransport, updates: Updates, tell: (uri: string) => void): void {
  const listeners = new Set<unknown>();
  let listening: Listening | undefined;
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    const listener = acknowledgedListener(message);
    if (listener !== undefined) {
      listeners.add(listener);
      listening ??= updates.listen(tell);
      await listening.ready;
    }
    await send(message);
  };
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    if ('method' in message && message.method === 'notifications/cancelled')
      listeners.delete(message.params?.requestId);
    if (listeners.size === 0) {
      listening?.end();
      listening = undefined;
    }
    receive?.(message);
  };
}

function acknowledgedListener(message: JSONRPCMessage): unknown {
  if (!('method' in message) || message.method !== ACKNOWLEDGED) return undefined;
  const { notifications, _meta } = (message.params ?? {}) as {
    notifications?: { resourceSubscriptions?: string[] };
    _meta?: Record<string, unknown>;
  };
  return notifications?.resourceSubscriptions === undefined ? undefined : _meta?.[SUBSCRIPTION_ID_META_KEY];
}

/** One client, one identity, one connection; the store behind it may come later. */
class McpClient {
  readonly updates: Updates;
  readonly #service: McpService;
  readonly #underWay = new Set<Promise<JsonObject>>();
  readonly #leaving = new AbortController();
  #opening: Promise<Coxswain> | undefined;
  #opened = false;
  #tending: { stop(): void } | undefined;
  #courier: Courier | undefined;
  #connection: Connection | undefined;

  constructor(service: McpService, { resources }: Catalogue) {
    this.#service = service;
    const changing = resources.map(({ resource, changedBy }) => ({ uri: resource.uri, changedBy }));
    this.updates = new Updates(changing, () => this.open(), systemClock);
  }

  open(): Promise<Coxswain> {
    const announce = () => this.#courier?.stir();
    this.#opening ??= open({ ...this.#service.place, sits: true, announce }).then(
      (coxswain) => {
        this.#opened = true;
        this.#courier = new Courier(coxswain, this.#service.channels ?? []);
        this.#tending = maintain(coxswain, () => (this.#connection === undefined ? [] : [this.#connection]));
        return coxswain;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  readonly perform = async (
    operation: AnyOperation,
    input: unknown,
    clientName: string | undefined,
    options: CallOptions,
  ): Promise<JsonObject> => {
    try {
      const connection = await this.#connectionFor(operation, clientName);
      const answer = connection.perform(
        operation,
        input,
        untilEither(operation, input, options, this.#leaving),
      );
      this.#underWay.add(answer);
      return await answer.finally(() => this.#underWay.delete(answer));
    } catch (error) {
      return refusalOf(error);
    }
  };

  async #connectionFor(operation: AnyOperation, clientName: string | undefined): Promise<Connection> {
    // What this machine answers alone waits for no store. The caller does not matter then, because no row
    // records it.
    if (operation.machine === true && !this.#opened)
      return (await open({ ...this.#service.place, store: NO_STORE })).connect();
    this.#connection ??= this.#connect(await this.open(), clientName);
    return this.#connection;
  }

  #connect(coxswain: Coxswain, clientName: string | undefined): Connection {
    // Two first calls at once wait for the same store; the second finds the connection of the first.
    const { identity, capabilities, unnamed, agent_role } = this.#service;
    const actor = { agent_type: typeOf(clientName), ...identity };
    const showing = { capabilities, unnamed, agent_role, door: 'mcp' as const };
    return this.#connection ?? coxswain.connect(actor, 'operator', showing);
  }

  /** No call waits any longer. */
  leave(): void {
    this.#leaving.abort();
  }

  async close(): Promise<void> {
    this.leave();
    this.updates.stop();
    this.#tending?.stop();
    const coxswain = await this.#opening?.catch(() => undefined);
    // A call that waits for a lock gives up its place in line first.
    const late = new AbortController();
    const ended = Promise.allSettled(this.#underWay);
    const giveUp = coxswain?.clock.sleep(LEAVE_MS_MAX, late.signal).catch(() => {});
    await Promise.race([ended.then(() => this.#sayGoodbye()), giveUp]);
    late.abort();
    await this.#courier?.stop();
    await coxswain?.close();
  }

  /**
   * An identity made up for this connection ends with it: no client could ever release what it holds. A
   * client's identity ends with the client, which could not say so if it was killed. While the client lives,
   * its hooks go on under that identity.
   */
  async #sayGoodbye(): Promise<void> {
    const { identity, clientIsGone } = this.#service;
    const isMadeUp = identity.agent_id === undefined && identity.session_id === undefined;
    if (isMadeUp) await this.#connection?.perform(endSession, {});
    else if ((await clientIsGone?.()) === true) {
      // Its hooks may hold something even if it never called us.
      const connection = this.#connection ?? this.#connect(await this.open(), undefined);
      await connection.perform(endSession, {});
    }
  }
}
