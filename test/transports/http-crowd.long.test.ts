import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { startApi } from './api.ts';
import { exchange } from './support.ts';

const CLIENTS = 1000;

test('[HTTP-2] a thousand clients at once, each with its own key and connection: every answer reaches its own', async () => {
  const names = Array.from({ length: CLIENTS }, (_, index) => `agent-${index}`);
  const identities = Object.fromEntries(names.map((agent_id) => [`key-of-${agent_id}`, { agent_id }]));
  const env = { COORDINATION_API_KEY_IDENTITIES: JSON.stringify(identities) };
  await using door = await startApi({ env });
  const client = async (name: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'x-api-key': `key-of-${name}`, 'content-type': 'application/json' };
    const post = async (path: string, body: JsonObject) =>
      (await exchange(agent, door.url, 'POST', path, JSON.stringify(body), headers)).body;
    try {
      const file_path = `src/${name}.ts`;
      const acquired = await post('/locks/acquire', { file_path });
      assert.deepEqual([acquired.action, acquired.file_path], ['acquired', file_path]);
      const taken = await post('/locks/acquire', { file_path: 'src/shared.ts' });
      const { locks } = await post('/locks/check', { file_paths: [file_path] });
      assert.deepEqual(
        (locks as JsonObject[]).map((lock) => [lock.file_path, lock.locked_by]),
        [[file_path, name]],
      );
      assert.equal((await post('/locks/release', { file_path })).released, true);
      return taken.action;
    } finally {
      agent.destroy();
    }
  };
  const outcomes = await Promise.all(names.map(client));
  assert.equal(outcomes.filter((action) => action === 'acquired').length, 1);
  assert.equal(outcomes.filter((action) => action === 'blocked').length, CLIENTS - 1);
});
