import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { BODY_BYTES_MAX } from '../../src/transports/http/body.ts';
import { ALICE, type ApiDoor, ENV, startApi, withKey } from './api.ts';

const SECRET = 'webhook-secret-of-the-tests';
const OVER = BODY_BYTES_MAX + 1;
const started = () => startApi({ env: { ...ENV, GITHUB_WEBHOOK_SECRET: SECRET } });
const headOf = (path: string, key: string, rest: string) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${rest}\r\n\r\n`;

/** All that comes back until the server ends the connection. The client says no more than `parts`. */
async function told(
  door: ApiDoor,
  ...parts: (string | Buffer)[]
): Promise<{ text: string; errors: string[] }> {
  const { hostname, port } = new URL(door.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  const errors: string[] = [];
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', (error) => errors.push(error.message));
  for (const part of parts) socket.write(part);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text, errors };
}

const firstLine = (text: string) => text.slice(0, text.indexOf('\r\n'));

test('a length over the limit is answered 413 before the body is sent, on every route with a body', async () => {
  await using door = await started();
  const person = await door.key({ person: 'bob' });
  const routes = door.api.routes.filter(({ methods }) => methods.includes('POST')).map(({ path }) => path);
  assert.ok(routes.includes('/mcp') && routes.includes('/webhook/github') && routes.length > 50);
  for (const path of routes)
    for (const more of ['', '\r\nexpect: 100-continue']) {
      const { text, errors } = await told(door, headOf(path, person.key, `content-length: ${OVER}${more}`));
      assert.equal(firstLine(text), 'HTTP/1.1 413 Payload Too Large', path);
      assert.match(text, /^connection: close\r$/im);
      assert.match(text, /at most 1000000 bytes/);
      assert.deepEqual(errors, [], path);
    }
  const refused = await told(door, headOf('/locks/acquire', 'wrong', `content-length: ${OVER}`));
  assert.equal(firstLine(refused.text), 'HTTP/1.1 401 Unauthorized');
});

test('a body that grows over the limit is answered 413 there, although it never ends', async () => {
  await using door = await started();
  const chunk = Buffer.from(`${OVER.toString(16)}\r\n${'x'.repeat(OVER)}\r\n`);
  for (const path of ['/locks/acquire', '/mcp', '/webhook/github'])
    for (const more of ['', '\r\nexpect: 100-continue']) {
      const head = headOf(path, ALICE, `transfer-encoding: chunked${more}`);
      const { text } = await told(door, head, chunk);
      assert.match(text.replace('HTTP/1.1 100 Continue\r\n\r\n', ''), /^HTTP\/1\.1 413 /, path);
      assert.match(text, /at most 1000000 bytes/);
    }
});

test('a client that sends all of its large body first still reads the answer', async () => {
  await using door = await started();
  const body = Buffer.alloc(6_000_000, 'x');
  for (const rest of [`content-length: ${body.length}`, 'transfer-encoding: chunked']) {
    const { hostname, port } = new URL(door.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const parts = rest.startsWith('content')
      ? [body]
      : [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n'];
    socket.write(headOf('/locks/acquire', ALICE, rest));
    for (const part of parts.slice(0, -1)) socket.write(part);
    // Nothing is read before everything was handed to the system.
    await new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.write(parts.at(-1) ?? '', resolve);
    });
    let text = '';
    for await (const part of socket) text += part;
    assert.match(text, /^HTTP\/1\.1 413 .*at most 1000000 bytes/s);
  }
  const reply = await fetch(`${door.url}/locks/acquire`, {
    method: 'POST',
    headers: { ...withKey(ALICE), 'content-type': 'application/json' },
    body,
  });
  const { error } = (await reply.json()) as { error: string };
  assert.deepEqual([reply.status, error], [413, 'too_large']);
});

test('a client that never stops sending is cut off', async () => {
  await using door = await started();
  const { hostname, port } = new URL(door.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {}).resume();
  socket.write(headOf('/locks/acquire', ALICE, 'transfer-encoding: chunked'));
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const more = () => {
    while (socket.writable && socket.write(chunk));
    socket.once('drain', more);
  };
  more();
  await new Promise((resolve) => socket.once('close', resolve));
  assert.ok(socket.bytesWritten < 50_000_000, `${socket.bytesWritten} bytes were taken`);
  assert.equal((await door.ask('GET', '/health')).status, 200);
});

test('what follows a refused body on its connection is not done', async () => {
  await using door = await started();
  const lock = '{"file_path":"late.ts"}';
  const late = headOf('/locks/acquire', ALICE, `content-length: ${lock.length}`) + lock;
  const { text } = await told(
    door,
    headOf('/locks/acquire', ALICE, `content-length: ${OVER}`),
    Buffer.alloc(OVER, 'x'),
    late,
  );
  assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1);
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
});

test('a body at the limit is read, also by a server that is asked first', async () => {
  await using door = await started();
  const start = '{"file_path":"a.ts","reason":"';
  const body = `${start}${'x'.repeat(BODY_BYTES_MAX - start.length - 2)}"}`;
  const rest = `content-length: ${body.length}\r\nconnection: close\r\nexpect: 100-continue`;
  const { text } = await told(door, headOf('/locks/acquire', ALICE, rest), body);
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 .*"field":"reason"/s);
});
