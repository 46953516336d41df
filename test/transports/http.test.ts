import assert from 'node:assert/strict';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { createApi } from '../../src/transports/http/http-server.ts';
import { until } from '../support/until.ts';
import { SERVICE, startApi, withKey } from './api.ts';
import { cox, finished, type HttpDoor, SERVICE_KEY, scratch, start, startHttp } from './support.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Bytes as they are, and whatever comes back until the server closes. */
async function raw(http: { url: string }, write: (socket: Socket) => void): Promise<string> {
  const { hostname, port } = new URL(http.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  socket.once('connect', () => write(socket));
  // An error is one of the ways in which a server ends a connection.
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

test('[HTTP-3] routes: health, readiness, the status of a lock', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const health = await http.send('GET', '/health');
  assert.equal(health.status, 200);
  assert.deepEqual(Object.keys(health.body), ['status', 'version']);
  assert.equal(health.body.status, 'ok');
  const ready = await http.send('GET', '/ready');
  assert.deepEqual([ready.status, ready.body.store], [200, place.store]);
  await http.post('/locks/acquire', { agent_id: 'alice', file_path: 'src/ä b.ts', reason: 'why' });
  for (const path of ['src/%C3%A4%20b.ts', 'src%2F%C3%A4%20b.ts', './src/../src/%C3%A4%20b.ts?x=1']) {
    const { status, body } = await http.send('GET', `/locks/status/${path}`);
    // What the holder wrote is for callers with a key.
    assert.deepEqual(
      [status, body.locked, body.locked_by, body.reason],
      [200, true, 'alice', undefined],
      path,
    );
  }
  const free = await http.send('GET', '/locks/status/other.ts');
  assert.deepEqual(free.body, { success: true, file_path: 'other.ts', locked: false });
  assert.equal((await http.send('GET', '/locks/status/%E0%A4')).status, 422);
  assert.equal((await http.send('GET', '/locks/status/..%2F..%2Fetc')).status, 422);
});

test('who asks: body or headers', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const body = { file_path: 'a.ts', agent_id: 'alice', agent_type: 'codex', session_id: 's1' };
  assert.equal((await http.post('/locks/acquire', body)).body.action, 'acquired');
  const headers = { 'x-agent-id': 'alice', 'x-session-id': 's1' };
  assert.equal((await http.post('/locks/acquire', { file_path: 'a.ts' }, headers)).body.action, 'refreshed');
  const held = await http.post('/locks/check', {});
  const [lock] = held.body.locks as JsonObject[];
  assert.deepEqual([lock?.locked_by, lock?.agent_type, lock?.session_id], ['alice', 'codex', 's1']);
  const refused = await http.post('/locks/acquire', { file_path: 'a.ts', agent_id: 'bob' });
  assert.deepEqual([refused.status, refused.body.success, refused.body.action], [200, false, 'blocked']);
});

test('[HTTP-2] who says of what type it is counts as that type, whatever was said before and by whomever', async () => {
  await using door = await startApi();
  const bob = await door.key({ agent: 'bob' });
  const profile = async (key: string, headers: Record<string, string>) => {
    const { body } = await door.ask('GET', '/profiles/me', { ...withKey(key), ...headers });
    return (body.profile as JsonObject).name;
  };
  const about = (agent_type: string) => ({ 'x-agent-id': 'bob', 'x-agent-type': agent_type });
  assert.equal(await profile(SERVICE, about('codex_cloud')), 'codex-cloud-worker');
  assert.equal(
    await profile(bob.key, {}),
    'default',
    'what somebody else says about it does not stick to it',
  );
  assert.equal(await profile(bob.key, about('gemini_web')), 'cloud-default');
  assert.equal(await profile(bob.key, {}), 'cloud-default', 'what it leaves out is as it said last');
  assert.equal(await profile(bob.key, about('http')), 'default');
  assert.equal(await profile(SERVICE, about('codex_cloud')), 'codex-cloud-worker');
});

test('[LOCK-4] a session of an agent releases its own grant, not that of a later one', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const as = (session_id: string) => ({ file_path: 'a.ts', agent_id: 'alice', session_id });
  await http.post('/locks/acquire', as('old'));
  await http.post('/locks/acquire', as('new'));
  assert.equal((await http.post('/locks/release', as('old'))).body.error, 'superseded');
  assert.equal((await http.post('/locks/release', as('new'))).body.released, true);
});

test('Idempotency-Key: the first answer again, another request under it refused', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const submit = (task_description: string) =>
    http.post(
      '/work/submit',
      { agent_id: 'alice', task_type: 't', task_description },
      { 'idempotency-key': 'key-1' },
    );
  const first = await submit('one');
  assert.deepEqual((await submit('one')).body, first.body);
  assert.equal((await submit('two')).body.error, 'operation_id_reused');
  assert.equal(((await http.post('/work/list', {})).body.pending as unknown[]).length, 1);
});

