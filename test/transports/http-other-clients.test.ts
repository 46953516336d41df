import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { startApi, withKey } from './api.ts';

const KEY = 'a-key-that-is-bound-to-no-agent';

/** What the original server's client sends: a key, its default agent type, its own field names. No headers of ours. */
async function originalClient() {
  const door = await startApi({ env: { COORDINATION_API_KEYS: KEY } });
  const said: string[] = [];
  const read = (what: string, { status, body }: { status: number; body: JsonObject }) => {
    said.push(`${what} ${status}`);
    return body;
  };
  return {
    said,
    post: async (path: string, body: JsonObject) =>
      read(path, await door.post(path, { agent_type: 'claude_code', ...body }, withKey(KEY))),
    get: async (path: string) => read(path, await door.ask('GET', path, withKey(KEY))),
    [Symbol.asyncDispose]: () => door[Symbol.asyncDispose](),
  };
}

test('[HTTP-1] [HTTP-2] a client of the original server works as it is: an unbound key, claude_code, description', async () => {
  await using client = await originalClient();
  const { post, get } = client;
  const lock = await post('/locks/acquire', {
    file_path: 'src/a.ts',
    reason: 'refactoring',
    ttl_minutes: 30,
  });
  assert.deepEqual([lock.success, lock.action], [true, 'acquired']);
  const [held] = (await get('/locks/active')).locks as JsonObject[];
  assert.deepEqual(
    [held?.file_path, held?.locked_by, held?.agent_type],
    ['src/a.ts', 'cloud-agent', 'claude_code'],
  );
  assert.equal((await get('/locks/status/src/a.ts')).locked, true);
  assert.equal((await post('/locks/release', { file_path: 'src/a.ts' })).success, true);

  const submitted = await post('/work/submit', {
    task_type: 'test',
    description: 'run the tests',
    priority: 2,
  });
  assert.equal(submitted.success, true);
  const [waiting] = (await get('/work/queue')).pending as JsonObject[];
  assert.equal(waiting?.task_id, submitted.task_id);
  const claimed = await post('/work/claim', { task_types: ['test'] });
  assert.deepEqual([claimed.task_id, claimed.task_description], [submitted.task_id, 'run the tests']);
  const done = await post('/work/complete', {
    task_id: String(claimed.task_id),
    success: true,
    result: { ok: 1 },
  });
  assert.equal(done.success, true);

  assert.equal(
    (await post('/handoffs/write', { summary: 'all tests run', next_steps: ['land'] })).success,
    true,
  );
  const [handoff] = (await post('/handoffs/read', { limit: 1 })).handoffs as JsonObject[];
  assert.equal(handoff?.summary, 'all tests run');

  const ports = await post('/ports/allocate', { session_id: 'one' });
  assert.equal(ports.success, true);
  assert.equal((await get('/ports/status')).success, true);
  assert.equal((await post('/ports/release', { session_id: 'one' })).success, true);

  assert.equal(
    (await post('/guardrails/check', { operation_text: 'git push --force origin main' })).safe,
    false,
  );
  const profile = await get('/profiles/me');
  assert.equal(profile.agent_id, 'cloud-agent');
  assert.equal(
    (await post('/policy/check', { operation: 'write_file', resource: 'src/a.ts' })).allowed,
    true,
  );
  assert.ok(((await get('/audit?limit=5')).entries as JsonObject[]).length > 0);
  assert.equal((await get('/agents/discover')).success ?? true, true);
  assert.equal((await get('/health')).status, 'ok');
  const refused = client.said.filter((line) => !line.endsWith(' 200'));
  assert.deepEqual(refused, []);
});

test('[HTTP-1] submit_work under both names of its description is not guessed at', async () => {
  await using client = await originalClient();
  const both = { task_type: 'test', description: 'one', task_description: 'another' };
  assert.equal((await client.post('/work/submit', both)).field, 'description');
});

test('[HTTP-2] an unbound key that was configured may still name an agent, and no person', async () => {
  await using client = await originalClient();
  await client.post('/locks/acquire', { file_path: 'b.ts', agent_id: 'carl' });
  const [held] = (await client.get('/locks/active')).locks as JsonObject[];
  assert.equal(held?.locked_by, 'carl');
  const person = await client.post('/locks/acquire', { file_path: 'c.ts', agent_id: 'person:bob' });
  assert.equal(person.success, false);
});
