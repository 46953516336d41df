import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { HTTP_STATUS, verdictOf } from '../../runtime/answer.ts';
import type { Denial } from './authenticate.ts';
import { BODY_BYTES_MAX, dropBody, endAnswer } from './body.ts';
import type { Metrics } from './metrics-route.ts';
import type { Vigil } from './vigil.ts';

export interface Surroundings {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Aborted when the server stops: waiting calls are answered now. */
  readonly stopping: AbortSignal;
  readonly vigil: Vigil;
}

/** One request and its answer. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly surroundings: Surroundings;
  readonly path: string;
  readonly query: string;
  /** The route's own text, not the requested path: it labels a metric, and clients must not choose labels. */
  route = 'other';
  readonly #started_ms: number;

  constructor(request: IncomingMessage, response: ServerResponse, surroundings: Surroundings) {
    this.request = request;
    this.response = response;
    this.surroundings = surroundings;
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    this.path = query === -1 ? url : url.slice(0, query);
    this.query = query === -1 ? '' : url.slice(query + 1);
    this.#started_ms = surroundings.clock.elapsed_ms();
  }

  get headers() {
    return this.request.headers;
  }

  answer(answer: JsonObject): void {
    this.send(HTTP_STATUS[verdictOf(answer)], answer);
  }

  send(status: number, answer: JsonObject): void {
    this.sendText(status, 'application/json', JSON.stringify(answer));
  }

  sendText(status: number, type: string, text: string | Buffer, more?: Record<string, string>): void {
    if (this.surroundings.stopping.aborted) this.response.shouldKeepAlive = false;
    const headers = {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      // For all clients, not only browsers: answers are never cached, and their type is never guessed.
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    };
    this.response.writeHead(status, more === undefined ? headers : { ...headers, ...more });
    endAnswer(this.response, text);
    this.observe(status);
  }

  /** For what is not answered through here, such as a stream. */
  observe(status: number): void {
    const { clock, metrics } = this.surroundings;
    metrics.observe(this.request.method ?? '', this.route, status, clock.elapsed_ms() - this.#started_ms);
  }

  /** An answer that does not depend on the body. */
  async turnAway(status: number, error: string, message: string, details: JsonObject = {}): Promise<void> {
    await dropBody(this.request, this.response);
    this.send(status, { success: false, error, ...details, message });
  }

  async refuse(refusal: Refusal): Promise<void> {
    await dropBody(this.request, this.response);
    this.answer(refusal);
  }

  async deny({ status, error, message, retry_after_seconds }: Denial): Promise<void> {
    if (status === 401) this.response.setHeader('www-authenticate', 'Bearer realm="coxswain"');
    if (retry_after_seconds === undefined) await this.turnAway(status, error, message);
    else await this.busy(status, error, message, retry_after_seconds);
  }

  async busy(status: number, error: string, message: string, retry_after_seconds: number): Promise<void> {
    this.response.setHeader('retry-after', String(retry_after_seconds));
    await this.turnAway(status, error, message, { retry_after_seconds });
  }

  async wrongMethod(allowed: readonly string[]): Promise<void> {
    this.response.setHeader('allow', allowed.join(', '));
    await this.turnAway(405, 'method_not_allowed', `Use ${allowed[0]}.`);
  }

  tooLarge(): void {
    const message = `body: expected at most ${BODY_BYTES_MAX} bytes`;
    this.response.shouldKeepAlive = false;
    this.send(413, refuse('too_large', message, { field: 'body' }));
  }
}
