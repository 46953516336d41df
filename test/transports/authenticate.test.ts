import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { environmentKeys } from '../../src/transports/http/environment-keys.ts';
import { networkOf } from '../../src/transports/http/rate-limit.ts';
import { until } from '../support/until.ts';
import { ALICE, type ApiDoor, ENV, SERVICE, settableClock, startApi, withKey } from './api.ts';
import { cox, scratch } from './support.ts';

const acquire = { file_path: 'a.ts' };
const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const statusWith = async (door: ApiDoor, key: string) =>
  (await door.ask('GET', '/ready', withKey(key))).status;

test('[HTTP-2] a key in X-API-Key or as a bearer token; none, a wrong one or two different ones: 401', async () => {
  await using door = await startApi();
  const { key } = await door.key({ agent: 'bob' });
  const good = [
    withKey(ALICE),
    { authorization: `Bearer ${ALICE}` },
    { authorization: `bearer ${key}` },
    withKey(key),
  ];
  for (const headers of good) assert.equal((await door.post('/locks/check', {}, headers)).status, 200);
  const [, id] = key.split('_');
  const bad: Record<string, string>[] = [
    {},
    withKey(''),
    withKey('nonsense'),
    withKey(`${key}x`),
    withKey(key.replace('cox_', 'coxp_')),
    withKey(`cox_${id}_${'A'.repeat(43)}`),
    withKey(`cox_${'0'.repeat(12)}_${'A'.repeat(43)}`),
    withKey('coxs_made-up'),
    { authorization: 'Basic YTpi' },
    { authorization: `Bearer ${ALICE}`, 'x-api-key': SERVICE },
  ];
  for (const headers of bad) {
    const reply = await door.post('/locks/acquire', { ...acquire, agent_id: 'bob' }, headers);
    assert.deepEqual([reply.status, reply.body.error], [401, 'unauthorized'], JSON.stringify(headers));
    assert.match(String(reply.headers['www-authenticate']), /^Bearer/);
  }
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
});

test('[HTTP-2] a key bound to an agent acts as that agent; naming another anywhere is 403', async () => {
  await using door = await startApi({
    resolveSessionToken: async (token) =>
      token === 'coxs_1' ? { agent_id: 'carl', agent_type: 'claude', session_id: 's-1' } : undefined,
  });
  const { key } = await door.key({ agent: 'bob' });
  assert.equal((await door.post('/locks/acquire', acquire, withKey(ALICE))).status, 200);
  const [lock] = (await door.operator('check_locks', {})).locks as JsonObject[];
  assert.deepEqual([lock?.locked_by, lock?.agent_type], ['alice', 'codex']);
  const others: [string, JsonObject, Record<string, string>][] = [
    [ALICE, { agent_id: 'bob' }, {}],
    [ALICE, {}, { 'x-agent-id': 'bob' }],
    [ALICE, { agent_id: 'alice' }, { 'x-agent-id': 'bob' }],
    [ALICE, { agent_type: 'claude' }, {}],
    [ALICE, {}, { 'x-agent-type': 'claude' }],
    [key, { agent_id: 'alice' }, {}],
    [key, { agent_id: 'Bob' }, {}],
    ['coxs_1', { agent_id: 'alice' }, {}],
    ['coxs_1', { session_id: 's-2' }, {}],
    ['coxs_1', {}, { 'x-session-id': 's-2' }],
  ];
  for (const [used, body, headers] of others) {
    const reply = await door.post(
      '/work/submit',
      { task_type: 't', task_description: 'd', ...body },
      { ...withKey(used), ...headers },
    );
    assert.deepEqual([reply.status, reply.body.error], [403, 'forbidden'], JSON.stringify([body, headers]));
  }
  const same = { agent_id: 'carl', session_id: 's-1', file_path: 'c.ts' };
  assert.equal((await door.post('/locks/acquire', same, withKey('coxs_1'))).body.action, 'acquired');
  assert.deepEqual((await door.operator('list_work', {})).pending, []);
});

