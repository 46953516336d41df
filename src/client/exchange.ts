import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';

export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly text: string;
  readonly retry_after: string | undefined;
}

export interface Failure {
  readonly kind: 'failure';
  readonly what: string;
  /** The server may have received the request. */
  readonly sent: boolean;
  /** A retry may succeed. */
  readonly passing: boolean;
}

/** This side gave up. */
export type ExchangeOutcome = Reply | Failure | { readonly kind: 'aborted'; readonly sent: boolean };

/** `node:http` or `node:https`: fetch takes three times as long for a small request. */
export interface Protocol {
  request(options: RequestOptions): ClientRequest;
}

export interface Bounds {
  /** What is left for the whole call, including the wait for a free connection … */
  left_ms(): number;
  /** … and how long the answer may take, once there is a connection. */
  readonly answer_ms: number;
  readonly signal: AbortSignal | undefined;
  /** The client is being closed. */
  readonly closing: AbortSignal;
}

/** The largest real answer is a batch of 50 tasks with their payloads. */
export const RESPONSE_BYTES_MAX = 16_000_000;

const PASSING = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]);

/** One request and its outcome. Never rejects: network failures are expected outcomes. */
export function exchange(
  { request }: Protocol,
  options: RequestOptions & { agent: Agent },
  body: string,
  bounds: Bounds,
): Promise<ExchangeOutcome> {
  return new Promise((resolve) => {
    const { signal, closing } = bounds;
    let sent = false;
    let over = false;
    const giveUp = () => end({ kind: 'aborted', sent });
    if (signal?.aborted || closing.aborted) return resolve({ kind: 'aborted', sent });
    const tooSlow = () => end({ kind: 'failure', what: 'took too long to answer', sent, passing: true });
    let timer = setTimeout(tooSlow, bounds.left_ms());
    const outgoing = request({ ...options, method: 'POST' });
    const end = (outcome: ExchangeOutcome) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      closing.removeEventListener('abort', giveUp);
      resolve(outcome);
      if (outcome.kind !== 'reply') outgoing.destroy();
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    closing.addEventListener('abort', giveUp, { once: true });
    outgoing.on('socket', (socket) => {
      if (over) return;
      clearTimeout(timer);
      timer = setTimeout(tooSlow, Math.min(bounds.left_ms(), bounds.answer_ms));
      if (!socket.connecting) sent = true;
      else
        socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
          sent = true;
        });
    });
    outgoing.on('response', (response) => readResponse(response, end));
    outgoing.on('error', (error) => end(failureOf(error, sent)));
    // Any other end of the request, such as an unrequested protocol upgrade.
    outgoing.on('close', () => end(failureOf({ code: 'ECONNRESET' }, sent)));
    outgoing.end(body);
  });
}

function readResponse(response: IncomingMessage, end: (outcome: ExchangeOutcome) => void): void {
  const tooLarge = () =>
    end({ kind: 'failure', what: 'answered with more than an answer can be', sent: true, passing: false });
  if (Number(response.headers['content-length']) > RESPONSE_BYTES_MAX) {
    tooLarge();
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES_MAX) tooLarge();
    else chunks.push(chunk);
  });
  response.on('end', () => {
    const { statusCode: status = 0, headers } = response;
    const text = Buffer.concat(chunks).toString('utf8');
    end({ kind: 'reply', status, text, retry_after: headers['retry-after'] });
  });
  response.on('error', (error) => end(failureOf(error, true)));
}

function failureOf({ code = 'unknown' }: NodeJS.ErrnoException | { code: string }, sent: boolean): Failure {
  const what = sent ? `broke off (${code})` : `could not be reached (${code})`;
  return { kind: 'failure', what, sent, passing: PASSING.has(code) };
}
