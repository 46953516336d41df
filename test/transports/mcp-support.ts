import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { Principal } from '../../src/transports/mcp/mcp-callers.ts';
import { createMcpEndpoint, type McpEndpointOptions } from '../../src/transports/mcp/mcp-http.ts';
import type { Scratch } from './support.ts';

export const REVISIONS = { modern: { pin: '2026-07-28' }, legacy: 'legacy' } as const;
export type Revision = keyof typeof REVISIONS;

/** Stands in for the HTTP door: a key is taken as it comes, and what the headers say is believed. */
function principalOf({ headers }: IncomingMessage): Principal {
  const text = (name: string) => headers[name] as string | undefined;
  return {
    actor: {
      ...(text('x-agent-id') === undefined ? {} : { agent_id: text('x-agent-id') }),
      ...(text('x-session-id') === undefined ? {} : { session_id: text('x-session-id') }),
    },
    authority: 'agent',
    credential: text('x-api-key') ?? 'some key',
  };
}

export interface McpClient extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  call(name: string, input?: JsonObject): Promise<{ answer: JsonObject; isError: boolean }>;
}

export interface ClientOptions {
  readonly revision?: Revision;
  readonly headers?: Record<string, string>;
  readonly name?: string;
  readonly query?: string;
}

export interface HttpEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly coxswain: Coxswain;
  connect(options?: ClientOptions): Promise<McpClient>;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
}

/** The endpoint as `cox serve` mounts it, in this process. */
export async function startEndpoint(
  place: Scratch,
  options: Partial<McpEndpointOptions> & { store?: string } = {},
): Promise<HttpEndpoint> {
  const coxswain = await open({ store: options.store ?? place.store, cwd: place.folder });
  const endpoint = createMcpEndpoint({ coxswain, ...options });
  const server = createServer((request, response) => {
    void endpoint.handle(request, response, principalOf(request));
  });
  // As the HTTP door has it: a connection must not be closed just when a busy client uses it again.
  server.keepAliveTimeout = 65_000;
  // As the door has it: a crowd may come at once.
  server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return {
    url,
    coxswain,
    connect: (clientOptions) => connectClient(url, clientOptions),
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    stop: () => endpoint.stop(),
    async [Symbol.asyncDispose]() {
      await endpoint.stop();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await coxswain.close();
    },
  };
}

export const BOTH = 'application/json, text/event-stream';

export async function connectClient(url: string, options: ClientOptions = {}): Promise<McpClient> {
  const { revision = 'modern', headers = {}, name = 'door-test', query = '' } = options;
  const transport = new StreamableHTTPClientTransport(new URL(`${url}${query}`), {
    requestInit: { headers },
  });
  const mode = REVISIONS[revision];
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return {
    client,
    transport,
    async call(tool, input = {}) {
      const result = await client.callTool({ name: tool, arguments: input });
      return { answer: result.structuredContent as JsonObject, isError: result.isError === true };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The first message of an answer, whether it came alone or as a stream. */
export async function messageOf(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const data = /^data: (\{.*\})$/m.exec(text)?.[1];
  return JSON.parse(data ?? text) as JsonObject;
}

export function initialize(protocolVersion = '2025-06-18') {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'by hand', version: '1' } };
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params };
}
