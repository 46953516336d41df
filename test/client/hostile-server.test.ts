import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { RESPONSE_BYTES_MAX } from '../../src/client/exchange.ts';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { quickTime } from './clock.ts';
import { pretend, type Server } from './support.ts';

const SECRET = 'a-secret-key';

async function ask({ url }: Server, timeout_ms = 5000): Promise<JsonObject> {
  const time = quickTime();
  await using client = await connect({ url, api_key: SECRET, agent_id: 'alice', timeout_ms, ...time });
  return (await client.heartbeat()) as JsonObject;
}

function assertUnavailable(answer: JsonObject, what: RegExp): void {
  assert.deepEqual([answer.success, answer.error], [false, 'database_unavailable']);
  assert.match(String(answer.message), what);
  assert.match(String(answer.operation_id), /^[0-9a-f-]{36}$/, 'one can ask again what came of it');
  assert.ok(!JSON.stringify(answer).includes(SECRET));
}

const MEGABYTE = Buffer.alloc(1_000_000, 'x');

const ANSWERS: Record<string, [answer: RequestListener, what: RegExp]> = {
  'a body that says it is huge': [
    (_request, response) => {
      response.writeHead(200, { 'content-length': String(RESPONSE_BYTES_MAX + 1) });
      response.write('{');
    },
    /more than an answer can be/,
  ],
  'a body that never ends': [
    (_request, response) => {
      const pour = () => {
        while (response.write(MEGABYTE)) if (response.destroyed) return;
      };
      response.on('drain', pour);
      pour();
    },
    /more than an answer can be/,
  ],
  'no JSON': [(_request, response) => response.end('<html>hello</html>'), /not as Coxswain does/],
  'JSON that is no object': [(_request, response) => response.end('[true]'), /not as Coxswain does/],
  'an object that is no answer': [
    (_request, response) => response.end('{"__proto__":{"success":true}}'),
    /not as Coxswain does/,
  ],
  'half an answer': [
    (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"success":true', () => response.socket?.destroy());
    },
    /broke off/,
  ],
  'another protocol': [
    (_request, response) => {
      response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' });
      response.end();
    },
    /broke off/,
  ],
};

for (const [name, [answer, what]] of Object.entries(ANSWERS))
  test(`client: a server that sends ${name}`, async () => {
    await using server = await pretend(answer);
    assertUnavailable(await ask(server), what);
  });

test('client: redirects are not followed, so the key goes nowhere else', async () => {
  let asked = 0;
  await using elsewhere = await pretend((_request, response) => {
    asked += 1;
    response.end('{"success":true}');
  });
  for (const status of [301, 302, 307, 308]) {
    await using server = await pretend((_request, response) => {
      response.writeHead(status, { location: `${elsewhere.url}/sessions/heartbeat` });
      response.end();
    });
    const answer = await ask(server);
    assert.deepEqual([answer.error, asked], ['database_unavailable', 0]);
    assert.match(String(answer.message), /redirects/);
  }
});

test('client: a server that says nothing, or one byte at a time, is given up', async () => {
  const drips = new Set<NodeJS.Timeout>();
  const answers: RequestListener[] = [
    () => {},
    (_request, response) => {
      response.writeHead(200);
      drips.add(setInterval(() => response.write(' '), 10));
    },
  ];
  for (const answer of answers) {
    await using server = await pretend(answer);
    assertUnavailable(await ask(server, 60), /took too long/);
  }
  for (const drip of drips) clearInterval(drip);
});

test('client: a call that waits has as much more time for its answer', async () => {
  await using server = await pretend((request, response) => {
    const late = setTimeout(() => response.end('{"success":true}'), 300);
    request.socket.on('close', () => clearTimeout(late));
  });
  await using client = await connect({ url: server.url, agent_id: 'alice', timeout_ms: 100, ...quickTime() });
  assert.equal((await client.getWork({ wait_seconds: 5 })).success, true);
  assert.equal((await client.getWork()).success, false);
});

test('client: bytes that are no HTTP, and headers without end', async () => {
  const talks: ((socket: Socket) => void)[] = [
    (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    (socket) => socket.write(`HTTP/1.1 200 OK\r\n${`x-${'y'.repeat(1000)}: z\r\n`.repeat(100)}`),
  ];
  for (const talk of talks) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => talk(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using there = { url, [Symbol.asyncDispose]: async () => void server.close() };
    assertUnavailable(await ask(there), /broke off \(HPE_/);
    for (const socket of sockets) socket.destroy();
  }
});
