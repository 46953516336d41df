import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../kernel/json.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import { invalid } from '../../runtime/answer.ts';
import { refuseDepth } from '../shared/raw-input.ts';

export const BODY_BYTES_MAX = 1_000_000;

export type Body =
  | { readonly kind: 'object'; readonly value: JsonObject }
  | { readonly kind: 'malformed'; readonly refusal: Refusal }
  | { readonly kind: 'too_large' }
  /** The client went away: there is no connection left to answer on. */
  | { readonly kind: 'gone' };

const TOO_LARGE: Body = { kind: 'too_large' };
const GONE: Body = { kind: 'gone' };

/** What a client sends after its answer is read and dropped within these bounds. */
const DISCARDED_BYTES_MAX = 10_000_000;
const LINGER_MS_MAX = 10_000;

export function bodyIn(bytes: Buffer | 'too_large' | 'gone'): Body {
  if (bytes === 'gone') return GONE;
  return bytes === 'too_large' ? TOO_LARGE : parseBody(bytes);
}

/** The header alone says that the body is over the limit: nothing of it has to be read for the answer. */
export function announcesTooMuch({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > BODY_BYTES_MAX;
}

/** The bytes as they were sent: a signature covers exactly these. */
export async function readBytes(request: IncomingMessage): Promise<Buffer | 'too_large' | 'gone'> {
  const chunks: Buffer[] = [];
  const end = await takeBody(request, (chunk) => chunks.push(chunk));
  if (end !== 'complete') return end;
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/**
 * For answers that don't depend on the body: reads it without keeping it, so that the connection can be used
 * again. A body over the limit is not waited for.
 */
export async function dropBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if ((await takeBody(request, () => {})) !== 'complete') response.shouldKeepAlive = false;
}

/** Ends as soon as it is clear that the body is over the limit. What comes after that is dropped. */
function takeBody(
  request: IncomingMessage,
  keep: (chunk: Buffer) => void,
): Promise<'complete' | 'too_large' | 'gone'> {
  return new Promise((resolve) => {
    if (request.readableEnded) return resolve('complete');
    // The client may have gone while its key was looked up; then no more events are emitted.
    if (request.destroyed) return resolve('gone');
    if (announcesTooMuch(request)) return resolve('too_large');
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) return keep(chunk);
      request.off('data', take);
      resolve('too_large');
    };
    request.on('data', take);
    request.on('end', () => resolve('complete'));
    // After `end` these change nothing: a promise resolves once.
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}

/**
 * Ends an answer whose headers are written. Where the connection closes before the request was read, our side
 * of it closes first and the rest is read for a while: a client that is still sending when all of it closes
 * is told of a broken connection, and never sees the answer.
 */
export function endAnswer(response: ServerResponse, text: string | Buffer): void {
  const { req: request, socket } = response;
  if (socket === null || request.complete || response.shouldKeepAlive) {
    response.end(text);
    return;
  }
  response.flushHeaders();
  response.write(text, () => socket.end());
  const destroy = () => socket.destroy();
  const timer = setTimeout(destroy, LINGER_MS_MAX).unref();
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX) destroy();
  });
  request.once('end', () => socket.destroySoon());
  request.once('error', () => {});
  response.once('close', () => clearTimeout(timer));
}

export function parseBody(bytes: Buffer): Body {
  if (bytes.length === 0) return { kind: 'object', value: {} };
  if (!isUtf8(bytes)) return malformed('UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return malformed('JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return malformed('a JSON object');
  const refusal = refuseDepth(value, bytes.length);
  if (refusal !== undefined) return { kind: 'malformed', refusal };
  return { kind: 'object', value: value as JsonObject };
}

function malformed(expected: string): Body {
  return { kind: 'malformed', refusal: invalid('body', expected) };
}
