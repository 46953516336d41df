import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { Agent, inFolder, temporaryFolder } from './crew.ts';

const DISK_BYTES = 2_000_000;
const LEFT_BYTES = 300_000;
const FILE_BLOCKS_MAX = 600; // of 512 bytes or 1 KB, by shell

/** Words that give a program a small disk of its own at `folder`, or undefined where that is not permitted. */
function smallDisk(folder: string): string[] | undefined {
  const through = [
    'unshare',
    '-rm',
    'sh',
    '-c',
    `mount -t tmpfs -o size=${DISK_BYTES} tmpfs ${folder} && exec "$@"`,
    'sh',
  ];
  return spawnSync(through[0] ?? '', [...through.slice(1), 'true']).status === 0 ? through : undefined;
}

async function fill(agent: Agent, operation_id: string): Promise<{ kept: string[]; refusal: JsonObject }> {
  const kept: string[] = [];
  for (let index = 0; ; index += 1) {
    assert.ok(index < 5000, 'the disk does not get full');
    const input = {
      file_path: `${index}.ts`,
      reason: 'x'.repeat(2000),
      operation_id: `${operation_id}-${index}`,
    };
    const answer = await agent.call('acquire_lock', input);
    if (answer.success !== true) return { kept, refusal: answer };
    kept.push(`${index}.ts`);
  }
}

async function listed(agent: Agent): Promise<string[]> {
  const answer = await agent.call('check_locks');
  assert.equal(answer.success, true, JSON.stringify(answer));
  return (answer.locks as JsonObject[]).map(({ file_path }) => String(file_path)).sort();
}

for (const store of ['sqlite:cox.db', 'files:.ai-workspace'])
  test(`[STORE-3] ${store}: a full disk: refused, nothing half written, and well again once there is space`, async (t) => {
    using folder = temporaryFolder();
    const through = smallDisk(folder.path);
    if (through === undefined) {
      t.diagnostic(
        'NO SMALL DISK: this user may not mount one; a limit on the size of files is used instead.',
      );
      return await fullByLimit(inFolder(store, folder.path));
    }
    // The disk lives as long as a process inside it: a shell there takes our orders, the agent runs beside it.
    using agent = new Agent({ store: inFolder(store, folder.path), agent_id: 'anna', through });
    assert.equal((await agent.call('acquire_lock', { file_path: 'first.ts' })).success, true);
    const inside = join('/proc', `${agent.pid}`, 'root', folder.path);
    const ballast = join(inside, 'ballast');
    writeFileSync(ballast, Buffer.alloc(DISK_BYTES - LEFT_BYTES - 200_000));
    const { kept, refusal } = await fill(agent, 'fill');
    assert.equal(refusal.error, 'disk_full', JSON.stringify(refusal));
    const expected = ['first.ts', ...kept].sort();
    assert.deepEqual(await listed(agent), expected);
    const next = {
      file_path: `${kept.length}.ts`,
      operation_id: `fill-${kept.length}`,
      reason: 'x'.repeat(2000),
    };
    assert.equal((await agent.call('acquire_lock', next)).error, 'disk_full');
    rmSync(ballast);
    assert.equal((await agent.call('acquire_lock', next)).action, 'acquired');
    assert.deepEqual(await listed(agent), [...expected, next.file_path].sort());
    await agent.close();
  });

async function fullByLimit(store: string): Promise<void> {
  const through = ['sh', '-c', `ulimit -f ${FILE_BLOCKS_MAX}; exec "$@"`, 'sh'];
  using agent = new Agent({ store, agent_id: 'anna', through });
  const { kept, refusal } = await fill(agent, 'fill');
  // A limit is no full disk to SQLite, only something that failed.
  assert.ok(['disk_full', 'database_unavailable'].includes(`${refusal.error}`), JSON.stringify(refusal));
  assert.deepEqual(await listed(agent), [...kept].sort());
  await agent.close();
  using free = new Agent({ store, agent_id: 'anna' });
  assert.deepEqual(await listed(free), [...kept].sort());
  const next = { file_path: `${kept.length}.ts`, operation_id: `fill-${kept.length}` };
  assert.equal((await free.call('acquire_lock', next)).action, 'acquired');
  await free.close();
}

for (const store of ['sqlite:cox.db', 'files:.ai-workspace'])
  test(`[STORE-3] ${store}: a limit on the size of files: refused, nothing half written`, async () => {
    using folder = temporaryFolder();
    await fullByLimit(inFolder(store, folder.path));
  });
