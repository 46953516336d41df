import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { bodyIn, dropBody, readBytes } from '../../src/transports/http/body.ts';
import { typeOf } from '../../src/transports/mcp/mcp-callers.ts';
import { ALICE, type ApiDoor, SERVICE, startApi, withKey } from './api.ts';

/** Bytes as they are, and everything that comes back until the server ends it. */
async function raw(door: ApiDoor, bytes: string): Promise<string> {
  const { hostname, port } = new URL(door.url);
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes, 'latin1'));
  let text = '';
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

const HEAD = `host: localhost\r\nx-api-key: ${SERVICE}\r\nx-agent-id: mallory\r\ncontent-type: application/json\r\n`;
const close = 'connection: close\r\n';

test('smuggling: a request whose length can be read in two ways is no request', async () => {
  await using door = await startApi();
  const body = '{"file_path":"smuggled.ts"}';
  const inner = `POST /locks/acquire HTTP/1.1\r\n${HEAD}content-length: ${body.length}\r\n\r\n${body}`;
  const ambiguous = [
    `content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    `transfer-encoding: chunked\r\ncontent-length: ${inner.length + 5}\r\n\r\n0\r\n\r\n${inner}`,
    `content-length: 2\r\ncontent-length: ${inner.length}\r\n\r\n{}${inner}`,
    `content-length: +2\r\n\r\n{}${inner}`,
    `content-length: 2, 3\r\n\r\n{}${inner}`,
    `transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
    `transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
    `transfer-encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    `transfer-encoding:\n chunked\r\n\r\n0\r\n\r\n${inner}`,
    `transfer-encoding: chunked\r\n\r\n-1\r\n\r\n${inner}`,
  ];
  for (const rest of ambiguous) {
    const answer = await raw(door, `POST /locks/check HTTP/1.1\r\n${HEAD}${rest}`);
    // What was whole may have been answered before; nothing after the doubtful part is.
    assert.match(answer, /HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/, rest.slice(0, 60));
    assert.doesNotMatch(answer, /smuggled/);
  }
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
});

test('a path that climbs leads nowhere, however it is written', async () => {
  await using door = await startApi();
  const climbing = [
    '../../etc/passwd',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e/%2e%2e/etc/passwd',
    '/etc/passwd',
    'a/../../b',
  ];
  for (const path of climbing) {
    const status = await raw(door, `GET /locks/status/${path} HTTP/1.1\r\nhost: localhost\r\n${close}\r\n`);
    assert.match(status, /^HTTP\/1\.1 422 /, path);
    assert.doesNotMatch(status, /root:/);
    const docs = await raw(door, `GET /docs/${path} HTTP/1.1\r\nhost: localhost\r\n${close}\r\n`);
    assert.match(docs, /^HTTP\/1\.1 404 /, path);
  }
  for (const target of [
    'http://localhost/ready',
    '//localhost/ready',
    '/../ready',
    '/health/',
    '/Health',
    '/ready%00',
    '*',
  ])
    assert.match(
      await raw(door, `GET ${target} HTTP/1.1\r\nhost: localhost\r\n${close}\r\n`),
      /^HTTP\/1\.1 404 /,
      target,
    );
  assert.match(await raw(door, `GET /health HTTP/1.1\r\n${close}\r\n`), /^HTTP\/1\.1 400 /, 'no host');
});

test('[MCP-3] names with control characters, line ends or invisible ones get in nowhere', async () => {
  await using door = await startApi();
  for (const name of ['a\u001b[2J', 'a\tb', 'a\u007f', 'a\u0085', '\u00ad']) {
    const bytes = `POST /locks/acquire HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${SERVICE}\r\ncontent-type: application/json\r\nx-agent-id: ${name}\r\ncontent-length: 20\r\n${close}\r\n{"file_path":"a.ts"}`;
    assert.match(await raw(door, bytes), /^HTTP\/1\.1 (400|422) /, JSON.stringify(name));
  }
  for (const name of [
    'a\u001b[2J',
    'a\nb',
    'a\r\nx-evil: 1',
    'a\u202eb',
    'a\u200bb',
    '\u009b31m',
    'a\u2028b',
    // They show nothing, and would make a second alice, or an agent that looks like a person.
    'alice\ufe0f',
    'person\ufe0e:bob',
    'pers\u034fon:bob',
    'coxswain\u3164',
    'alice\u{e0100}',
  ])
    for (const field of ['agent_id', 'agent_type', 'session_id']) {
      const body: JsonObject = { agent_id: 'mallory', file_path: 'a.ts', [field]: name };
      const reply = await door.post('/locks/acquire', body, withKey(SERVICE));
      assert.deepEqual([reply.status, reply.body.field], [422, field], JSON.stringify(body));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come back.
      assert.doesNotMatch(reply.text, /[\u0000-\u001f\u007f-\u009f\u202e\u200b]/);
    }
  const split = await raw(
    door,
    `GET /locks/status/a%0d%0ax-evil:%201 HTTP/1.1\r\nhost: localhost\r\n${close}\r\n`,
  );
  assert.doesNotMatch(split, /^x-evil/m);
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
  assert.equal(typeOf('per\ufe0eson'), 'mcp', 'nor as what a client of MCP calls itself');
});

test('no answer invites another origin in', async () => {
  await using door = await startApi();
  for (const { path, methods } of door.api.routes)
    for (const method of ['OPTIONS', ...methods]) {
      if (path === '/events') continue;
      const headers = {
        ...withKey(ALICE),
        origin: 'http://localhost:9',
        'access-control-request-method': 'POST',
      };
      const { headers: received, status } = await door.ask(method, path.replace(/\{\w+\}/, 'x'), headers);
      const cors = Object.keys(received).filter((name) => name.startsWith('access-control'));
      assert.deepEqual(cors, [], path);
      assert.equal(received['x-content-type-options'], 'nosniff');
      assert.equal(received['cache-control'], 'no-store');
      if (method === 'OPTIONS') assert.equal(status, 405);
    }
});

test('many idle connections and heads that never end are let go; who has something to say is answered', async () => {
  await using door = await startApi({ request_ms: 300 });
  const { hostname, port } = new URL(door.url);
  const sockets: Socket[] = [];
  const ended: Promise<unknown>[] = [];
  for (let index = 0; index < 300; index += 1) {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => {}).resume();
    if (index % 3 === 1) socket.write('GET /health HTTP/1.1\r\nhost: loc');
    if (index % 3 === 2) socket.write(`POST /locks/acquire HTTP/1.1\r\n${HEAD}content-length: 99\r\n\r\n{`);
    ended.push(new Promise((resolve) => socket.once('close', resolve)));
    sockets.push(socket);
  }
  assert.equal((await door.ask('GET', '/health')).status, 200);
  await Promise.all(ended);
  assert.equal((await door.ask('GET', '/health')).status, 200);
});

test('a client that went away while its key was looked up: reading or dropping its body ends at once', async () => {
  const gone = () => {
    const request = new IncomingMessage(new Socket());
    request.on('error', () => {}).destroy();
    return new Promise<IncomingMessage>((resolve) => request.once('close', () => resolve(request)));
  };
  assert.deepEqual(bodyIn(await readBytes(await gone())), { kind: 'gone' });
  const request = await gone();
  assert.equal(await dropBody(request, new ServerResponse(request)), undefined);
});
