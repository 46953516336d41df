import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { connect, open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { doors } from '../../transports/doors.ts';
import { cox, type Scratch, scratch, startHttp, startMcp, stateFolder } from '../../transports/support.ts';

const AWAY = 'postgres://nobody@127.0.0.1:1/x';

function blockOf(answer: JsonObject): JsonObject {
  assert.equal(answer.success, true, JSON.stringify(answer));
  return answer.allocation as JsonObject;
}

test('[PORT-5] the command never asks the configured store, and makes no default one', async () => {
  using place = scratch();
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.destroy();
  }).listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = (words: string[], env: Record<string, string> = {}) => cox(words, { cwd: place.folder, env });
  for (const store of [`postgres://nobody@127.0.0.1:${port}/x`, AWAY, 'nonsense:', ''])
    for (const words of [['allocate', 'w'], ['status'], ['release', 'w']]) {
      const { code, out } = await run(['port', ...words, '--json'], { COX_STORE: store });
      assert.deepEqual(
        [code, (JSON.parse(out) as JsonObject).success],
        [0, true],
        `${store} ${words} ${out}`,
      );
    }
  assert.equal(asked, 0);
  assert.ok(!existsSync(`${place.folder}/.coxswain`));
  server.close();
});

test('[PORT-1] what the command prints for people can be evaluated by a shell, and names the session in the table', async () => {
  using place = scratch();
  const allocated = await cox(['port', 'allocate', 'tree "$(x)'], { cwd: place.folder });
  assert.equal(allocated.out.match(/^export [A-Z_]+=\S+$/gm)?.length, 6, allocated.out);
  const { out } = await cox(['port', 'status'], { cwd: place.folder });
  assert.match(out, /session id +db port/);
  assert.match(out, /tree "\$\(x\) +\d+/);
});

test('[PORT-5] MCP: ports while the store is away, in the default list; all else says so', async () => {
  using place = scratch();
  await using mcp = await startMcp(place, { store: AWAY });
  const { tools } = await mcp.client.listTools();
  const offered = tools.map(({ name }) => name).filter((name) => name.includes('ports'));
  assert.deepEqual(offered, ['allocate_ports', 'release_ports', 'ports_status']);
  const block = blockOf((await mcp.call('allocate_ports', { session_id: 'worktree-1' })).answer);
  assert.equal(block.rest_port, (block.db_port as number) + 1);
  const [listed] = (await mcp.call('ports_status', {})).answer.allocations as JsonObject[];
  assert.deepEqual([listed?.session_id, listed?.db_port], ['worktree-1', block.db_port]);
  assert.equal((await mcp.call('release_ports', { session_id: 'worktree-1' })).answer.released, true);
  assert.equal((await mcp.call('acquire_lock', { file_path: 'a.ts' })).answer.error, 'database_unavailable');
  const wrong = await mcp.call('allocate_ports', { session_id: 'a\u202eb' });
  assert.deepEqual([wrong.answer.field, wrong.isError], ['session_id', true]);
});

test('[PORT-5] HTTP: ports after the store has gone; the status for whoever asks', async () => {
  using place = scratch();
  await using http = await startHttp(place);
  const as = { 'x-agent-id': 'alice', 'idempotency-key': 'any' };
  assert.equal((await http.post('/locks/acquire', { file_path: 'a.ts' }, as)).status, 200);
  rmSync(dirname(place.store.slice('sqlite:'.length)), { recursive: true });
  assert.equal(
    (await http.post('/locks/acquire', { file_path: 'b.ts' }, { 'x-agent-id': 'alice' })).status,
    503,
  );
  const allocated = await http.post('/ports/allocate', { session_id: 'worktree-1' }, as);
  assert.equal(allocated.status, 200, allocated.text);
  const block = blockOf(allocated.body);
  const status = await http.send('GET', '/ports/status');
  assert.equal(status.status, 200, status.text);
  assert.deepEqual(
    (status.body.allocations as JsonObject[]).map(({ session_id, db_port }) => [session_id, db_port]),
    [['worktree-1', block.db_port]],
  );
  for (const body of [{}, { session_id: '' }, { session_id: 7 }]) {
    const missing = await http.post('/ports/allocate', body, as);
    assert.deepEqual([missing.status, missing.body.field], [422, 'session_id']);
  }
  const released = await http.post('/ports/release', { session_id: 'worktree-1' }, as);
  assert.deepEqual([released.status, released.body], [200, { success: true, released: true }]);
  assert.equal((await http.send('DELETE', '/ports/status')).status, 405);
});

test('[PORT-5] library: without any store, and all doors see one another’s allocations', async () => {
  using place = scratch();
  const env = { COX_STATE_DIR: stateFolder(place.folder) };
  const client = await connect({ store: 'none:', cwd: place.folder, env });
  const block = blockOf(await client.call('allocate_ports', { session_id: 'from a program' }));
  assert.equal((await client.call('check_locks')).error, 'database_unavailable');
  const { out } = await cox(['port', 'allocate', 'from a shell', '--json'], { cwd: place.folder });
  const other = blockOf(JSON.parse(out) as JsonObject);
  assert.notEqual(other.db_port, block.db_port);
  assert.equal(((await client.call('ports_status')).allocations as JsonObject[]).length, 2);
  await client.close();
});

async function rowsOf({ store, folder }: Scratch): Promise<string[]> {
  const coxswain = await open({ store, cwd: folder });
  try {
    const { entries } = await coxswain.store.read(coxswain.project, 0, 1000);
    return entries.map(({ operation, parameters, result }) =>
      [operation, parameters.session_id, result.success, result.error]
        .filter((part) => part !== undefined)
        .join(' '),
    );
  } finally {
    await coxswain.close();
  }
}

for (const name of ['library', 'http', 'mcp'] as const)
  test(`[PORT-5] ${name}: with the store open each call leaves its row`, async () => {
    using place = scratch();
    {
      await using door = await doors[name](place);
      const alice = await door.agent('alice');
      await alice.call('check_locks');
      await alice.call('allocate_ports', { session_id: 'w' });
      await alice.call('allocate_ports', { session_id: '' });
      await alice.call('release_ports', { session_id: 'w' });
      await alice.call('ports_status');
    }
    assert.deepEqual(await rowsOf(place), [
      'touch_session true',
      'check_locks true',
      'allocate_ports w true',
      'allocate_ports false invalid_input',
      'release_ports w true',
      'ports_status true',
    ]);
  });

for (const words of [['port', 'allocate', 'w'], ['port', 'status'], ['serve', '--port', '0'], ['mcp']])
  test(`[PORT-4] cox ${words.join(' ')}: settings that cannot be used end it at once with exit code 2`, async () => {
    using place = scratch();
    for (const [variable, value, minimum] of [
      ['PORT_ALLOC_BASE', '1000', '1024'],
      ['PORT_ALLOC_RANGE', '3', '4'],
    ] as const) {
      const env = { [variable]: value, COX_STORE: place.store };
      const { code, out, err } = await cox(words, { cwd: place.folder, env });
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, new RegExp(`${variable}: expected .* at least ${minimum} .* not "${value}"`));
    }
    assert.ok(!existsSync(stateFolder(place.folder)), 'nothing was begun');
  });

test('[PORT-4] [PORT-2] the settings reach the allocations: twenty thousand, fifty apart, two of them', async () => {
  using place = scratch();
  const env = { PORT_ALLOC_BASE: '20000', PORT_ALLOC_RANGE: '50', PORT_ALLOC_MAX_SESSIONS: '2' };
  const allocate = async (session: string) => {
    const { code, out } = await cox(['port', 'allocate', session, '--json'], { cwd: place.folder, env });
    const { allocation, error } = JSON.parse(out) as { allocation?: JsonObject; error?: string };
    return [code, allocation?.db_port ?? error];
  };
  assert.deepEqual(await allocate('one'), [0, 20_000]);
  assert.deepEqual(await allocate('two'), [0, 20_050]);
  assert.deepEqual(await allocate('three'), [1, 'no_ports_available']);
  assert.deepEqual(await allocate('one'), [0, 20_000]);
});