test('what is not there, not allowed or not JSON', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const missing = await http.post('/locks/aquire', {});
  assert.deepEqual(
    [missing.status, missing.body.error, (missing.body.near as string[])[0]],
    [404, 'not_found', '/locks/acquire'],
  );
  // By the words of the command line, and of the operation.
  for (const [path, meant] of [
    ['/task/done', '/tasks/done'],
    ['/lock/acquire', '/locks/acquire'],
    ['/work/gett', '/work/get'],
    ['/complete_work', '/work/complete'],
  ] as const) {
    const { body } = await http.post(path, {});
    assert.ok((body.near as string[]).includes(meant), path);
  }
  const wrong = await http.send('GET', '/locks/acquire');
  assert.deepEqual(
    [wrong.status, wrong.headers.allow, wrong.body.error],
    [405, 'POST', 'method_not_allowed'],
  );
  assert.equal((await http.send('POST', '/health', '{}', JSON_TYPE)).status, 405);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])
    assert.equal(
      (await http.send('POST', '/locks/acquire', '{}', { 'content-type': type })).status,
      415,
      type,
    );
  assert.equal((await http.send('POST', '/locks/acquire', '{}')).status, 415);
  const charset = { 'content-type': 'Application/JSON; charset=utf-8' };
  assert.equal((await http.send('POST', '/locks/check', '{}', charset)).status, 200);
  const broken = await http.send('POST', '/locks/acquire', '{"a":', JSON_TYPE);
  assert.deepEqual([broken.status, broken.body.field], [422, 'body']);
});

test('a web page gets nothing: foreign hosts and origins are turned away', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const { port } = new URL(http.url);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
  ])
    assert.equal((await http.send('GET', '/health', undefined, { host })).status, 403, host);
  for (const host of ['localhost', `LOCALHOST:${port}`, '[::1]', '127.0.0.9'])
    assert.equal((await http.send('GET', '/health', undefined, { host })).status, 200, host);
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', 'file://'])
    assert.equal((await http.post('/locks/check', {}, { origin })).status, 403, origin);
  assert.equal((await http.post('/locks/check', {}, { origin: `http://localhost:${port}` })).status, 200);
  const preflight = await http.send('OPTIONS', '/locks/acquire');
  assert.equal(preflight.status, 405);
  assert.equal(preflight.headers['access-control-allow-origin'], undefined);
});

async function assertAlive(http: HttpDoor): Promise<void> {
  assert.equal((await http.send('GET', '/health')).status, 200);
}

test('limits: large bodies and headers are refused, announced or not', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const large = JSON.stringify({ file_path: 'x'.repeat(1_000_001) });
  const reply = await http.send('POST', '/locks/acquire', large, { ...JSON_TYPE, 'x-agent-id': 'a' });
  assert.deepEqual([reply.status, reply.body.error, reply.body.field], [413, 'too_large', 'body']);
  const head = `POST /locks/acquire HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${SERVICE_KEY}\r\ncontent-type: application/json\r\n`;
  const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
  const unannounced = await raw(http, (socket) =>
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`),
  );
  assert.match(unannounced, /^HTTP\/1\.1 413 /);
  // Whether the answer still arrives is up to the network; that the connection ends is not.
  await raw(http, (socket) => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    const more = () => {
      while (socket.writable && socket.write(chunk));
      socket.once('drain', more);
    };
    more();
  });
  const headers = await raw(http, (socket) => socket.write(`${head}x-large: ${'y'.repeat(20_000)}\r\n\r\n`));
  assert.match(headers, /^HTTP\/1\.1 431 /);
  await assertAlive(http);
});

test('limits: a body that never ends is given up', async () => {
  await using stack = new AsyncDisposableStack();
  const coxswain = await open({ store: 'memory:' });
  stack.defer(() => coxswain.close());
  const api = await createApi(coxswain, { request_ms: 200 });
  stack.defer(() => api.stop());
  api.server.listen({ port: 0, host: '127.0.0.1' });
  await once(api.server, 'listening');
  const { port } = api.server.address() as { port: number };
  const answer = await raw({ url: `http://127.0.0.1:${port}` }, (socket) =>
    socket.write(
      'POST /locks/acquire HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{',
    ),
  );
  assert.match(answer, /^HTTP\/1\.1 408 /);
});

