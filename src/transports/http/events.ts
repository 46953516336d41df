import type { ServerResponse } from 'node:http';
import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';
import type { LogFeed, Rows } from '../../runtime/log-feed.ts';
import type { Principal } from './authenticate.ts';
import { eventText, type View } from './event-text.ts';
import type { Exchange } from './http-exchange.ts';

export interface StreamLimits {
  readonly listeners_max: number;
  /**
   * What a client has not read yet. Above this limit it is disconnected, and resumes where it was when it
   * reconnects.
   */
  readonly unsent_bytes_max: number;
  readonly heartbeat_ms: number;
}

const LIMITS: StreamLimits = { listeners_max: 500, unsent_bytes_max: 1_000_000, heartbeat_ms: 15_000 };
const RETRY_AFTER_SECONDS = 30;

/** `GET /events`: the log as it grows, to any number of listeners for about the cost of one. */
export class EventStreams {
  readonly #feed: LogFeed;
  readonly #limits: StreamLimits;
  readonly #streams = new Set<ServerResponse>();
  /** All listeners get the same rows, and most want the same text for them. */
  readonly #texts = new WeakMap<Rows, Map<string, Buffer>>();
  #heart: NodeJS.Timeout | undefined;

  constructor(feed: LogFeed, limits: Partial<StreamLimits> = {}) {
    this.#feed = feed;
    this.#limits = { ...LIMITS, ...limits };
  }

  get size(): number {
    return this.#streams.size;
  }

  async open(exchange: Exchange, principal: Principal): Promise<void> {
    const wanted = readWish(exchange, principal);
    if ('success' in wanted) return await exchange.refuse(wanted as Refusal);
    if (this.#streams.size >= this.#limits.listeners_max)
      return await exchange.busy(
        503,
        'too_many_listeners',
        'As many listen already as may.',
        RETRY_AFTER_SECONDS,
      );
    const { view, after } = wanted;
    const { request, response, surroundings } = exchange;
    this.#streams.add(response);
    surroundings.vigil.watch(request, response);
    this.#heart ??= setInterval(() => this.#beat(), this.#limits.heartbeat_ms).unref();
    let leave: (() => void) | undefined;
    response.once('close', () => {
      this.#streams.delete(response);
      leave?.();
    });
    try {
      // The headers go out with the first page, so that an unreachable store can still be answered with an
      // error.
      const joined = await this.#feed.listen(
        after,
        (rows) => this.#catchUp(exchange, rows, view),
        (rows) => {
          begin(exchange);
          this.#write(response, this.#textOf(rows, view));
        },
      );
      if (joined === 'ahead') {
        this.#streams.delete(response);
        return await exchange.refuse(invalid('after', 'a position that the log has reached'));
      }
      leave = joined;
      if (response.closed || response.destroyed) leave?.();
      else begin(exchange);
    } catch (error) {
      this.#streams.delete(response);
      if (!response.headersSent) throw error;
      response.destroy();
    }
  }

  stop(): void {
    clearInterval(this.#heart);
    for (const response of this.#streams) response.end();
  }

  /** False: the client went away, or read nothing for so long that it is treated as gone. */
  async #catchUp(exchange: Exchange, rows: Rows, view: View): Promise<boolean> {
    const { response } = exchange;
    begin(exchange);
    const text = eventText(rows, view);
    if (response.destroyed) return false;
    if (text === '' || response.write(text)) return true;
    return await new Promise((resolve) => {
      const late = setTimeout(() => {
        response.destroy();
        resolve(false);
      }, 2 * this.#limits.heartbeat_ms).unref();
      const settle = () => {
        clearTimeout(late);
        response.off('drain', settle).off('close', settle);
        resolve(!response.destroyed);
      };
      response.on('drain', settle).on('close', settle);
    });
  }

  #textOf(rows: Rows, view: View): Buffer {
    let texts = this.#texts.get(rows);
    if (texts === undefined) {
      texts = new Map();
      this.#texts.set(rows, texts);
    }
    let text = texts.get(view.key);
    if (text === undefined) {
      text = Buffer.from(eventText(rows, view));
      texts.set(view.key, text);
    }
    return text;
  }

  #write(response: ServerResponse, text: Buffer | string): void {
    if (text.length === 0 || response.destroyed) return;
    // Checked before writing: what counts is what the client could not read since the last time, not the size
    // of this piece, which all listeners share.
    if (response.writableLength > this.#limits.unsent_bytes_max) response.destroy();
    else response.write(text);
  }

  #beat(): void {
    for (const response of this.#streams) if (response.headersSent) this.#write(response, ': alive\n\n');
  }
}

function begin(exchange: Exchange): void {
  const { response } = exchange;
  if (response.headersSent) return;
  // When the stream ends, so does the connection: nothing else follows on it.
  response.shouldKeepAlive = false;
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 2000\n\n');
  exchange.observe(200);
}

const NAMES_MAX = 20;

/**
 * Which rows, and from where: `?kinds=lock,task&types=lock_acquired&after=12`, or Last-Event-ID after
 * reconnecting.
 */
function readWish(
  { query, headers }: Exchange,
  { authority }: Principal,
): { view: View; after: number | undefined } | Refusal {
  const asked = new URLSearchParams(query);
  for (const name of asked.keys())
    if (!['kinds', 'types', 'after'].includes(name))
      return invalid(name.slice(0, 100).replaceAll(/\P{L}/gu, '?'), 'only kinds, types and after');
  const sets: (ReadonlySet<string> | undefined)[] = [];
  for (const field of ['kinds', 'types']) {
    const names = asked.getAll(field).flatMap((text) => text.split(','));
    if (names.length > NAMES_MAX || !names.every((name) => /^[a-z_]{1,64}$/.test(name)))
      return invalid(field, `at most ${NAMES_MAX} names such as lock,task`);
    sets.push(names.length === 0 ? undefined : new Set(names));
  }
  const from = headers['last-event-id'] ?? asked.get('after') ?? undefined;
  if (from !== undefined && !/^\d{1,15}$/.test(String(from)))
    return invalid('after', 'a position of the log');
  const everything = authority === 'person';
  const [kinds, types] = sets;
  const list = (set?: ReadonlySet<string>) => [...(set ?? ['*'])].sort().join();
  const key = `${everything} ${list(kinds)} ${list(types)}`;
  return { view: { key, everything, kinds, types }, after: from === undefined ? undefined : Number(from) };
}
