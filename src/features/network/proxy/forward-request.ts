import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { readAttempt } from '../settings/network-target.ts';
import type { Admitted } from './gate.ts';
import { endToEnd, type HeaderPair, headerPairs, valuesOf } from './headers.ts';
import { type OwnAnswer, own, respond } from './proxy-answers.ts';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const VIA = '1.1 coxswain';

export interface Forwarded {
  readonly authority: string;
  readonly path: string;
  /** The header Host, where it names another host. Which of the two a server goes by is not for the proxy to guess. */
  readonly other?: string | undefined;
}

/** What a request in absolute form asks for, or what is wrong with it. */
export function readRequest({ method = '', url = '', rawHeaders }: IncomingMessage): Forwarded | OwnAnswer {
  if (!METHODS.includes(method)) return own(405, 'method_not_allowed', `Use one of ${METHODS.join(', ')}.`);
  const [, authority, path = ''] = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i.exec(url) ?? [];
  if (authority === undefined)
    return own(400, 'bad_request', 'This is a proxy: send http://host/… or CONNECT host:443.');
  const pairs = headerPairs(rawHeaders);
  const hosts = valuesOf(pairs, 'host');
  if (hosts.length > 1) return own(400, 'bad_request', 'There are two headers Host.');
  const encodings = valuesOf(pairs, 'transfer-encoding');
  if (encodings.length > 1 || encodings.some((value) => value.toLowerCase() !== 'chunked'))
    return own(501, 'not_implemented', 'Only chunked bodies are passed on.');
  const other = hosts.find((host) => !isSamePlace(host, authority));
  return { authority, path: path.startsWith('/') ? path : `/${path}`, other };
}

/** What can't be read at all is judged as it stands, and blocked. */
function isSamePlace(host: string, authority: string): boolean {
  const [said, meant] = [host, authority].map((text) => readAttempt(text, 80).target);
  return meant === undefined || (said?.host === meant.host && said.port === meant.port);
}

function outgoingHeaders(request: IncomingMessage, { host, port }: Admitted): HeaderPair[] {
  const pairs = headerPairs(request.rawHeaders);
  const name = host.includes(':') ? `[${host}]` : host;
  const kept = endToEnd(pairs).filter(([each]) => !['host', 'expect', 'via'].includes(each.toLowerCase()));
  const via = [...valuesOf(pairs, 'via'), VIA].join(', ');
  return [
    ['Host', port === 80 ? name : `${name}:${port}`],
    ...kept,
    ['Via', via],
    // Said outright: for a GET with a body Node would send it without any framing, as if another request followed.
    ...(request.headers['transfer-encoding'] === undefined
      ? []
      : [['Transfer-Encoding', 'chunked'] as const]),
    // One request for each connection: no answer can belong to another request than the one it follows.
    ['Connection', 'close'],
  ];
}

/** Resolves when both sides are done with each other. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Socket,
  admitted: Admitted,
  path: string,
): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const outgoing = openRequest({
    createConnection: () => upstream,
    method: request.method,
    path,
    headers: outgoingHeaders(request, admitted).flat(),
    setHost: false,
  });
  const failed = (status: 502 | 504, message: string) => {
    if (!response.destroyed)
      respond(response, own(status, 'bad_gateway', message, { domain: admitted.host }));
    outgoing.destroy();
  };
  response.once('close', () => {
    outgoing.destroy();
    upstream.destroy();
    resolve();
  });
  upstream.once('timeout', () => failed(504, 'The server has said nothing for too long.'));
  outgoing.on('error', () => failed(502, 'The server closed the connection without an answer.'));
  outgoing.once('upgrade', () => failed(502, 'The server wants another protocol, which nobody asked for.'));
  outgoing.once('response', (incoming) => {
    const pairs = endToEnd(headerPairs(incoming.rawHeaders));
    try {
      response.writeHead(incoming.statusCode ?? 0, [...pairs, ['Via', VIA] as const].flat());
    } catch {
      // Node reads more than it is willing to write.
      failed(502, 'The answer of the server has a head that nobody could read.');
      return;
    }
    incoming.once('error', () => response.destroy());
    incoming.once('aborted', () => response.destroy());
    incoming.pipe(response);
  });
  request.once('error', () => outgoing.destroy());
  request.pipe(outgoing);
  await done;
}
