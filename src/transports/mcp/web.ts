import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '../../kernel/json.ts';
import { endAnswer } from '../http/body.ts';

/** The SDK uses `Request` and `Response`. The body is read separately, within our own limits. */
export function toWebRequest(request: IncomingMessage, gone: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  // Only the path matters; host and origin were checked before.
  const url = new URL(request.url ?? '/', 'http://localhost');
  return new Request(url, { method: request.method ?? 'GET', headers, signal: gone });
}

/** Aborted if the client disconnects before it has its answer. */
export function untilGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Sends all of it, as fast as the client reads. Also resolves if the client goes away. */
export async function sendWebResponse(response: ServerResponse, answer: Response): Promise<void> {
  if (response.destroyed) return await answer.body?.cancel();
  // Node and the server decide which connections stay open.
  answer.headers.delete('connection');
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) return await sendStream(response, answer);
  const text = answer.body === null ? '' : await answer.text();
  response.writeHead(answer.status, {
    ...Object.fromEntries(answer.headers),
    ...(answer.status === 204 ? {} : { 'content-length': String(Buffer.byteLength(text)) }),
  });
  endAnswer(response, text);
}

async function sendStream(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.flushHeaders();
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  response.once('close', () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) break;
    if (!response.write(value)) await drained(response);
  }
  response.end();
}

/** Unread output is buffered for the client; one that reads nothing for this long has to reconnect. */
const STALLED_MS_MAX = 60_000;

async function drained(response: ServerResponse): Promise<void> {
  const stalled = setTimeout(() => response.destroy(), STALLED_MS_MAX);
  await new Promise<void>((resolve) => {
    response.once('drain', resolve);
    response.once('close', resolve);
  });
  clearTimeout(stalled);
}

/** An error that belongs to no single request, in the protocol's form. */
export function rpcError(status: number, code: number, message: string, data?: Json): Response {
  const error = { code, message, ...(data === undefined ? {} : { data }) };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status });
}
