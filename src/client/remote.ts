import type { Agent, OutgoingHttpHeaders } from 'node:http';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createIds, type Ids, type Random, systemRandom } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { Actor } from '../ledger/log.ts';
import { type CallOptions, type Client, createClient } from './client.ts';
import type { RemoteTarget } from './client-options.ts';
import { exchange, type Protocol } from './exchange.ts';
import { judge } from './judge-answer.ts';
import { aborted, unknownOperation } from './refusals.ts';
import { tokenActor } from './token.ts';
import { type Wire, type WireTable, wire } from './wire.ts';

const TIMEOUT_MS_DEFAULT = 10_000;
const RETRIES_MAX = 4;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 2000;
/**
 * A connection that lasted this long was a good one: a proxy that cuts long waits must not use up the
 * retries.
 */
const LIVED_MS = 5000;
const CONNECTIONS_MAX = 32;
/** A waiting call keeps a connection for minutes, and must not take one away from other calls. */
const WAITING_CONNECTIONS_MAX = 256;

/**
 * A client of a server. Knows no store and no domain: only where to send a call, and what may be repeated.
 */
export async function connectRemote(target: RemoteTarget, table: WireTable = wire): Promise<Client> {
  const { Agent, request } =
    target.url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const pool = (maxSockets: number) => new Agent({ keepAlive: true, maxSockets, scheduling: 'lifo' });
  const pools = { quick: pool(CONNECTIONS_MAX), waiting: pool(WAITING_CONNECTIONS_MAX) };
  const remote = new Remote(target, { request }, pools);
  return createClient(Object.keys(table), {
    actor: remote.actor,
    async call(name, input, options) {
      const entry = Object.hasOwn(table, name) ? table[name] : undefined;
      return entry === undefined ? unknownOperation(name) : await remote.call(entry, input, options);
    },
    close: async () => remote.close(),
  });
}

interface Question {
  readonly path: string;
  readonly body: string;
  readonly repeats: Wire['repeats'];
  /** Undefined for a call that changes nothing, where a lost answer leaves no doubt. */
  readonly doubt: { readonly operation_id: string | undefined } | undefined;
  readonly wait_ms: number;
  readonly signal: AbortSignal | undefined;
}

class Remote {
  readonly actor: Partial<Actor>;
  readonly #protocol: Protocol;
  readonly #pools: { readonly quick: Agent; readonly waiting: Agent };
  readonly #address: { readonly host: string; readonly port: string; readonly base: string };
  readonly #shown: string;
  readonly #headers: OutgoingHttpHeaders;
  readonly #timeout_ms: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: Ids;
  readonly #closing = new AbortController();

  constructor(target: RemoteTarget, protocol: Protocol, pools: { quick: Agent; waiting: Agent }) {
    const { url, credential, identity } = target;
    this.#protocol = protocol;
    this.#pools = pools;
    this.#clock = target.clock ?? systemClock;
    this.#random = target.random ?? systemRandom;
    this.#ids = createIds(this.#clock, this.#random);
    this.#timeout_ms = target.timeout_ms ?? TIMEOUT_MS_DEFAULT;
    const base = url.pathname.replace(/\/+$/, '');
    this.#address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, base };
    this.#shown = `${url.origin}${base}`;
    // A token belongs to one session. With a key each client is a session of its own, unless it is told which
    // one.
    const session = credential?.header === 'authorization' ? {} : { session_id: this.#ids.uuid() };
    const said: Partial<Actor> = { ...session, ...identity };
    this.actor = { ...tokenActor(credential?.value), ...said };
    this.#headers = {
      'content-type': 'application/json',
      ...(credential === undefined ? {} : { [credential.header]: credential.value }),
      ...(said.agent_id === undefined ? {} : { 'x-agent-id': said.agent_id }),
      ...(said.agent_type === undefined ? {} : { 'x-agent-type': said.agent_type }),
      ...(said.session_id === undefined ? {} : { 'x-session-id': said.session_id }),
    };
  }

