import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { secretHash } from '../../src/kernel/secret.ts';
import { until } from '../support/until.ts';
import { startApi, withKey } from './api.ts';
import { cox, scratch, startHttp, startMcp } from './support.ts';

const json = (out: string) => JSON.parse(out) as JsonObject;

test('[HTTP-2] cox key: made once, listed without it, revoked; the running server follows', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const run = async (...words: string[]) => {
    const { out } = await cox(['key', ...words, '--json', '--store', place.store], { cwd: place.folder });
    return json(out);
  };
  const { key, key_id } = await run(
    'create',
    '--agent',
    'alice',
    '--agent-type',
    'codex',
    '--expires-days',
    '90',
  );
  assert.match(String(key), new RegExp(`^cox_${key_id}_[\\w-]{43}$`));
  const acquired = await http.post('/locks/acquire', { file_path: 'a.ts' }, withKey(String(key)));
  assert.deepEqual([acquired.status, acquired.body.action], [200, 'acquired']);
  const [lock] = (await http.post('/locks/check', {})).body.locks as JsonObject[];
  assert.deepEqual([lock?.locked_by, lock?.agent_type], ['alice', 'codex']);
  const listed = await run('list');
  assert.deepEqual(
    (listed.keys as JsonObject[]).map(({ key_id: id, agent_id, role }) => [id, agent_id, role]),
    [[key_id, 'alice', 'agent']],
  );
  assert.equal((await run('revoke', String(key_id))).status, 'revoked');
  assert.deepEqual((await run('list')).keys, []);
  const stillOpens = async () => (await http.send('GET', '/ready', undefined, withKey(String(key)))).status;
  await until(async () => (await stillOpens()) === 401);
});

test('[HTTP-2] the secret is in no file of the store and in no row; only its hash is kept', async () => {
  using place = scratch();
  const operator = await connect({ store: place.store, cwd: place.folder, agent_id: 'operator' });
  const { key } = await operator.call('create_key', { person: 'bob', operation_id: 'once' });
  const [, , ...rest] = String(key).split('_');
  const secret = rest.join('_');
  await operator.call('list_keys', { all: true });
  await operator.close();
  const folder = join(place.folder, 'store');
  const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name)))).toString(
    'latin1',
  );
  assert.ok(secret.length === 43 && bytes.includes('key_created'));
  assert.ok(!bytes.includes(secret), 'the secret itself was written');
  assert.ok(bytes.includes(secretHash(secret)));
});

test('[HTTP-2] the same operation id again neither shows the key a second time nor makes another', async () => {
  using place = scratch();
  const operator = await connect({ store: place.store, cwd: place.folder, agent_id: 'operator' });
  try {
    const call = () => operator.call('create_key', { agent: 'alice', operation_id: 'k' });
    const first = await call();
    assert.equal(typeof first.key, 'string');
    const second = await call();
    assert.equal(second.key_id, first.key_id);
    assert.equal(second.key, undefined);
    assert.match(String(second.message), /only once/);
    assert.equal(((await operator.call('list_keys')).keys as unknown[]).length, 1);
  } finally {
    await operator.close();
  }
});

test('[HTTP-2] keys are no agent’s business: neither over HTTP nor over MCP; a person’s they are', async () => {
  await using door = await startApi();
  const agent = await door.key({ agent: 'alice' });
  const service = await door.key({ service: true });
  const person = await door.key({ person: 'bob' });
  for (const [path, body] of [
    ['/keys/create', { agent: 'eve' }],
    ['/keys/list', {}],
    ['/keys/revoke', { key_id: agent.key_id }],
  ] as const) {
    for (const { key } of [agent, service]) {
      const reply = await door.post(path, body, {
        ...withKey(key),
        ...(key === service.key ? { 'x-agent-id': 'a' } : {}),
      });
      assert.deepEqual([reply.status, reply.body.error], [403, 'forbidden'], path);
    }
    assert.equal((await door.post(path, body, withKey(person.key))).status, 200, path);
  }
  using place = scratch();
  await using mcp = await startMcp(place, { args: ['--tools', 'all'] });
  const { tools } = await mcp.client.listTools();
  assert.deepEqual(
    tools.filter(({ name }) => name.includes('key')),
    [],
  );
});

test('[HTTP-2] nobody looks like a person without being one, at any door', async () => {
  using place = scratch();
  for (const identity of [{ agent_id: 'person:bob' }, { agent_id: 'Person:Bob' }, { agent_type: 'person' }]) {
    const flags = Object.entries(identity).flatMap(([name, value]) => [
      name === 'agent_id' ? '--agent' : '--agent-type',
      value,
    ]);
    const typed = await cox(['lock', 'check', '--json', ...flags, '--store', 'memory:'], {
      cwd: place.folder,
    });
    assert.deepEqual([typed.code, json(typed.out).error], [2, 'invalid_input']);
    const served = await cox(['mcp', ...flags, '--store', 'memory:'], { cwd: place.folder });
    assert.equal(served.code, 2, 'MCP');
    const coxswain = await open({ store: 'memory:' });
    assert.throws(() => coxswain.connect(identity), /person/);
    await coxswain.close();
  }
  await using mcp = await startMcp(place, { name: 'person', store: 'memory:' });
  assert.equal(
    (await mcp.call('check_locks', {})).answer.success,
    true,
    'a client of that name is just a client',
  );
  await using door = await startApi();
  const { key } = await door.key({ service: true });
  for (const body of [
    { agent_id: 'person:bob', file_path: 'a' },
    { agent_id: 'x', agent_type: 'person', file_path: 'a' },
    { agent_id: '\uff50erson:bob', file_path: 'a' },
  ])
    assert.equal((await door.post('/locks/acquire', body, withKey(key))).status, 422);
  for (const input of [{ agent: 'person:bob' }, { agent: 'x', agent_type: 'Person' }, { agent: 'a\u202eb' }])
    assert.equal((await door.operator('create_key', input)).error, 'invalid_input');
  const person = await door.key({ person: 'bob' });
  await door.post('/locks/acquire', { file_path: 'a.ts' }, withKey(person.key));
  const [lock] = (await door.operator('check_locks', {})).locks as JsonObject[];
  assert.deepEqual([lock?.locked_by, lock?.agent_type], ['person:bob', 'person']);
});
