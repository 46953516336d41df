import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { until } from '../support/until.ts';
import { BOTH, initialize, messageOf, type Revision, startEndpoint } from './mcp-support.ts';
import { scratch } from './support.ts';

const BOTH_REVISIONS: readonly Revision[] = ['modern', 'legacy'];

async function holders(call: (name: string) => Promise<{ answer: JsonObject }>): Promise<JsonObject[]> {
  return (await call('check_locks')).answer.locks as JsonObject[];
}

for (const revision of BOTH_REVISIONS) {
  test(`[MCP-1] HTTP, ${revision}: lists and calls tools; what one request got the next gives back`, async () => {
    using place = scratch();
    await using endpoint = await startEndpoint(place);
    await using alice = await endpoint.connect({ revision, headers: { 'x-agent-id': 'alice' } });
    const { tools } = await alice.client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      operations.filter(({ standard }) => standard).map(({ name }) => name),
    );
    assert.equal((await alice.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'acquired');
    assert.equal((await alice.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'refreshed');
    await using bob = await endpoint.connect({ revision, headers: { 'x-agent-id': 'bob' } });
    const blocked = await bob.call('acquire_lock', { file_path: 'a.ts' });
    assert.deepEqual([blocked.answer.locked_by, blocked.isError], ['alice', false]);
    assert.equal((await bob.call('release_lock', { file_path: 'a.ts' })).answer.success, false);
    assert.equal((await alice.call('release_lock', { file_path: 'a.ts' })).answer.success, true);
    const mistake = await bob.call('acquire_lock', { file: 'a.ts' });
    assert.deepEqual([mistake.answer.error, mistake.isError], ['invalid_input', true]);
  });

  test(`[MCP-1] HTTP, ${revision}: each client chooses its tools`, async () => {
    using place = scratch();
    await using endpoint = await startEndpoint(place, { store: 'memory:' });
    const names = async (query: string) => {
      await using client = await endpoint.connect({ revision, query });
      return (await client.client.listTools()).tools.map(({ name }) => name);
    };
    assert.deepEqual(
      await names('?tools=all'),
      operations
        .filter(({ administers, personal }) => administers !== true && personal !== true)
        .map(({ name }) => name),
    );
    assert.deepEqual(await names('?tools=lock'), ['acquire_lock', 'release_lock', 'check_locks']);
    const wrong = await fetch(`${endpoint.url}?tools=lock,nonsense`, { method: 'POST', body: '{}' });
    assert.equal(wrong.status, 400);
    assert.match(
      await wrong.text(),
      /expected standard, all or some of lock,work.*there is no group.*nonsense/,
    );
  });

  test(`HTTP, ${revision}: cancelling or hanging up leaves the line`, async () => {
    using place = scratch();
    await using endpoint = await startEndpoint(place);
    const holder = endpoint.coxswain.connect({ agent_id: 'holder' });
    const call = (name: string, input: JsonObject) =>
      holder.perform(
        operations.find((operation) => operation.name === name) as (typeof operations)[0],
        input,
      );
    await call('acquire_lock', { file_path: 'a.ts' });
    const waiting = async () => ((await call('check_locks', {})).waiting ?? []) as JsonObject[];
    const client = await endpoint.connect({ revision, headers: { 'x-agent-id': 'waiter' } });
    const cancel = new AbortController();
    const heard: string[] = [];
    const wanted = { name: 'acquire_lock', arguments: { file_path: 'a.ts', wait_seconds: 60 } };
    const cancelled = assert.rejects(
      client.client.callTool(wanted, {
        signal: cancel.signal,
        onprogress: ({ progress, total, message }) => heard.push(`${progress > 0} ${total} ${message}`),
      }),
    );
    await until(async () => heard.length > 0 && (await waiting()).length === 1);
    assert.match(String(heard[0]), /^true 60 .*a\.ts.*holder/);
    cancel.abort();
    await cancelled;
    await until(async () => (await waiting()).length === 0);
    const left = client.client.callTool(wanted).catch(() => 'left');
    await until(async () => (await waiting()).length === 1);
    await client.client.close();
    assert.equal(await left, 'left');
    await until(async () => (await waiting()).length === 0);
  });
}

test('[MCP-3] sessions without a name are different agents; they may not share what they hold', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using one = await endpoint.connect({ revision: 'legacy', name: 'claude-code' });
  await using two = await endpoint.connect({ revision: 'legacy', name: 'claude-code' });
  await one.call('acquire_lock', { file_path: 'a.ts' });
  assert.equal((await two.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'blocked');
  assert.equal((await two.call('release_lock', { file_path: 'a.ts' })).answer.error, 'not_holder');
  await two.call('acquire_lock', { file_path: 'b.ts' });
  const locks = await holders(one.call);
  assert.equal(new Set(locks.map(({ locked_by }) => locked_by)).size, 2);
  assert.equal(new Set(locks.map(({ session_id }) => session_id)).size, 2);
  assert.deepEqual(
    locks.map(({ agent_type }) => agent_type),
    ['claude-code', 'claude-code'],
  );
});

test('[MCP-3] an agent that was made up for a session ends with it: what it held is free, and it waits no longer', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using watcher = await endpoint.connect({ headers: { 'x-agent-id': 'watcher' } });
  await using leaver = await endpoint.connect({ revision: 'legacy' });
  await using stayer = await endpoint.connect({ revision: 'legacy' });
  await using named = await endpoint.connect({ revision: 'legacy', headers: { 'x-agent-id': 'nora' } });
  const held = async () => (await holders(watcher.call)).map(({ file_path }) => file_path).sort();
  await leaver.call('acquire_lock', { file_path: 'a.ts' });
  await stayer.call('acquire_lock', { file_path: 'b.ts' });
  await named.call('acquire_lock', { file_path: 'c.ts' });
  void leaver.call('acquire_lock', { file_path: 'b.ts', wait_seconds: 60 }).catch(() => {});
  const line = async () => (await watcher.call('check_locks')).answer.waiting as JsonObject[] | undefined;
  await until(async () => (await line())?.length === 1);
  for (const { transport } of [leaver, named]) await transport.terminateSession();
  await until(async () => (await held()).length === 2);
  assert.deepEqual(await held(), ['b.ts', 'c.ts'], 'who has a name can come back for it');
  assert.equal(await line(), undefined);
  await endpoint.stop();
  await using later = await startEndpoint(place);
  await using asking = await later.connect({ headers: { 'x-agent-id': 'watcher' } });
  const left = await holders(asking.call);
  assert.deepEqual(
    left.map(({ locked_by }) => locked_by),
    ['nora'],
    'sessions end with the server',
  );
});

