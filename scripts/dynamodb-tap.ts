// Stands between a client and DynamoDB and shows each request with its answer: what the product really asks, from outside it.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exchange } from './dynamodb-units.ts';

export interface Tap {
  readonly endpoint: string;
  close(): Promise<void>;
}

export async function tap(target: string, see: (exchange: Exchange) => void): Promise<Tap> {
  const server = createServer(async (request, response) => {
    try {
      const body = await textOf(request);
      const headers = { ...request.headers } as Record<string, string>;
      for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name];
      const answer = await fetch(target, { method: 'POST', headers, body });
      const text = await answer.text();
      const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
      see(exchangeOf(operation, body, answer.status, text));
      response.writeHead(answer.status, {
        'content-type': 'application/x-amz-json-1.0',
        date: dateOf(answer),
      });
      response.end(text);
    } catch {
      // The client learns it as it would without us.
      request.socket.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function exchangeOf(operation: string, asked: string, status: number, answered: string): Exchange {
  const input: unknown = JSON.parse(asked);
  const output: unknown = JSON.parse(answered);
  if (status < 400) return { operation, input, output };
  const type = String((output as { __type?: unknown }).__type);
  return { operation, input, output: {}, error: { ...(output as object), name: type.split('#').at(-1) } };
}

function dateOf(answer: Response): string {
  return answer.headers.get('date') ?? new Date().toUTCString();
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
}
