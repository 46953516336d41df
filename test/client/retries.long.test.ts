import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { connectRemote } from '../../src/client/remote.ts';
import { type Client, connect } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { scratch } from '../transports/support.ts';
import { quickTime } from './clock.ts';
import { deadUrl, type Fate, KEY, pretend, proxy, serve } from './support.ts';

const task = { task_type: 't', task_description: 'd' };

/** What must be done once, and how to see how often it was. */
const ONCE: Record<string, (client: Client) => Promise<[answered: unknown, done: number]>> = {
  async submit_work(client) {
    const { success } = await client.submitWork(task);
    const listed = await client.listWork();
    return [success, listed.success ? listed.pending.length : 0];
  },
  async acquire_lock(client) {
    // A second one would be told `refreshed`.
    const answer = await client.acquireLock({ file_path: 'a.ts' });
    const held = await client.checkLocks();
    return [answer.success && answer.action === 'acquired', held.success ? held.locks.length : 0];
  },
  async send_message(client) {
    const { success } = await client.sendMessage({ to: ['alice'], body: 'to myself' });
    const inbox = await client.readInbox();
    return [success, inbox.success ? inbox.messages.length : 0];
  },
  async write_handoff(client) {
    const { success } = await client.writeHandoff({ summary: 'there' });
    const read = await client.readHandoff();
    return [success, read.success ? read.handoffs.length : 0];
  },
};

for (const fate of ['loses the answer', 'loses the request'] satisfies Fate[])
  test(`client: a connection that ${fate}, twice: everything is done, and once`, async () => {
    for (const [name, ask] of Object.entries(ONCE)) {
      using place = scratch();
      await using server = await serve(place);
      await using between = await proxy(server, [fate, fate]);
      await using client = await connect({ url: between.url, api_key: KEY, agent_id: 'alice' });
      assert.deepEqual(await ask(client), [true, 1], name);
      assert.equal(between.connections, 3, name);
    }
  });

test('client: a task whose claim was answered into nothing is handed out once', async () => {
  using place = scratch();
  await using server = await serve(place);
  const who = { api_key: KEY, agent_id: 'alice' };
  await using direct = await connect({ url: server.url, ...who });
  for (const priority of [1, 2]) await direct.submitWork({ ...task, priority });
  await using between = await proxy(server, ['loses the answer']);
  await using client = await connect({ url: between.url, ...who });
  const claim = await client.getWork();
  const { claimed, pending } = (await direct.call('list_work')) as Record<string, JsonObject[]>;
  assert.deepEqual([claimed?.map(({ task_id }) => task_id), pending?.length], [[claim.task_id], 1]);
});