test('[MCP-3] a request without a session and without a name may look, not change', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using nameless = await endpoint.connect();
  assert.deepEqual((await nameless.call('check_locks')).answer, { success: true, locks: [] });
  const refused = await nameless.call('acquire_lock', { file_path: 'a.ts' });
  assert.deepEqual([refused.isError, refused.answer.field], [true, 'agent_id']);
  assert.match(String(refused.answer.message), /X-Agent-Id/);
  // The same name under two keys is one agent, and neither finds the other's grant.
  const headers = (key: string) => ({ 'x-agent-id': 'alice', 'x-api-key': key, 'x-session-id': key });
  await using one = await endpoint.connect({ headers: headers('one') });
  await using two = await endpoint.connect({ headers: headers('two') });
  await one.call('acquire_lock', { file_path: 'a.ts' });
  const [lock] = await holders(two.call);
  assert.deepEqual([lock?.locked_by, lock?.session_id, lock?.agent_type], ['alice', 'one', 'door-test']);
});

async function openSession(endpoint: Awaited<ReturnType<typeof startEndpoint>>, headers = {}) {
  const opened = await endpoint.post(initialize(), headers);
  assert.equal(opened.status, 200);
  const id = opened.headers.get('mcp-session-id') ?? '';
  assert.match(id, /^[\w-]{32}$/);
  await opened.text();
  return id;
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

test('[MCP-3] a session is its opener’s: another key, another name or a guess finds nothing', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place, { store: 'memory:' });
  const headers = { 'x-api-key': 'mine', 'x-agent-id': 'alice' };
  const id = await openSession(endpoint, headers);
  const ask = async (given: Record<string, string>) => {
    const response = await endpoint.post(list, { 'mcp-session-id': id, ...given });
    return [response.status, (await messageOf(response)).error] as const;
  };
  const notFound = [404, { code: -32_001, message: 'Session not found' }];
  assert.deepEqual(await ask({ 'x-api-key': 'other', 'x-agent-id': 'alice' }), notFound);
  assert.deepEqual(await ask({ 'x-api-key': 'mine', 'x-agent-id': 'bob' }), notFound);
  assert.deepEqual(await ask({ ...headers, 'mcp-session-id': `${id.slice(0, -1)}!` }), notFound);
  for (const method of ['GET', 'DELETE']) {
    const other = { 'x-api-key': 'other', 'mcp-session-id': id, accept: 'text/event-stream' };
    assert.equal((await fetch(endpoint.url, { method, headers: other })).status, 404);
  }
  assert.deepEqual(await ask({ 'x-api-key': 'mine' }), [200, undefined]);
  const ended = await fetch(endpoint.url, {
    method: 'DELETE',
    headers: { ...headers, 'mcp-session-id': id },
  });
  assert.equal(ended.status, 200);
  assert.deepEqual(await ask(headers), notFound);
});

