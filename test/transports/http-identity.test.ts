import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { ALICE, type ApiDoor, SERVICE, startApi, withKey } from './api.ts';
import { soundInputs } from './hostile.ts';
import { BOTH, connectClient } from './mcp-support.ts';

/** Where such a name is the operation's own input, which every agent may give: it does not say who is asking. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  agent_id: ['claims_status'],
  agent_type: [],
  session_id: ['allocate_ports', 'release_ports'],
};

const operationAt = (path: string) =>
  operations.find(({ route, aliases = [] }) => [route, ...aliases].some((each) => each.path === path));

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: JsonObject;
}

/** Each route with each of its methods, as the server itself lists them. */
function everyRequest({ api }: ApiDoor) {
  return api.routes.flatMap(({ path, methods, key }) =>
    methods.map((method) => ({ method, path, key, operation: operationAt(path) })),
  );
}

async function ask(door: ApiDoor, key: Record<string, string>, request: Request) {
  const { method, query = '', headers = {}, body } = request;
  const path = request.path.replace('{path}', 'src/a.ts').replace('{file}', 'page.js');
  const json: Record<string, string> =
    body === undefined ? {} : { 'content-type': 'application/json', accept: BOTH };
  const target = query === '' ? path : `${path}?${query}`;
  return await door.ask(method, target, { ...key, ...json, ...headers }, body && JSON.stringify(body));
}

const OTHERS = [
  ['agent_id', 'x-agent-id', 'bob'],
  ['agent_type', 'x-agent-type', 'gemini'],
  ['session_id', 'x-session-id', 'elsewhere'],
] as const;

/** An agent's key can come from the environment, from the store, or from a session, which alone binds the last name. */
async function alicesKeys(door: ApiDoor) {
  const stored = await door.key({ agent: 'alice', agent_type: 'codex' });
  const { body } = await door.post('/sessions/register', {}, withKey(ALICE));
  return [
    { kind: 'configured', key: withKey(ALICE), others: OTHERS.slice(0, 2) },
    { kind: 'stored', key: withKey(stored.key), others: OTHERS.slice(0, 2) },
    { kind: 'session', key: { authorization: `Bearer ${body.session_token}` }, others: OTHERS },
  ];
}

test('[HTTP-2] the key of one agent with the name of another in header, query or body: 403 on every route', async () => {
  await using door = await startApi();
  const asked = { header: 0, query: 0, body: 0 };
  const expectForbidden = async (
    key: Record<string, string>,
    place: keyof typeof asked,
    request: Request,
  ) => {
    const { status, text } = await ask(door, key, request);
    const what = `${place}: ${JSON.stringify(request)}`;
    assert.equal(status, 403, what);
    if (request.method !== 'HEAD') assert.match(text, /"error":"forbidden"/, what);
    asked[place] += 1;
  };
  // Health, the status of a lock, the documents and the signed webhook look at no key.
  const requests = everyRequest(door).filter(({ key }) => key !== 'none');
  const keys = await alicesKeys(door);
  const before = (await door.api.coxswain.store.read(door.api.coxswain.project, 0, 1000)).entries.length;
  for (const { key, others } of keys)
    for (const { method, path, operation } of requests)
      for (const [field, header, value] of others) {
        const isPost = method === 'POST';
        const sound: JsonObject = { ...soundInputs[operation?.name ?? ''] };
        const base = { method, path, ...(isPost ? { body: sound } : {}) };
        await expectForbidden(key, 'header', { ...base, headers: { [header]: value } });
        const isFree = operation !== undefined && FREE[field]?.includes(operation.name) === true;
        if (isPost || !isFree) await expectForbidden(key, 'query', { ...base, query: `${field}=${value}` });
        if (isPost && operation !== undefined && !isFree)
          await expectForbidden(key, 'body', { ...base, body: { ...sound, [field]: value } });
      }
  assert.equal(asked.header, (2 + 2 + 3) * requests.length);
  assert.ok(asked.query > asked.header - 50 && asked.body > 6 * operations.length, JSON.stringify(asked));
  const { entries } = await door.api.coxswain.store.read(door.api.coxswain.project, 0, 1000);
  // What a handler refuses leaves a row of the refusal; no request did anything.
  for (const { operation, agent_id, result, events } of entries.slice(before))
    assert.deepEqual([agent_id, result.error, events], ['alice', 'forbidden', []], operation);
});

test('[HTTP-2] no tool of /mcp lets the key of one agent act under the name of another', async () => {
  await using door = await startApi();
  await using client = await connectClient(`${door.url}/mcp`, {
    headers: withKey(ALICE),
    query: '?tools=all',
  });
  const { tools } = await client.client.listTools();
  assert.ok(tools.length > 50);
  for (const { name } of tools.filter(({ name }) => !FREE.agent_id?.includes(name))) {
    const { answer, isError } = await client.call(name, { ...soundInputs[name], agent_id: 'bob' });
    assert.ok(isError || answer.success === false, name);
    assert.match(String(answer.error), /^(forbidden|invalid_input)$/, name);
  }
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
});

test("[HTTP-2] a query that names the key's own agent, and one that a service sends, is no mistake", async () => {
  await using door = await startApi();
  for (const key of [ALICE, SERVICE]) {
    const { status } = await ask(door, withKey(key), {
      method: 'POST',
      path: '/locks/check',
      query: 'agent_id=alice',
      body: {},
    });
    assert.equal(status, 200);
  }
  const twice = { method: 'POST', path: '/locks/check', query: 'agent_id=alice&agent_id=bob', body: {} };
  assert.equal((await ask(door, withKey(ALICE), twice)).status, 403);
});
