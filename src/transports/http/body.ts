import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
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

/**
 * A client that is still sending when the connection closes never sees the answer, so some more is read and
 * dropped.
 */
const DISCARDED_BYTES_MAX = 10_000_000;

export function bodyIn(bytes: Buffer | 'too_large' | 'gone'): Body {
  if (bytes === 'gone') return GONE;
  return bytes === 'too_large' ? TOO_LARGE : parseBody(bytes);
}

/** The bytes as they were sent: a signature covers exactly these. */
export function readBytes(request: IncomingMessage): Promise<Buffer | 'too_large' | 'gone'> {
  return new Promise((resolve) => {
    // The client may have gone while its key was looked up; then no more events are emitted.
    if (request.destroyed) resolve('gone');
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
      else if (bytes > DISCARDED_BYTES_MAX) resolve('too_large');
      else chunks.length = 0;
    });
    request.on('end', () => {
      if (bytes > BODY_BYTES_MAX) resolve('too_large');
      else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    // After `end` these change nothing: a promise resolves once.
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}

/** For answers that don't depend on the body: reads it without keeping it. */
export function dropBody(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    if (request.destroyed) resolve();
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > DISCARDED_BYTES_MAX) resolve();
    });
    for (const event of ['end', 'error', 'close']) request.on(event, () => resolve());
  });
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