test('hostile: malformed, oversized, lists, wrong methods and media types are answered, and nothing breaks', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place, { store: 'memory:' });
  const id = await openSession(endpoint);
  const session = { 'mcp-session-id': id };
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  const cases: readonly [string, string, Record<string, string>, number][] = [
    ['no JSON', '{"jsonrpc"', session, 400],
    ['no message', '{"a":1}', session, 400],
    ['nothing', '', session, 400],
    ['text', '"initialize"', session, 400],
    ['a list', JSON.stringify([list, list]), session, 400],
    ['a list with the handshake', JSON.stringify([initialize(), list]), {}, 400],
    ['too deep', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${deep}}`, session, 400],
    ['too large', JSON.stringify({ ...list, params: { a: 'x'.repeat(1_000_001) } }), session, 413],
    ['no session', JSON.stringify(list), {}, 400],
    ['an unknown session', JSON.stringify(list), { 'mcp-session-id': '../../etc' }, 404],
    ['a second handshake', JSON.stringify(initialize()), session, 400],
    ['a handshake without anything', '{"jsonrpc":"2.0","id":1,"method":"initialize"}', {}, 400],
    ['not to be read', JSON.stringify(initialize()), { accept: 'text/html' }, 406],
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }, 400],
    ['JSON as text', JSON.stringify(initialize()), { 'content-type': 'text/plain' }, 415],
    [
      'a revision of the future',
      JSON.stringify(list),
      { ...session, 'mcp-protocol-version': '2099-01-01' },
      400,
    ],
  ];
  for (const [what, body, headers, status] of cases) {
    const response = await endpoint.post(body, headers);
    assert.equal(response.status, status, what);
    const { jsonrpc, error } = await messageOf(response);
    assert.equal(jsonrpc, '2.0', what);
    assert.equal(typeof (error as JsonObject).code, 'number', what);
  }
  const put = await fetch(endpoint.url, { method: 'PUT', body: 'x' });
  assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, POST, DELETE']);
  assert.equal((await endpoint.post(list, session)).status, 200);
});

test('sessions are bounded: the opener’s own idle ones go first, and nobody else’s', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place, {
    store: 'memory:',
    bounds: { sessions_max: 2, idle_ms: 60_000 },
  });
  const theirs = await openSession(endpoint, { 'x-api-key': 'theirs' });
  const first = await openSession(endpoint, { 'x-api-key': 'mine' });
  const second = await openSession(endpoint, { 'x-api-key': 'mine' });
  const status = async (id: string, key: string) =>
    (await endpoint.post(list, { 'mcp-session-id': id, 'x-api-key': key })).status;
  assert.deepEqual(
    [await status(first, 'mine'), await status(second, 'mine'), await status(theirs, 'theirs')],
    [404, 200, 200],
  );
  const refused = await endpoint.post(initialize(), { 'x-api-key': 'a third' });
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60']);
});

test('a session in which nothing happens ends; one with an open stream does not', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place, {
    store: 'memory:',
    bounds: { sessions_max: 10, idle_ms: 200 },
  });
  const listening = await openSession(endpoint);
  const stream = await fetch(endpoint.url, {
    headers: { accept: 'text/event-stream', 'mcp-session-id': listening },
  });
  assert.equal(stream.status, 200);
  const idle = await openSession(endpoint);
  await until(async () => (await probe(endpoint.url, idle)) === 404);
  assert.equal((await endpoint.post(list, { 'mcp-session-id': listening })).status, 200);
  await stream.body?.cancel();
});

/** The status of a session, asked rarely enough not to keep it alive. */
let asked_ms = 0;
async function probe(url: string, id: string): Promise<number | undefined> {
  if (Date.now() - asked_ms < 600) return undefined;
  asked_ms = Date.now();
  const response = await fetch(url, { method: 'GET', headers: { 'mcp-session-id': id, accept: BOTH } });
  await response.body?.cancel();
  return response.status;
}

test('stop: what was taken is answered, who waits is told, what comes later is turned away', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using holder = await connect({ store: place.store, cwd: place.folder, agent_id: 'holder' }).then(
    (client) => Object.assign(client, { [Symbol.asyncDispose]: () => client.close() }),
  );
  await holder.call('acquire_lock', { file_path: 'a.ts' });
  await using modern = await endpoint.connect({ headers: { 'x-agent-id': 'modern' } });
  await using legacy = await endpoint.connect({ revision: 'legacy' });
  const listening = await modern.client.listen({ resourceSubscriptions: ['locks://current'] });
  const wanted = { file_path: 'a.ts', wait_seconds: 60 };
  const waiting = Promise.all([modern.call('acquire_lock', wanted), legacy.call('acquire_lock', wanted)]);
  await until(
    async () => ((await holder.call('check_locks')).waiting as JsonObject[] | undefined)?.length === 2,
  );
  await endpoint.stop();
  for (const { answer } of await waiting) assert.equal(answer.action, 'blocked');
  assert.equal(await listening.closed, 'graceful');
  assert.equal((await endpoint.post(initialize())).status, 503);
});

test('a client that sends half a body and goes away leaves nothing behind', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place, { store: 'memory:' });
  const outgoing = request(endpoint.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH, 'content-length': '1000' },
  });
  // It was us who hung up.
  outgoing.on('error', () => {});
  outgoing.write('{"jsonrpc"');
  await new Promise((resolve) => outgoing.once('socket', (socket) => socket.once('connect', resolve)));
  outgoing.destroy();
  assert.equal((await endpoint.post(initialize())).status, 200);
});
