// Subscriptions are driven by the log and so by the store: the same on PostgreSQL, between processes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startEndpoint } from './mcp-support.ts';
import { scratch, startMcp } from './support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

test('[MCP-2] PostgreSQL: what a process commits, subscribers of other processes hear of', async () => {
  using place = scratch();
  const store = database.url;
  await using endpoint = await startEndpoint(place, { store });
  await using listening = await endpoint.connect({ headers: { 'x-agent-id': 'listener' } });
  await using subscribed = await startMcp(place, { store, env: { AGENT_ID: 'subscriber' } });
  await using writer = await startMcp(place, { store, env: { AGENT_ID: 'writer' } });
  const heard: string[] = [];
  for (const { client } of [listening, subscribed])
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri);
    });
  await listening.client.listen({ resourceSubscriptions: ['locks://current'] });
  await subscribed.client.subscribeResource({ uri: 'work://pending' });
  assert.equal(
    (await writer.call('submit_work', { task_type: 't', task_description: 'd' })).answer.success,
    true,
  );
  await until(async () => heard.length === 1);
  assert.equal((await writer.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'acquired');
  await until(async () => heard.length === 2);
  assert.deepEqual(heard, ['work://pending', 'locks://current']);
});
