import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Refusal } from '../../../kernel/refusal.ts';
import { verdictOf } from '../../../runtime/answer.ts';
import { endAnswer } from '../../../transports/http/body.ts';
import type { Stranger } from './proxy-callers.ts';

const LINGER_MS = 2000;

/** What the proxy itself answers; everything else is the server's. */
export interface OwnAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

export function own(status: number, error: string, message: string, details: JsonObject = {}): OwnAnswer {
  return { status, body: { success: false, error, ...details, message } };
}

/** 503: the store could not be asked, and what can't be asked is not let through. */
export function blockedByPolicy(refusal: Refusal): OwnAnswer {
  const status = { store: 503, fault: 500 }[verdictOf(refusal) as string] ?? 403;
  return { status, body: refusal };
}

export function turnedAway({ status, error, message }: Stranger): OwnAnswer {
  return own(status, error, message);
}

export function unreachable(domain: string, port: number): OwnAnswer {
  const message = `${domain} may be reached, but nobody answers at port ${port} of it.`;
  return own(502, 'host_unreachable', message, { domain });
}

function headersFor({ status, body }: OwnAnswer): { headers: Record<string, string>; text: string } {
  const text = `${JSON.stringify(body)}\n`;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    connection: 'close',
    ...(status === 407 ? { 'proxy-authenticate': 'Basic realm="coxswain"' } : {}),
  };
  return { headers, text };
}

export function respond(response: ServerResponse, answer: OwnAnswer): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { headers, text } = headersFor(answer);
  response.writeHead(answer.status, headers);
  endAnswer(response, text);
}

/** The same on a connection that HTTP has let go of. */
export function respondRaw(socket: Duplex, answer: OwnAnswer): void {
  const { headers, text } = headersFor(answer);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // Whatever it still says is taken off the wire: closed over unread bytes, it would never see the answer.
  socket.resume();
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines.join('')}\r\n${text}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
