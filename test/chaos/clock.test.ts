import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { temporaryFolder } from './crew.ts';
import { leaseFaults, readLog } from './log-check.ts';

const HOUR_MS = 3600_000;

async function twoAgents(path: string) {
  let shift_ms = 0;
  const clock: Clock = { ...systemClock, now_ms: () => Date.now() + shift_ms };
  const coxswain = await open({ store: `sqlite:${path}`, clock });
  const agent = (agent_id: string) => {
    const connection = coxswain.connect({ agent_id });
    return (name: string, input: JsonObject = {}): Promise<JsonObject> => {
      const operation = operationsByName.get(name);
      assert.ok(operation);
      return connection.perform(operation, input);
    };
  };
  const jump = (by_ms: number) => {
    shift_ms += by_ms;
  };
  return { coxswain, anna: agent('anna'), bert: agent('bert'), jump };
}

test('[LOCK-8] the clock jumps back an hour: tokens still grow and nobody holds twice', async () => {
  using folder = temporaryFolder();
  const { coxswain, anna, bert, jump } = await twoAgents(join(folder.path, 'cox.db'));
  const first = await anna('acquire_lock', { file_path: 'a.ts', ttl_minutes: 10 });
  jump(-HOUR_MS);
  assert.equal((await bert('acquire_lock', { file_path: 'a.ts' })).action, 'blocked');
  assert.equal((await anna('release_lock', { file_path: 'a.ts' })).success, true);
  const second = await bert('acquire_lock', { file_path: 'a.ts' });
  assert.ok(Number(second.fencing_token) > Number(first.fencing_token));
  const stale = { file_path: 'a.ts', fencing_token: first.fencing_token };
  assert.equal((await anna('release_lock', stale)).error, 'superseded');
  assert.deepEqual(leaseFaults(await readLog(coxswain.store)), []);
  await coxswain.close();
});

test('[LOCK-3] the clock jumps forwards and back: the lease that ran out meanwhile stays out', async () => {
  using folder = temporaryFolder();
  const { coxswain, anna, bert, jump } = await twoAgents(join(folder.path, 'cox.db'));
  const first = await anna('acquire_lock', { file_path: 'a.ts', ttl_minutes: 10 });
  jump(HOUR_MS);
  const second = await bert('acquire_lock', { file_path: 'a.ts', ttl_minutes: 10 });
  assert.equal(second.action, 'acquired');
  jump(-2 * HOUR_MS);
  // By the clock anna's time has come back; the grant has not.
  assert.equal((await anna('release_lock', { file_path: 'a.ts' })).error, 'superseded');
  assert.equal((await anna('acquire_lock', { file_path: 'a.ts' })).action, 'blocked');
  assert.equal((await bert('release_lock', { file_path: 'a.ts' })).success, true);
  const third = await anna('acquire_lock', { file_path: 'a.ts' });
  assert.ok(Number(third.fencing_token) > Number(second.fencing_token));
  assert.ok(Number(second.fencing_token) > Number(first.fencing_token));
  assert.deepEqual(leaseFaults(await readLog(coxswain.store)), []);
  await coxswain.close();
});

test('[QUEUE-6] [QUEUE-7] the clock jumps while a task is claimed: one holder at a time', async () => {
  using folder = temporaryFolder();
  const { coxswain, anna, bert, jump } = await twoAgents(join(folder.path, 'cox.db'));
  const { task_id } = await anna('submit_work', { task_type: 'test', task_description: 'jump' });
  const first = await anna('get_work', { lease_minutes: 10 });
  jump(-HOUR_MS);
  assert.equal((await bert('get_work')).reason, 'no_tasks_available');
  jump(2 * HOUR_MS);
  // The first look notices that the claim ran out; after the pause before a retry it is handed out again.
  assert.equal((await bert('get_work')).reason, 'no_tasks_available');
  jump(60_000);
  const second = await bert('get_work', { lease_minutes: 10 });
  assert.equal(second.task_id, task_id);
  assert.equal(second.attempt, 2);
  jump(-3 * HOUR_MS);
  assert.equal((await anna('complete_work', { task_id, success: true })).error, 'superseded');
  const stale = { task_id, success: true, fencing_token: first.fencing_token };
  assert.equal((await anna('complete_work', stale)).error, 'superseded');
  assert.equal((await bert('complete_work', { task_id, success: true })).status, 'completed');
  assert.deepEqual(leaseFaults(await readLog(coxswain.store)), []);
  await coxswain.close();
});