test('[HTTP-2] a service names any agent, but must name one to change anything', async () => {
  await using door = await startApi();
  const made = await door.key({ service: true, name: 'orchestrator' });
  const unnamed = await door.post('/locks/acquire', acquire, withKey(made.key));
  assert.deepEqual([unnamed.status, unnamed.body.field], [422, 'agent_id']);
  for (const agent_id of ['bob', 'carl'])
    assert.equal(
      (await door.post('/locks/acquire', { agent_id, file_path: agent_id }, withKey(made.key))).status,
      200,
    );
});

test('[HTTP-2] a revoked or expired key opens nothing two seconds later; until then it may', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const short = await door.key({ agent: 'bob', expires_days: 1 / 86_400 });
  const long = await door.key({ agent: 'bob' });
  assert.deepEqual([await statusWith(door, short.key), await statusWith(door, long.key)], [200, 200]);
  clock.forward_ms += 1_000;
  assert.deepEqual([await statusWith(door, short.key), await statusWith(door, long.key)], [401, 200]);
  await door.operator('revoke_key', { key_id: long.key_id });
  clock.forward_ms += 2_000;
  assert.equal(await statusWith(door, long.key), 401);
});

test('[HTTP-2] guessing: after twenty wrong keys 429, a key in use goes on, and time heals', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const known = await door.key({ agent: 'bob' });
  const unused = await door.key({ agent: 'carl' });
  assert.equal(await statusWith(door, known.key), 200);
  const guesses = await Promise.all(
    Array.from({ length: 50 }, (_, index) => statusWith(door, `guess-${index}`)),
  );
  assert.equal(guesses.filter((status) => status === 401).length, 20);
  const refused = await door.ask('GET', '/ready', withKey('guess'));
  assert.equal(refused.status, 429);
  assert.match(String(refused.headers['retry-after']), /^[1-3]$/);
  assert.equal(await statusWith(door, unused.key), 429, 'a right guess is not told from a wrong one');
  clock.forward_ms += 2_500;
  assert.equal(await statusWith(door, known.key), 200, 'whoever was here before is looked up again');
  clock.forward_ms += 3_000;
  assert.equal(await statusWith(door, unused.key), 200);
  assert.equal((await door.ask('GET', '/health')).status, 200);
});

test('[HTTP-2] guesses are counted by network: an IPv6 client has only one', () => {
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::9'));
  assert.notEqual(networkOf('2001:db8:1:2::9'), networkOf('2001:db8:1:3::9'));
  assert.equal(networkOf('::ffff:10.0.0.1'), '10.0.0.1');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('unknown'), 'unknown');
});

test('[HTTP-2] [STORE-3] without the store: known keys still count, new ones are 503 and not 401', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock });
  const known = await door.key({ agent: 'bob' });
  const unused = await door.key({ agent: 'carl' });
  assert.equal(await statusWith(door, known.key), 200);
  const { store } = door.api.coxswain;
  store.find = () => Promise.reject(new StoreFailure('database_unavailable', 'gone'));
  clock.forward_ms += 60_000;
  for (const [key, expected] of [
    [known.key, '/metrics 200'],
    [ALICE, '/metrics 200'],
    [unused.key, '/metrics 503'],
  ] as const)
    assert.equal(`/metrics ${(await door.ask('GET', '/metrics', withKey(key))).status}`, expected);
  assert.equal((await door.ask('GET', '/ready', withKey(known.key))).body.error, 'database_unavailable');
  clock.forward_ms += 600_000;
  assert.equal((await door.ask('GET', '/metrics', withKey(known.key))).status, 503, 'not for ever');
});

test('[HTTP-4] keys of the environment: comma separated, and bound by the identities', () => {
  const read = environmentKeys({ ...ENV, COORDINATION_API_KEYS: ` one , ${ALICE},two,, ` });
  assert.ok(read.ok);
  assert.deepEqual(
    read.keys.map(({ actor }) => actor?.agent_id),
    [undefined, 'alice', undefined],
  );
  assert.doesNotMatch(JSON.stringify(read.keys), /one|two|alice-key/);
  assert.deepEqual(environmentKeys({}), { ok: true, keys: [] });
});

