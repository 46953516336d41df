import { PassThrough } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Connection } from '../../coordinator.ts';
import { type Coxswain, open } from '../../index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { reservedProblem } from '../../kernel/names.ts';
import type { Actor } from '../../ledger/log.ts';
import { NO_STORE } from '../../ledger/no-store.ts';
import type { AnyOperation } from '../../operation.ts';
import { refusalOf } from '../answer.ts';
import { createMcpServer, offerTools } from './server.ts';

export interface McpService {
  readonly tools: readonly AnyOperation[];
  /** What was configured; the rest is made up, differently for every process. */
  readonly identity: Partial<Actor>;
  readonly place: { readonly store: string | undefined; readonly project: string; readonly cwd: string };
  readonly stop: Promise<void>;
  log(text: string): void;
}

const DRAIN_MS_MAX = 5_000;
const LEAVE_MS_MAX = 1_000;

/** MCP over this process's stdin and stdout, for the one client at the other end. */
export async function serveMcp(service: McpService): Promise<void> {
  const client = new McpClient(service);
  const offered = await offerTools(service.tools);
  const input = new PassThrough();
  const transport = new StdioServerTransport(input);
  serveStdio(() => createMcpServer(offered, (...call) => client.perform(...call)), {
    transport,
    onerror: (error) => service.log(error.message),
  });
  const closed = new Promise<void>((resolve) => {
    const inner = transport.onclose;
    transport.onclose = () => {
      inner?.();
      resolve();
    };
  });
  const answered = watchAnswers(transport);
  process.stdin.pipe(input, { end: false });
  // Opened ahead, so that the first call need not wait; a store that is not there yet is tried again by each call.
  client.open().catch((error: unknown) => service.log(refusalOf(error).message));
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('error', () => resolve());
  });
  // Told to stop, whoever waits in line is answered at once; when only the input ends, within the time to drain.
  void service.stop.then(() => client.leave());
  await Promise.race([ended, service.stop, closed]);
  // The transport drops what is under way when its input ends; whoever pipes a script into us wants the answers.
  await answered(DRAIN_MS_MAX);
  await transport.close();
  process.stdin.unpipe(input);
  process.stdin.destroy();
  await client.close();
}

/** Counts requests in and answers out at the wire. */
function watchAnswers(transport: StdioServerTransport): (limit_ms: number) => Promise<void> {
  const open = new Set<unknown>();
  let idle = () => {};
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    if ('id' in message && 'method' in message) open.add(message.id);
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
      // What was piped in last is delivered on a later turn of the loop.
      setImmediate(() => {
        if (open.size === 0) idle();
      });
    });
}

/** One client, one identity, one connection; the store behind it may come later. */
class McpClient {
  readonly #service: McpService;
  readonly #underWay = new Set<Promise<JsonObject>>();
  readonly #leaving = new AbortController();
  #opening: Promise<Coxswain> | undefined;
  #opened = false;
  #connection: Connection | undefined;

  constructor(service: McpService) {
    this.#service = service;
  }

  open(): Promise<Coxswain> {
    this.#opening ??= open({ ...this.#service.place, sits: true }).then(
      (coxswain) => {
        this.#opened = true;
        return coxswain;
      },
      (error: unknown) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  async perform(
    operation: AnyOperation,
    input: unknown,
    clientName: string | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    try {
      const connection = await this.#connectionFor(operation, clientName);
      const wanted = operation.waits === undefined ? signal : AbortSignal.any([signal, this.#leaving.signal]);
      const answer = connection.perform(operation, input, { signal: wanted });
      this.#underWay.add(answer);
      return await answer.finally(() => this.#underWay.delete(answer));
    } catch (error) {
      return refusalOf(error);
    }
  }

  async #connectionFor(operation: AnyOperation, clientName: string | undefined): Promise<Connection> {
    // What this machine answers alone waits for no store. Who asked does not matter then: no row will say it.
    if (operation.machine === true && !this.#opened)
      return (await open({ ...this.#service.place, store: NO_STORE })).connect();
    this.#connection ??= this.#connect(await this.open(), clientName);
    return this.#connection;
  }

  #connect(coxswain: Coxswain, clientName: string | undefined): Connection {
    // Two first calls at once wait for the same store; the second finds the connection of the first.
    const name = clientName
      ?.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
      .trim()
      .slice(0, limits.agent_id_chars_max);
    // A client may call itself anything, but not what is reserved for others.
    const agent_type = name && reservedProblem('agent_type', name) === undefined ? name : 'mcp';
    return this.#connection ?? coxswain.connect({ agent_type, ...this.#service.identity });
  }

  /** Nobody waits any longer. */
  leave(): void {
    this.#leaving.abort();
  }

  async close(): Promise<void> {
    this.leave();
    const coxswain = await this.#opening?.catch(() => undefined);
    // Who was waiting for a lock gives up its place in line first.
    const late = new AbortController();
    const ended = Promise.allSettled(this.#underWay);
    await Promise.race([ended, coxswain?.clock.sleep(LEAVE_MS_MAX, late.signal).catch(() => {})]);
    late.abort();
    await coxswain?.close();
  }
}