  async call(entry: Wire, input: JsonObject = {}, options: CallOptions = {}): Promise<JsonObject> {
    const question = this.#question(entry, input ?? {}, options);
    return 'success' in question ? question : await this.#ask(question);
  }

  /** Cancels all calls under way. */
  close(): void {
    this.#closing.abort();
    this.#pools.quick.destroy();
    this.#pools.waiting.destroy();
  }

  #question(entry: Wire, input: JsonObject, options: CallOptions): Question | Refusal {
    const { path, repeats, waits } = entry;
    // The same id in every try: the server does it once, however often the request arrives.
    const given = input.operation_id ?? options.operation_id;
    const named = repeats === 'by_id' ? { ...input, operation_id: given ?? this.#ids.uuid() } : input;
    const operation_id = repeats === 'by_id' ? String(named.operation_id) : undefined;
    const wait_seconds = waits === undefined ? 0 : Number(input[waits] ?? 0);
    const wait_ms = Math.min(Math.max(0, wait_seconds || 0), limits.wait_seconds_max) * 1000;
    try {
      return {
        path: `${this.#address.base}${path}`,
        body: JSON.stringify(named),
        repeats,
        doubt: repeats === 'freely' ? undefined : { operation_id },
        wait_ms,
        signal: options.signal,
      };
    } catch {
      const expected = 'plain JSON';
      return refuse('invalid_input', `input: expected ${expected}`, { field: 'input', expected });
    }
  }

  async #ask(question: Question): Promise<JsonObject> {
    const { wait_ms, repeats, doubt } = question;
    const until_ms = this.#clock.elapsed_ms() + wait_ms + 2 * this.#timeout_ms;
    let sent = false;
    for (let tries = 0; ; tries += 1) {
      const begun_ms = this.#clock.elapsed_ms();
      const outcome = await this.#exchange(question, until_ms);
      sent ||= outcome.kind === 'reply' || outcome.sent;
      // If an earlier try may have arrived, this one can't settle that by failing to get through.
      const { answer, again } = judge(
        outcome.kind === 'reply' ? outcome : { ...outcome, sent },
        this.#shown,
        doubt,
      );
      if (again === undefined || (repeats === 'never' && sent)) return answer;
      const now_ms = this.#clock.elapsed_ms();
      if (now_ms - begun_ms > LIVED_MS) tries = 0;
      const pause_ms = Math.max(again.after_ms, this.#jittered_ms(tries));
      if (tries >= RETRIES_MAX || now_ms + pause_ms >= until_ms) return answer;
      if (!(await this.#pause(pause_ms, question.signal))) return aborted(sent ? doubt : undefined);
    }
  }

  #exchange({ path, body, wait_ms, signal }: Question, until_ms: number) {
    const { host, port } = this.#address;
    const agent = wait_ms > 0 ? this.#pools.waiting : this.#pools.quick;
    const headers = { ...this.#headers, 'content-length': Buffer.byteLength(body) };
    const bounds = {
      left_ms: () => Math.max(1, until_ms - this.#clock.elapsed_ms()),
      answer_ms: this.#timeout_ms + wait_ms,
      signal,
      closing: this.#closing.signal,
    };
    return exchange(this.#protocol, { agent, host, port, path, headers }, body, bounds);
  }

  /** Clients that lost the server at the same moment must not come back at the same moment. */
  #jittered_ms(tries: number): number {
    return Math.min(PAUSE_MS * 2 ** tries, PAUSE_MS_MAX) * (0.5 + this.#random.fraction() / 2);
  }

  /** False: cancelled meanwhile. */
  async #pause(pause_ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const closing = this.#closing.signal;
    try {
      await this.#clock.sleep(pause_ms, signal === undefined ? closing : AbortSignal.any([closing, signal]));
      return true;
    } catch {
      return false;
    }
  }
}
