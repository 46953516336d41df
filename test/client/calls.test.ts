import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { scratch } from '../transports/support.ts';
import { deadUrl, KEY, proxy, serve } from './support.ts';

test('client: 200 calls at once share a few connections, and each gets its own answer', async () => {
  using place = scratch();
  await using server = await serve(place);
  await using between = await proxy(server, []);
  await using client = await connect({ url: between.url, api_key: KEY, agent_id: 'alice' });
  const paths = Array.from({ length: 200 }, (_, index) => `src/${index}.ts`);
  const answers = await Promise.all(paths.map((file_path) => client.acquireLock({ file_path })));
  assert.deepEqual(
    answers.map((answer) => answer.success && answer.file_path),
    paths,
  );
  assert.ok(between.connections <= 32, `${between.connections} connections`);
  const before = between.connections;
  for (const file_path of paths.slice(0, 20)) await client.releaseLock({ file_path });
  assert.equal(between.connections, before, 'connections are kept');
});

test('[LOCK-11] client: who waits holds up nobody else, and leaves the line when it gives up', async () => {
  using place = scratch();
  await using server = await serve(place);
  const where = { url: server.url, api_key: KEY };
  await using holder = await connect({ ...where, agent_id: 'holder' });
  await using client = await connect({ ...where, agent_id: 'alice' });
  await holder.acquireLock({ file_path: 'src/' });
  const inLine = async () => {
    const { waiting = [] } = (await holder.call('check_locks')) as { waiting?: JsonObject[] };
    return waiting.length;
  };
  const given_up = new AbortController();
  const wanted = Array.from({ length: 40 }, (_, index) => ({
    file_path: `src/${index}.ts`,
    wait_seconds: 60,
  }));
  const waiting = wanted.map((input) => client.acquireLock(input, { signal: given_up.signal }));
  await until(async () => (await inLine()) === 40);
  assert.equal((await client.heartbeat()).success, true);
  given_up.abort();
  for (const answer of await Promise.all(waiting)) {
    assert.equal(answer.success, false);
    assert.equal((answer as JsonObject).error, 'aborted');
    assert.match(String((answer as JsonObject).operation_id), /^[0-9a-f-]{36}$/);
  }
  await until(async () => (await inLine()) === 0);
  const never = (await client.acquireLock({ file_path: 'x.ts' }, { signal: given_up.signal })) as JsonObject;
  assert.deepEqual([never.error, never.operation_id], ['aborted', undefined], 'it was not even asked');
});

test('client: local calls say that they wait, and give up as well', async () => {
  using place = scratch();
  const where = { store: place.store, cwd: place.folder };
  await using holder = await connect({ ...where, agent_id: 'holder' });
  await using client = await connect({ ...where, agent_id: 'alice' });
  await holder.acquireLock({ file_path: 'a.ts' });
  const given_up = new AbortController();
  const answer = await client.acquireLock(
    { file_path: 'a.ts', wait_seconds: 60 },
    { signal: given_up.signal, onWaiting: () => given_up.abort() },
  );
  assert.deepEqual([answer.success, (answer as JsonObject).action], [false, 'blocked']);
});

test('client: an operation id of the caller’s own, on a store and on a server', async () => {
  using place = scratch();
  await using server = await serve(place);
  for (const where of [
    { store: place.store, cwd: place.folder },
    { url: server.url, api_key: KEY },
  ]) {
    await using client = await connect({ ...where, agent_id: 'alice' });
    const task = { task_type: 't', task_description: 'd' };
    const options = { operation_id: `once-${'url' in where}` };
    const first = await client.submitWork(task, options);
    assert.deepEqual(await client.submitWork(task, options), first);
    assert.equal((await client.listWork({}, options)).success, true);
  }
});

test('client: closing gives up what is under way, also between two tries', async () => {
  const pausing = Promise.withResolvers<void>();
  const clock = {
    ...systemClock,
    sleep: async (_duration_ms: number, signal?: AbortSignal) => {
      pausing.resolve();
      await systemClock.sleep(60_000, signal);
    },
  };
  const client = await connect({ url: await deadUrl(), agent_id: 'alice', clock });
  const under_way = client.heartbeat();
  await pausing.promise;
  await client.close();
  assert.equal(((await under_way) as JsonObject).error, 'aborted');
  assert.equal(((await client.heartbeat()) as JsonObject).error, 'aborted');
});

test('client: what is no operation or no JSON is refused without asking', async () => {
  await using client = await connect({ url: await deadUrl(), agent_id: 'alice' });
  for (const name of ['acquire_locks', '__proto__', 'constructor', ''])
    assert.equal((await client.call(name)).error, 'unknown_operation', name);
  const circle: JsonObject = {};
  circle.input_data = circle;
  assert.equal((await client.call('submit_work', circle)).error, 'invalid_input');
});
