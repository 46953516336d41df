import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { HttpAnswer, ToolCall, Wire } from './wires/wire.ts';

/** A turn of the client that waits for the model: the test reads it and says what the model does. */
export interface Asked {
  /** All that the client sent: system prompt, what hooks added, tool results. */
  readonly text: string;
  readonly results: readonly string[];
  answer(call?: ToolCall): void;
}

/** Stands in for a model's HTTP API on a free port of this machine. The test itself is the model. */
export interface Model extends AsyncDisposable {
  readonly url: string;
  /** The client's next turn. */
  asked(): Promise<Asked>;
}

export async function startModel(wire: Wire): Promise<Model> {
  const waiting: Asked[] = [];
  const readers: ((asked: Asked) => void)[] = [];
  let turns = 0;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const url = request.url ?? '';
    if (request.method !== 'POST' || !wire.isTurn(url, body)) return send(response, wire.aside(url, body));
    turns += 1;
    const nth = turns;
    const asked: Asked = {
      text: JSON.stringify(body),
      results: wire.results(body),
      answer: (call) => send(response, wire.answer(call, nth, body)),
    };
    const reader = readers.shift();
    if (reader === undefined) waiting.push(asked);
    else reader(asked);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async asked() {
      return waiting.shift() ?? new Promise((resolve) => readers.push(resolve));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(response: ServerResponse, { type, text }: HttpAnswer): void {
  response.writeHead(200, { 'content-type': type }).end(text);
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  const raw = Buffer.concat(await request.toArray());
  const encoding = request.headers['content-encoding'];
  const plain = encoding === 'gzip' ? gunzipSync(raw) : encoding === 'zstd' ? zstdDecompressSync(raw) : raw;
  try {
    return JSON.parse(plain.toString()) as JsonObject;
  } catch {
    return {};
  }
}
