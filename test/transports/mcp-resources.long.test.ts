import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { until } from '../support/until.ts';
import { type Revision, startEndpoint } from './mcp-support.ts';
import { finished, type Scratch, scratch, start as spawn, startMcp } from './support.ts';

interface Reader extends AsyncDisposable {
  readonly client: Client;
}

const TRANSPORTS = {
  async stdio(place: Scratch, revision: Revision): Promise<Reader> {
    return await startMcp(place, { modern: revision === 'modern', env: { AGENT_ID: 'reader' } });
  },
  async http(place: Scratch, revision: Revision): Promise<Reader> {
    const endpoint = await startEndpoint(place);
    const { client } = await endpoint.connect({ revision, headers: { 'x-agent-id': 'reader' } });
    return {
      client,
      async [Symbol.asyncDispose]() {
        await client.close();
        await endpoint[Symbol.asyncDispose]();
      },
    };
  },
};

/** Another agent on the same store, in a process of its own. */
async function writerOn(place: Scratch) {
  const mcp = await startMcp(place, { env: { AGENT_ID: 'writer' }, args: ['--tools', 'all'] });
  return {
    call: async (name: string, input: JsonObject = {}) => (await mcp.call(name, input)).answer,
    [Symbol.asyncDispose]: () => mcp[Symbol.asyncDispose](),
  };
}

async function read(client: Client, uri: string): Promise<JsonObject> {
  const { contents } = await client.readResource({ uri });
  const [content] = contents as { uri: string; mimeType?: string; text: string }[];
  assert.deepEqual([contents.length, content?.uri, content?.mimeType], [1, uri, 'application/json']);
  return JSON.parse(content?.text ?? '') as JsonObject;
}

/** Hears of the resources from now on, in the way of its revision. */
async function subscribe(client: Client, revision: Revision, ...uris: string[]) {
  const heard: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(params.uri);
  });
  if (revision === 'legacy') {
    for (const uri of uris) await client.subscribeResource({ uri });
    return {
      heard,
      end: async () => {
        for (const uri of uris) await client.unsubscribeResource({ uri });
      },
    };
  }
  const subscription = await client.listen({ resourceSubscriptions: uris });
  assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, uris);
  return { heard, end: () => subscription.close() };
}

for (const [name, start] of Object.entries(TRANSPORTS))
  for (const revision of ['modern', 'legacy'] as const) {
    test(`[MCP-2] ${name}, ${revision}: resources are listed and show what the operations answer`, async () => {
      using place = scratch();
      await using reader = await start(place, revision);
      await using writer = await writerOn(place);
      const { resources } = await reader.client.listResources();
      const expected = Object.entries({
        'locks://current': 'check_locks',
        'work://pending': 'list_work',
        'handoffs://recent': 'read_handoff',
        'profiles://current': 'get_my_profile',
        'audit://recent': 'query_audit',
      }).flatMap(([uri, operation]) => (operationsByName.has(operation) ? [uri] : []));
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        expected,
      );
      for (const resource of resources)
        assert.ok(resource.title && resource.description && resource.mimeType);
      await writer.call('acquire_lock', { file_path: 'src/a.ts', reason: 'a test' });
      await writer.call('submit_work', { task_type: 't', task_description: 'to be done' });
      assert.deepEqual(await read(reader.client, 'locks://current'), await writer.call('check_locks'));
      assert.deepEqual(await read(reader.client, 'work://pending'), await writer.call('list_work'));
      await assert.rejects(
        reader.client.readResource({ uri: 'locks://other' }),
        /locks:\/\/other|not found/i,
      );
    });

    test(`[MCP-2] ${name}, ${revision}: a subscription fires for what others commit, and only for that`, async () => {
      using place = scratch();
      await using reader = await start(place, revision);
      await using writer = await writerOn(place);
      const { heard, end } = await subscribe(reader.client, revision, 'locks://current', 'work://pending');
      await writer.call('acquire_lock', { file_path: 'src/a.ts' });
      await until(async () => heard.length > 0);
      assert.deepEqual(heard, ['locks://current']);
      // A refusal and a read change nothing; the task after them is the next to be heard of.
      await writer.call('release_lock', { file_path: 'never.ts' });
      await writer.call('check_locks');
      await writer.call('submit_work', { task_type: 't', task_description: 'd' });
      await until(async () => heard.includes('work://pending'));
      assert.deepEqual(heard, ['locks://current', 'work://pending']);
      await end();
      await writer.call('release_lock', { file_path: 'src/a.ts' });
      // Who listens anew hears of what comes, and of nothing before.
      const anew = await subscribe(reader.client, revision, 'work://pending');
      await writer.call('submit_work', { task_type: 't', task_description: 'd' });
      await until(async () => anew.heard.length > 0);
      assert.deepEqual([heard.length, anew.heard], [2, ['work://pending']]);
    });
  }

test('[MCP-2] unknown resources can’t be subscribed to; nobody hears of what it did not ask for', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using one = await endpoint.connect({ revision: 'legacy', headers: { 'x-agent-id': 'one' } });
  await using two = await endpoint.connect({ revision: 'legacy', headers: { 'x-agent-id': 'two' } });
  await assert.rejects(one.client.subscribeResource({ uri: 'locks://other' }));
  const locks = await subscribe(one.client, 'legacy', 'locks://current');
  const work = await subscribe(two.client, 'legacy', 'work://pending');
  await one.call('submit_work', { task_type: 't', task_description: 'd' });
  await two.call('acquire_lock', { file_path: 'a.ts' });
  await until(async () => locks.heard.length > 0 && work.heard.length > 0);
  assert.deepEqual([locks.heard, work.heard], [['locks://current'], ['work://pending']]);
});

test('[MCP-2] a storm of commits is told in a few words', async () => {
  using place = scratch();
  await using endpoint = await startEndpoint(place);
  await using reader = await endpoint.connect({ headers: { 'x-agent-id': 'reader' } });
  await using writer = await writerOn(place);
  const { heard } = await subscribe(reader.client, 'modern', 'locks://current', 'work://pending');
  const started_ms = Date.now();
  for (let round = 0; round < 100; round += 1) await writer.call('acquire_lock', { file_path: `f${round}` });
  const storm_ms = Date.now() - started_ms;
  await writer.call('submit_work', { task_type: 't', task_description: 'd' });
  await until(async () => heard.includes('work://pending'));
  const told = heard.filter((uri) => uri === 'locks://current').length;
  assert.ok(told >= 1 && told <= storm_ms / 250 + 3, `${told} in ${storm_ms} ms`);
});

test('[MCP-2] stdio: a client that listens and ends its input does not keep the server', async () => {
  using place = scratch();
  const child = spawn(['mcp', '--store', place.store], { cwd: place.folder });
  const ended = finished(child);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'by hand', version: '1' },
  };
  const params = { _meta, notifications: { resourceSubscriptions: ['locks://current'] } };
  child.stdin?.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params })}\n`,
  );
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  const started_ms = Date.now();
  child.stdin?.end();
  const { code, out } = await ended;
  assert.equal(code, 0);
  assert.match(out, /notifications\/subscriptions\/acknowledged/);
  assert.ok(Date.now() - started_ms < 4000, 'it waited for a listener to be answered');
});