test('[HTTP-4] a malformed variable stops the start by its name, and no key is printed', async () => {
  const wrong: Record<string, string>[] = [
    { COORDINATION_API_KEYS: 'good,se cret' },
    { COORDINATION_API_KEYS: 'secret\u001b[2J' },
    ...[
      '{"secret":',
      '["secret"]',
      '"secret"',
      'null',
      '{"secret":"alice"}',
      '{"secret":{}}',
      '{"se cret":{"agent_id":"a"}}',
    ].map((text) => ({ COORDINATION_API_KEY_IDENTITIES: text })),
    { COORDINATION_API_KEY_IDENTITIES: '{"secret":{"agent_id":"person:bob"}}' },
    { COORDINATION_API_KEY_IDENTITIES: '{"secret":{"agent_id":"a\\u001bb"}}' },
  ];
  for (const env of wrong) {
    const read = environmentKeys(env);
    assert.ok(!read.ok, JSON.stringify(env));
    assert.equal(read.refusal.field, Object.keys(env)[0]);
    assert.doesNotMatch(JSON.stringify(read.refusal), /se ?cret/);
  }
  using place = scratch();
  const { code, out, err } = await cox(['serve', '--port', '0', '--store', 'memory:'], {
    cwd: place.folder,
    env: { COORDINATION_API_KEY_IDENTITIES: '{"secret' },
  });
  assert.deepEqual([code, out], [2, '']);
  assert.match(err, /COORDINATION_API_KEY_IDENTITIES/);
  assert.doesNotMatch(err, /secret/);
});

test('[HTTP-2] a key that is revoked while its call waits: it leaves the line and is granted nothing, over MCP too', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock, vigil_ms: 20 });
  const { key, key_id } = await door.key({ agent: 'bob' });
  await door.post('/locks/acquire', acquire, withKey(ALICE));
  const wish = { ...acquire, wait_seconds: 60 };
  const refused = async (asked: Promise<unknown>) =>
    await assert.rejects(asked, /ECONNRESET|hang up|terminated|aborted/);
  const line = async () => (await door.operator('check_locks', {})).waiting as JsonObject[] | undefined;
  const theirs = door.post('/locks/acquire', { ...wish, agent_id: 'carl' }, withKey(SERVICE));
  const mine = door.post('/locks/acquire', wish, withKey(key));
  const over_mcp = door.post(
    '/mcp',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'acquire_lock', arguments: wish, _meta: MODERN },
    },
    {
      ...withKey(key),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'acquire_lock',
    },
  );
  const cut = Promise.all([refused(mine), refused(over_mcp)]);
  await until(async () => (await line())?.length === 3);
  await door.operator('revoke_key', { key_id });
  clock.forward_ms += 2_000;
  await cut;
  await until(async () => (await line())?.length === 1);
  await door.post('/locks/release', acquire, withKey(ALICE));
  assert.equal((await theirs).body.action, 'acquired', 'whose key is good goes on waiting');
  await door.post('/locks/release', { ...acquire, agent_id: 'carl' }, withKey(SERVICE));
  assert.deepEqual((await door.operator('check_locks', {})).locks, []);
});

test('[HTTP-2] however many calls wait with a key that is revoked: it is looked up once, and nobody beside them is taken for a guesser', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock, vigil_ms: 20 });
  const { key, key_id } = await door.key({ agent: 'bob' });
  const unused = await door.key({ agent: 'carl' });
  await door.post('/locks/acquire', acquire, withKey(ALICE));
  const waiting = Array.from({ length: 25 }, (_, index) =>
    door.post('/locks/acquire', { ...acquire, session_id: `s-${index}`, wait_seconds: 60 }, withKey(key)),
  );
  const cut = Promise.allSettled(waiting);
  const line = async () => (await door.operator('check_locks', {})).waiting as JsonObject[] | undefined;
  await until(async () => (await line())?.length === waiting.length);
  const { store } = door.api.coxswain;
  const find = store.find.bind(store);
  let looks = 0;
  await door.operator('revoke_key', { key_id });
  store.find = (project, needs) => {
    if (needs.keys?.some(({ kind }) => kind === 'api_key')) looks += 1;
    return find(project, needs);
  };
  clock.forward_ms += 2_000;
  assert.ok((await cut).every(({ status }) => status === 'rejected'));
  assert.ok(looks <= 1, `${looks} looks for one key`);
  assert.equal(await statusWith(door, unused.key), 200);
});