test('many agents: a connection that is not used any more is forgotten, its lock is not', async () => {
  await using stack = new AsyncDisposableStack();
  const coxswain = await open({ store: 'memory:' });
  stack.defer(() => coxswain.close());
  const { Connections } = await import('../../src/transports/http/connections.ts');
  const connections = new Connections(coxswain);
  const service = { role: 'service', authority: 'agent', credential: 'test' } as const;
  const first = connections.find({ agent_id: 'agent-0' }, {}, service, true);
  const busy = connections.find({ agent_id: 'busy' }, {}, service, true);
  for (let index = 1; index <= 2000; index += 1) {
    connections.find({ agent_id: `agent-${index}` }, {}, service, true);
    assert.equal(connections.find({ agent_id: 'busy' }, {}, service, true), busy);
  }
  assert.notEqual(connections.find({ agent_id: 'agent-0' }, {}, service, true), first);
  const recent = connections.find({ agent_id: 'agent-1500' }, {}, service, true);
  assert.equal(connections.find({ agent_id: 'agent-1500' }, {}, service, true), recent);
});

test('a store that went away: 503 with its code, while the process stays healthy', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const acquire = () => http.post('/locks/acquire', { agent_id: 'alice', file_path: 'a.ts' });
  assert.equal((await acquire()).status, 200);
  renameSync(join(place.folder, 'store'), join(place.folder, 'elsewhere'));
  // It is looked for once in a millisecond.
  const happened_ms = performance.now();
  await until(async () => performance.now() > happened_ms + 1);
  const { status, body } = await acquire();
  assert.equal(status, 503);
  assert.match(String(body.error), /^(store_moved|database_unavailable)$/);
  assert.equal((await http.send('GET', '/health')).status, 200);
});

test('SIGTERM: what was accepted is finished, the store is closed, exit code 0', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const calls = Array.from({ length: 50 }, (_, index) =>
    http.post('/locks/acquire', { agent_id: 'alice', file_path: `f${index}.ts` }),
  );
  await Promise.race(calls);
  const ended = finished(http.child);
  http.child.kill('SIGTERM');
  const settled = await Promise.allSettled(calls);
  assert.equal((await ended).code, 0);
  const acknowledged = settled.filter(
    (call) => call.status === 'fulfilled' && call.value.body.success === true,
  );
  const { out } = await cox(['lock', 'check', '--json', '--store', place.store], { cwd: place.folder });
  assert.equal((JSON.parse(out) as { locks: unknown[] }).locks.length, acknowledged.length);
});

test('[HTTP-1] told to stop once, but through its launcher as well as itself: what was accepted is finished', async () => {
  using place = scratch();
  await using http = await startHttp(place, [], { COX_HANDED_OVER: '1' });
  const ended = finished(http.child);
  const body = JSON.stringify({ file_path: 'a.ts', agent_id: 'alice' });
  const head = `POST /locks/acquire HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${SERVICE_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const answer = await raw(http, async (socket) => {
    socket.write(head + body.slice(0, 9));
    // Answered after the head above has been read.
    await http.send('GET', '/health');
    http.child.kill('SIGTERM');
    const isClosed = () =>
      http.send('GET', '/health').then(
        () => false,
        () => true,
      );
    await until(isClosed);
    http.child.kill('SIGTERM');
    socket.write(body.slice(9));
  });
  assert.match(answer, /^HTTP\/1\.1 200 .*"acquired"/s);
  assert.deepEqual([(await ended).code, (await ended).signal], [0, null]);
});

test('cox serve says where it is, that there is no key, and how to go on', async () => {
  using place = scratch();
  const child = start(['serve', '--port', '0', '--store', place.store], { cwd: place.folder });
  const ended = finished(child);
  const [text] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [string];
  for (const expected of [
    /listening on http:\/\/127\.0\.0\.1:\d+/,
    /curl /,
    /claude mcp add coxswain -- \//,
    /no API key yet/,
    /key create --agent me --store sqlite:/,
  ])
    assert.match(text, expected);
  assert.ok(text.includes(`mcp --store ${place.store}`));
  child.kill('SIGINT');
  assert.deepEqual([(await ended).code, (await ended).err], [0, '']);
});

test('cox serve: a taken port, a public host, a port that is none', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const { port } = new URL(http.url);
  const serve = (args: string[], env = {}) => cox(['serve', '--json', ...args], { cwd: place.folder, env });
  const same = await serve(['--port', port, '--store', place.store]);
  assert.equal(same.code, 0);
  assert.equal((JSON.parse(same.out) as JsonObject).already, true);
  const other = await serve(['--port', port, '--store', 'memory:']);
  assert.equal(other.code, 2);
  assert.match(other.out, /--port 0/);
  const open_to_all = await serve(['--store', 'memory:'], { API_HOST: '0.0.0.0' });
  assert.deepEqual([open_to_all.code, (JSON.parse(open_to_all.out) as JsonObject).field], [2, 'host']);
  const none = await serve(['--store', 'memory:'], { API_PORT: '70000' });
  assert.deepEqual([none.code, (JSON.parse(none.out) as JsonObject).field], [2, 'port']);
  const gone = await serve(['--port', '0', '--store', 'nonsense:']);
  assert.equal(gone.code, 4);
});
