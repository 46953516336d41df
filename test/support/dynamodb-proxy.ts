// Between a client and DynamoDB Local: sees every request, and does to some of them what the real service does.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../src/kernel/json.ts';
import { Seeded } from '../simulation/random.ts';
import {
  type Answer,
  type Fault,
  fits,
  lagging,
  refusalFor,
  splitBatch,
  weakTables,
  withUnprocessed,
} from './dynamodb-faults.ts';

export interface SeenRequest {
  /** `TransactWriteItems`. */
  readonly operation: string;
  readonly body: JsonObject;
  /** What was done to it. */
  readonly faults: readonly Fault['is'][];
}

export type Rule = (operation: string, body: JsonObject) => Fault | undefined;

export interface HowOften {
  /** So many faults, then never again. */
  readonly times?: number;
  /** Of the requests for which the rule has a fault: always unless said. */
  readonly probability?: number;
  readonly seed?: number;
}

export interface DynamoProxy {
  readonly endpoint: string;
  readonly requests: SeenRequest[];
  /** How many requests of each operation there were. */
  counts(): Record<string, number>;
  /** From now on; answers a function that takes it back. Several rules may meet in one request: the first refusal, and
   *  whatever lateness, clock and staleness there is beside it. */
  inject(rule: Rule, howOften?: HowOften): () => void;
  close(): Promise<void>;
}

/** `target`: the server's endpoint. */
export async function startProxy(target: string): Promise<DynamoProxy> {
  const proxy = new InjectingProxy(target);
  await proxy.listen();
  return proxy;
}

/** What reached us of the server: its answer, and its time. */
interface Reply extends Answer {
  readonly date_ms: number;
}

class InjectingProxy implements DynamoProxy {
  readonly requests: SeenRequest[] = [];
  readonly #target: string;
  readonly #rules = new Set<Rule>();
  readonly #remembered = new Map<string, JsonObject>();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #closing = new AbortController();
  readonly #server = createServer((incoming, outgoing) => {
    // Whatever goes wrong between us and the server is a broken line to the client.
    this.#handle(incoming, outgoing).catch(() => incoming.socket.destroy());
  });

  constructor(target: string) {
    this.#target = target;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { operation } of this.requests) counts[operation] = (counts[operation] ?? 0) + 1;
    return counts;
  }

  inject(rule: Rule, { times = Number.POSITIVE_INFINITY, probability = 1, seed = 1 }: HowOften = {}) {
    const random = new Seeded(seed);
    let left = times;
    const limited: Rule = (operation, body) => {
      if (left <= 0) return undefined;
      const fault = rule(operation, body);
      if (fault === undefined || !fits(fault, operation, body) || !random.chance(probability))
        return undefined;
      left -= 1;
      return fault;
    };
    this.#rules.add(limited);
    return () => void this.#rules.delete(limited);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await closed;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const operation = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = JSON.parse(await textOf(incoming)) as JsonObject;
    const faults = [...this.#rules]
      .map((rule) => rule(operation, body))
      .filter((fault) => fault !== undefined);
    this.requests.push({ operation, body, faults: faults.map(({ is }) => is) });

    await this.#late(faults, 'request');
    const reply = await this.#replyTo(incoming, operation, body, faults);
    await this.#late(faults, 'answer');
    if (reply === 'reset') incoming.socket.resetAndDestroy();
    else send(outgoing, reply, clockOff_s(faults));
  }

  async #replyTo(
    incoming: IncomingMessage,
    operation: string,
    body: JsonObject,
    faults: readonly Fault[],
  ): Promise<Reply | 'reset'> {
    const broken = faults.find((fault) => fault.is === 'reset' || refusalFor(fault, body) !== undefined);
    const applied = broken === undefined || ('applied' in broken && broken.applied === true);
    const reply = applied
      ? await this.#answered(incoming, operation, body, faults)
      : { ...NOTHING, date_ms: Date.now() };
    if (broken === undefined) return reply;
    const refusal = refusalFor(broken, body);
    return refusal === undefined ? 'reset' : { ...refusal, date_ms: reply.date_ms };
  }

  /** The server's answer, as far as the faults let it through. */
  async #answered(
    incoming: IncomingMessage,
    operation: string,
    body: JsonObject,
    faults: readonly Fault[],
  ): Promise<Reply> {
    const partly = faults.find((fault) => fault.is === 'unprocessed');
    if (partly !== undefined) {
      const { now, left } = splitBatch(body, partly.processed);
      // That is what DynamoDB says when not a single entry could be worked on.
      const none = refusalFor({ is: 'throttled', as: 'ProvisionedThroughputExceededException' }, body);
      if (now === undefined) return { ...(none ?? NOTHING), date_ms: Date.now() };
      const reply = await this.#forward(incoming, now);
      return reply.status === 200 ? { ...reply, body: withUnprocessed(operation, reply.body, left) } : reply;
    }
    const reply = await this.#forward(incoming, body);
    const stale = faults.some(({ is }) => is === 'stale') && reply.status === 200;
    return stale ? { ...reply, body: this.#earlier(operation, body, reply.body) } : reply;
  }

  #earlier(operation: string, body: JsonObject, now: JsonObject): JsonObject {
    const question = `${operation} ${JSON.stringify(body)}`;
    const earlier = this.#remembered.get(question);
    this.#remembered.set(question, now);
    return lagging(operation, weakTables(operation, body), now, earlier);
  }

  async #forward(incoming: IncomingMessage, body: JsonObject): Promise<Reply> {
    const text = Buffer.from(JSON.stringify(body));
    const { host: _, connection: __, ...headers } = incoming.headers;
    const forwarded = request(this.#target, {
      method: 'POST',
      agent: this.#agent,
      headers: { ...headers, 'content-length': text.length, 'accept-encoding': 'identity' },
    });
    // Heard again below while the answer is awaited or read; between the two nothing else listens.
    forwarded.on('error', () => {});
    forwarded.end(text);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    return {
      status: answer.statusCode ?? 500,
      body: JSON.parse(await textOf(answer)) as JsonObject,
      date_ms: Date.parse(answer.headers.date ?? ''),
    };
  }

  async #late(faults: readonly Fault[], what: 'request' | 'answer'): Promise<void> {
    for (const fault of faults)
      if (fault.is === 'late' && fault.what === what)
        await sleep(fault.by_ms, undefined, { signal: this.#closing.signal });
  }
}

const NOTHING: Answer = { status: 200, body: {} };

function clockOff_s(faults: readonly Fault[]): number {
  return faults.reduce((sum_s, fault) => sum_s + (fault.is === 'clock' ? fault.by_s : 0), 0);
}

function send(outgoing: ServerResponse, { status, body, date_ms }: Reply, off_s: number): void {
  const text = Buffer.from(JSON.stringify(body));
  outgoing.writeHead(status, {
    'content-type': 'application/x-amz-json-1.0',
    'content-length': text.length,
    'x-amz-crc32': crc32(text),
    date: new Date(date_ms + off_s * 1000).toUTCString(),
  });
  outgoing.end(text);
}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
