import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lendAwsCredentials } from '../support/aws.ts';

lendAwsCredentials();

export interface Served {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** One request as the stand-in sees it. */
export interface Asked {
  readonly operation: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

/** Answers in AWS's place with what AWS documents and DynamoDB Local never says. Undefined: hangs up. */
export async function standIn(answer: (asked: Asked) => Answer | undefined | 'silence'): Promise<Served> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const said = answer({ operation, headers: request.headers, body: JSON.parse(text) });
    if (said === 'silence') return;
    if (said === undefined) return void request.socket.destroy();
    response.writeHead(said.status, { 'content-type': 'application/x-amz-json-1.0', ...said.headers });
    response.end(said.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An error as DynamoDB sends it. */
export function awsError(type: string, message: string, extra: object = {}, status = 400): Answer {
  return { status, body: JSON.stringify({ __type: type, message, ...extra }) };
}