interface Heard {
  readonly url: string | undefined;
  readonly body: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

type Reply = [status: number, body: unknown, headers?: Record<string, string>];

/** Answers with these in turn, the last one for ever; and what it was sent. */
async function scripted(...replies: Reply[]) {
  const heard: Heard[] = [];
  const server = await pretend((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse) {
    let text = '';
    for await (const part of request) text += part;
    const [status, body, headers = {}] = replies[Math.min(heard.length, replies.length - 1)] ?? [500, ''];
    heard.push({ url: request.url, headers: request.headers, body: JSON.parse(text) as JsonObject });
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
  const time = quickTime();
  const client = await connect({ url: server.url, api_key: KEY, agent_id: 'alice', ...time });
  return {
    heard,
    client,
    pauses_ms: time.pauses_ms,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const AWAY = { success: false, error: 'database_unavailable', message: 'away', remedy: 'later' };
const DONE = { success: true, released: true, file_path: 'a.ts' };

test('client: the same request again, under one name, after growing pauses', async () => {
  await using talk = await scripted([503, AWAY], [502, '<html>'], [504, ''], [200, DONE]);
  assert.deepEqual(await talk.client.releaseLock({ file_path: 'a.ts' }), DONE);
  assert.deepEqual(talk.pauses_ms, [75, 150, 300]);
  const [first, ...others] = talk.heard.map(({ body }) => body);
  assert.match(String(first?.operation_id), /^[0-9a-f-]{36}$/);
  for (const other of others) assert.deepEqual(other, first);
  const next = await talk.client.releaseLock({ file_path: 'a.ts' }, { operation_id: 'mine' });
  assert.equal(next.success, true);
  assert.equal(talk.heard.at(-1)?.body.operation_id, 'mine');
  await talk.client.checkLocks({}, { operation_id: 'reads have none' });
  assert.deepEqual(talk.heard.at(-1)?.body, {});
});

test('client: who it is and its key are said in headers', async () => {
  await using talk = await scripted([200, DONE]);
  await talk.client.heartbeat();
  const { headers } = talk.heard[0] ?? {};
  assert.deepEqual([headers?.['x-api-key'], headers?.['x-agent-id']], [KEY, 'alice']);
  assert.equal(headers?.['x-session-id'], talk.client.actor.session_id);
});

test('client: retries end, and what the server said is the answer', async () => {
  await using talk = await scripted([503, AWAY]);
  assert.deepEqual(await talk.client.heartbeat(), AWAY);
  assert.deepEqual([talk.heard.length, talk.pauses_ms.length], [5, 4]);
});

test('client: too many requests: it comes back when it is told to, or not at all', async () => {
  const limited = { success: false, error: 'rate_limited', message: 'slowly', retry_after_seconds: 3 };
  await using talk = await scripted([429, limited, { 'retry-after': '3' }], [200, DONE]);
  assert.equal((await talk.client.heartbeat()).success, true);
  assert.deepEqual(talk.pauses_ms, [3000]);
  await using never = await scripted([429, limited, { 'retry-after': '3600' }]);
  const refused = await never.client.heartbeat();
  assert.deepEqual([refused.success, 'error' in refused && refused.error], [false, 'rate_limited']);
  assert.deepEqual([never.heard.length, never.pauses_ms.length], [1, 0]);
});

test('client: a status is a refusal with its code, and is not asked again', async () => {
  const cases: [Reply, code: string][] = [
    [[401, { success: false, error: 'unauthorized', message: 'no key' }], 'unauthorized'],
    [[403, { success: false, error: 'forbidden', message: 'another one’s' }], 'forbidden'],
    [[404, 'Not Found'], 'not_found'],
    [[413, '<html>too large</html>'], 'too_large'],
    [
      [422, { success: false, error: 'path_is_root', field: 'file_path', message: 'm', remedy: 'r' }],
      'path_is_root',
    ],
    [[500, { success: false, error: 'internal_error', message: 'm', remedy: 'r' }], 'internal_error'],
    [[503, { success: false, error: 'store_moved', message: 'm', remedy: 'r' }], 'store_moved'],
    [[500, { success: true }], 'database_unavailable'],
  ];
  for (const [reply, code] of cases) {
    await using talk = await scripted(reply);
    const answer = (await talk.client.heartbeat()) as JsonObject;
    assert.deepEqual([answer.success, answer.error, talk.heard.length], [false, code, 1]);
    assert.equal(typeof answer.message, 'string');
    assert.equal(typeof answer.remedy, 'string');
  }
});

test('[SESS-3] [HAND-1] client: a server that is not there is said, without the key, and soon', async () => {
  const url = await deadUrl();
  const time = quickTime();
  await using client = await connect({ url, api_key: 'a-secret-key', agent_id: 'alice', ...time });
  for (const call of [
    client.heartbeat(),
    client.writeHandoff({ summary: 's' }),
    client.readHandoff(),
    client.call('get_work'),
  ]) {
    const answer = (await call) as JsonObject;
    assert.deepEqual([answer.success, answer.error, answer.url], [false, 'database_unavailable', url]);
    assert.ok(String(answer.message).includes(url));
    assert.ok(!JSON.stringify(answer).includes('a-secret-key'));
    assert.doesNotMatch(String(answer.message), /not known/, 'nothing can have been done');
  }
  const most_ms = time.pauses_ms.slice(0, 4).reduce((sum, pause) => sum + pause, 0) / 0.75;
  assert.ok(most_ms <= 1500, `${most_ms} ms`);
});

test('client: what has no name and changes something is not asked twice, unless it never left', async () => {
  const table = { poke: { path: '/poke', repeats: 'never' } } as const;
  const time = quickTime();
  const target = {
    kind: 'remote',
    credential: undefined,
    identity: {},
    timeout_ms: undefined,
    ...time,
  } as const;
  let asked = 0;
  await using server = await pretend((request) => {
    asked += 1;
    request.socket.destroy();
  });
  await using client = await connectRemote({ ...target, url: new URL(server.url) }, table);
  const answer = await client.call('poke');
  assert.deepEqual([answer.error, asked], ['database_unavailable', 1]);
  assert.match(String(answer.message), /Whether it was done is not known/);
  await using nobody = await connectRemote({ ...target, url: new URL(await deadUrl()) }, table);
  await nobody.call('poke');
  assert.equal(time.pauses_ms.length, 4);
});
