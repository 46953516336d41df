import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operations } from '../../src/runtime/operation-list.ts';
import { cox, finished, scratch, start, startMcp } from './support.ts';

const TOOL_LIST_BYTES_MAX = 12_000;

test('the tool list: standard ones by default, the rest by a flag, within 12 KB', async () => {
  using place = scratch();
  const names = async (args: string[]) => {
    await using mcp = await startMcp(place, { args, store: 'memory:' });
    const { tools } = await mcp.client.listTools();
    for (const tool of tools) {
      assert.equal(tool.inputSchema.type, 'object');
      assert.ok(tool.description);
    }
    return { names: tools.map(({ name }) => name), bytes: Buffer.byteLength(JSON.stringify(tools)), tools };
  };
  const standard = await names([]);
  assert.deepEqual(
    standard.names,
    operations.filter((operation) => operation.standard).map(({ name }) => name),
  );
  assert.ok(standard.bytes < TOOL_LIST_BYTES_MAX, `${standard.bytes} bytes`);
  assert.equal(standard.tools.find(({ name }) => name === 'check_locks')?.annotations?.readOnlyHint, true);
  assert.equal(
    standard.tools.find(({ name }) => name === 'acquire_lock')?.annotations?.destructiveHint,
    false,
  );
  const all = await names(['--tools', 'all']);
  assert.deepEqual(
    all.names,
    operations
      .filter(({ administers, personal }) => administers !== true && personal !== true)
      .map(({ name }) => name),
  );
  const some = await names(['--tools', 'lock']);
  assert.deepEqual(some.names, ['acquire_lock', 'release_lock', 'check_locks']);
  const wrong = await cox(['mcp', '--tools', 'lock,nonsense'], { cwd: place.folder });
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.err, /tools: expected standard, all or some of lock,work/);
});

test('an answer is structured and text; a refusal is a result, a mistake an error', async () => {
  using place = scratch();
  await using alice = await startMcp(place, { env: { AGENT_ID: 'alice' } });
  await using bob = await startMcp(place, { env: { AGENT_ID: 'bob' } });
  const taken = await alice.call('acquire_lock', { file_path: 'a.ts' });
  assert.deepEqual([taken.answer.action, taken.isError], ['acquired', false]);
  assert.deepEqual(JSON.parse(taken.text), taken.answer);
  const refused = await bob.call('acquire_lock', { file_path: 'a.ts' });
  assert.deepEqual([refused.answer.action, refused.isError], ['blocked', false]);
  const mistake = await bob.call('acquire_lock', { file: 'a.ts' });
  assert.deepEqual([mistake.answer.error, mistake.isError], ['invalid_input', true]);
  await assert.rejects(bob.call('aquire_lock', { file_path: 'a.ts' }), /Did you mean acquire_lock\?/);
  await assert.rejects(bob.call('renew_work', {}), /There is no tool/);
});

test('[LOCK-2] two clients without AGENT_ID are two agents, whichever revision they speak', async () => {
  using place = scratch();
  await using one = await startMcp(place, { name: 'claude-code', modern: true });
  await using two = await startMcp(place, { name: 'gemini\n\u001b[2J-cli' });
  assert.equal((await one.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'acquired');
  const refused = await two.call('acquire_lock', { file_path: 'a.ts' });
  assert.equal(refused.answer.action, 'blocked');
  assert.equal((await one.call('acquire_lock', { file_path: 'a.ts' })).answer.action, 'refreshed');
  await two.call('acquire_lock', { file_path: 'b.ts' });
  const { locks } = (await one.call('check_locks', {})).answer as { locks: JsonObject[] };
  assert.deepEqual(
    locks.map(({ agent_type }) => agent_type),
    ['claude-code', 'gemini[2J-cli'],
  );
  assert.equal(new Set(locks.map(({ locked_by }) => locked_by)).size, 2);
  assert.equal(new Set(locks.map(({ session_id }) => session_id)).size, 2);
});

test('identity from the environment; a wrong one is said at the start', async () => {
  using place = scratch();
  const env = { AGENT_ID: 'alice', AGENT_TYPE: 'codex', SESSION_ID: 's-1' };
  await using mcp = await startMcp(place, { env, name: 'other' });
  await mcp.call('acquire_lock', { file_path: 'a.ts' });
  const { locks } = (await mcp.call('check_locks', {})).answer as { locks: JsonObject[] };
  const [lock] = locks;
  assert.deepEqual([lock?.locked_by, lock?.agent_type, lock?.session_id], ['alice', 'codex', 's-1']);
  const wrong = await cox(['mcp', '--json'], { cwd: place.folder, env: { AGENT_ID: 'a\nb' } });
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.err, /agent_id: expected printable characters/);
});

test('[STORE-3] a store that is not there does not end the server; a later call finds it', async () => {
  using place = scratch();
  // A file where the folder of the store should be.
  const obstacle = join(place.folder, 'store');
  writeFileSync(obstacle, '');
  await using mcp = await startMcp(place);
  assert.ok((await mcp.client.listTools()).tools.length > 0);
  const { answer, isError } = await mcp.call('check_locks', {});
  assert.equal(isError, true);
  assert.equal(answer.success, false);
  assert.match(String(answer.error), /^(database_unavailable|store_\w+)$/);
  rmSync(obstacle);
  assert.deepEqual((await mcp.call('check_locks', {})).answer, { success: true, locks: [] });
});

const OPENING = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'script', version: '1' } },
};

const call = (id: number, name: string, args: JsonObject) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });

test('ends with its input, after answering what came in; only the protocol is on stdout', async () => {
  using place = scratch();
  const calls = Array.from({ length: 20 }, (_, index) =>
    call(index + 1, 'acquire_lock', { file_path: `f${index}` }),
  );
  const input = `${[JSON.stringify(OPENING), ...calls].join('\n')}\n`;
  const { code, out } = await cox(['mcp', '--store', place.store], { cwd: place.folder, input });
  assert.equal(code, 0);
  const answers = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  const ids = answers.map(({ id }) => id as number).sort((a, b) => a - b);
  assert.deepEqual(
    ids,
    Array.from({ length: 21 }, (_, index) => index),
  );
  for (const { jsonrpc, result } of answers) assert.ok(jsonrpc === '2.0' && result !== undefined);
});

test('SIGTERM ends it with exit code 0', async () => {
  using place = scratch();
  const child = start(['mcp', '--store', place.store], { cwd: place.folder });
  const ended = finished(child);
  child.stdin?.write(`${JSON.stringify(OPENING)}\n`);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  child.kill('SIGTERM');
  assert.deepEqual([(await ended).code, (await ended).signal], [0, null]);
});
