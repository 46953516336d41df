import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { cox, type HttpDoor, type McpDoor, type Scratch, scratch, startHttp, startMcp } from './support.ts';

/** A load and a commit may each wait out their two seconds, on a machine that is busy with other tests. */
const ANSWER_MS_MAX = 6000;

/** Each door's own way to say yes, no, or that the store can not be asked. */
interface Said {
  readonly sign: unknown;
  readonly answer: JsonObject;
}

function askDoors(scratched: Scratch, http: HttpDoor, mcp: McpDoor) {
  const input = { file_path: 'a.ts' };
  return {
    async http(): Promise<Said> {
      const { status, body } = await http.post('/locks/acquire', input, { 'x-agent-id': 'ann' });
      return { sign: status, answer: body };
    },
    async mcp(): Promise<Said> {
      const { isError, answer } = await mcp.call('acquire_lock', input);
      return { sign: isError, answer };
    },
    async cli(): Promise<Said> {
      const words = ['lock', 'acquire', 'a.ts', '--json', '--agent', 'ann', '--store', scratched.store];
      const { code, out } = await cox(words, { cwd: scratched.folder });
      return { sign: code, answer: JSON.parse(out) as JsonObject };
    },
  };
}

const WORKING = { http: 200, mcp: false, cli: 0 };
const AWAY = { http: 503, mcp: true, cli: 4 };

type Doors = ReturnType<typeof askDoors>;

async function expectAway(doors: Doors, codes: readonly string[]): Promise<void> {
  for (const [name, ask] of Object.entries(doors)) {
    const started_ms = performance.now();
    const { sign, answer } = await ask();
    const took_ms = performance.now() - started_ms;
    assert.equal(sign, AWAY[name as keyof Doors], `${name}: ${JSON.stringify(answer)}`);
    assert.ok(codes.includes(String(answer.error)), `${name}: ${JSON.stringify(answer)}`);
    assert.ok(took_ms < ANSWER_MS_MAX, `${name} took ${took_ms} ms`);
  }
}

async function expectWorking(doors: Doors): Promise<void> {
  for (const [name, ask] of Object.entries(doors))
    await until(async () => {
      const { sign, answer } = await ask();
      return sign === WORKING[name as keyof Doors] && answer.success === true;
    });
}

test('[STORE-3] postgres away: every door says database_unavailable, and the same processes go on once it is back', async () => {
  const server = await startPostgres({ fsync: false });
  using folder = scratch();
  try {
    const scratched = { ...folder, store: await server.createDatabase() };
    await using http = await startHttp(scratched);
    await using mcp = await startMcp(scratched, { env: { AGENT_ID: 'ann' } });
    const doors = askDoors(scratched, http, mcp);
    await expectWorking(doors);
    await server.kill('SIGINT');
    await expectAway(doors, ['database_unavailable']);
    assert.equal((await http.send('GET', '/ready')).status, 503);
    assert.equal((await http.send('GET', '/health')).status, 200);
    await server.restart();
    await expectWorking(doors);
    assert.equal((await http.send('GET', '/ready')).status, 200);
  } finally {
    await server.stop();
  }
});

test('[STORE-3] sqlite file moved away: every door refuses, and the same processes go on once it is back', async () => {
  using scratched = scratch();
  await using http = await startHttp(scratched);
  await using mcp = await startMcp(scratched, { env: { AGENT_ID: 'ann' } });
  const doors = askDoors(scratched, http, mcp);
  await expectWorking(doors);
  const store = join(scratched.folder, 'store');
  renameSync(store, `${store}-away`);
  // A folder of that name that can't be one: or the command line would start a store of its own there.
  writeFileSync(store, '');
  await expectAway(doors, ['store_unusable', 'store_moved']);
  rmSync(store);
  renameSync(`${store}-away`, store);
  await expectWorking(doors);
});

test('[STORE-3] sqlite that can not be opened when the server starts: MCP answers, and finds it later', async () => {
  using scratched = scratch();
  const store = join(scratched.folder, 'store');
  writeFileSync(store, '');
  await using mcp = await startMcp(scratched);
  const refused = await mcp.call('acquire_lock', { file_path: 'a.ts' });
  assert.equal(refused.isError, true);
  assert.equal(refused.answer.error, 'store_unusable');
  rmSync(store);
  mkdirSync(store);
  const granted = await mcp.call('acquire_lock', { file_path: 'a.ts' });
  assert.equal(granted.answer.success, true);
});
