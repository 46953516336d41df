// Processes that stand still longer than they may: SIGSTOP past a lease, and in the middle of a write.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { Agent, type AgentOptions, temporaryFolder } from './crew.ts';

const SHORT = 0.02; // minutes: the least a lease can last
/** With time ten times faster a lease of 1.2 s and a pause of 5 s before a retry take 0.6 s. */
const SPEED = 10;

async function stopPastLock(crew: Omit<AgentOptions, 'agent_id'>): Promise<void> {
  using sleeper = new Agent({ ...crew, agent_id: 'sleeper' });
  using other = new Agent({ ...crew, agent_id: 'other' });
  const file_path = 'src/a.ts';
  const first = await sleeper.call('acquire_lock', { file_path, ttl_minutes: SHORT });
  assert.equal(first.action, 'acquired');
  sleeper.signal('SIGSTOP');
  const second = await until(async () => {
    const answer = await other.call('acquire_lock', { file_path, ttl_minutes: 10 });
    return answer.success === true && answer;
  });
  assert.ok(Number(second.fencing_token) > Number(first.fencing_token));
  sleeper.signal('SIGCONT');
  const old = { file_path, fencing_token: first.fencing_token };
  for (const input of [{ file_path }, old]) {
    assert.equal((await sleeper.call('acquire_lock', input)).action, 'blocked');
    assert.equal((await sleeper.call('release_lock', input)).error, 'superseded');
  }
  await expectLock(other, 'other', second);
  await sleeper.close();
  await expectLock(other, 'other', second);
  await other.close();
}

async function expectLock(asker: Agent, locked_by: string, granted: JsonObject): Promise<void> {
  const { locks } = await asker.call('check_locks');
  const [lock] = locks as JsonObject[];
  assert.equal(lock?.locked_by, locked_by);
  assert.equal(lock?.fencing_token, granted.fencing_token);
}

async function stopPastClaim(crew: Omit<AgentOptions, 'agent_id'>): Promise<void> {
  using sleeper = new Agent({ ...crew, agent_id: 'sleeper' });
  using other = new Agent({ ...crew, agent_id: 'other' });
  const { task_id } = await other.call('submit_work', { task_type: 'test', task_description: 'sleep' });
  const first = await sleeper.call('get_work', { lease_minutes: SHORT });
  assert.equal(first.task_id, task_id);
  sleeper.signal('SIGSTOP');
  // The next caller that asks for work notices first that the claim ran out, and gets the task after a pause of five seconds.
  await until(async () => {
    assert.equal((await other.call('get_work')).reason, 'no_tasks_available');
    return (await other.call('show_work', { task_id })).status === 'delayed';
  });
  const second = await until(async () => {
    const answer = await other.call('get_work', { lease_minutes: 10 });
    return answer.success === true && answer;
  });
  assert.deepEqual([second.task_id, second.attempt], [task_id, 2]);
  sleeper.signal('SIGCONT');
  for (const input of [{ task_id }, { task_id, fencing_token: first.fencing_token }]) {
    assert.equal((await sleeper.call('renew_work', input)).error, 'superseded');
    assert.equal((await sleeper.call('complete_work', { ...input, success: false })).error, 'superseded');
  }
  await sleeper.close();
  assert.equal((await other.call('complete_work', { task_id, success: true })).status, 'completed');
  await other.close();
}

test('[LOCK-4] [LOCK-8] a holder stopped past its lease comes back and changes nothing (SQLite)', async () => {
  using folder = temporaryFolder();
  const clock = { base_ms: Date.now(), speed: SPEED };
  await stopPastLock({ store: `sqlite:${join(folder.path, 'cox.db')}`, clock });
});

test('[QUEUE-7] a worker stopped past its claim comes back and changes nothing (SQLite)', async () => {
  using folder = temporaryFolder();
  const clock = { base_ms: Date.now(), speed: SPEED };
  await stopPastClaim({ store: `sqlite:${join(folder.path, 'cox.db')}`, clock });
});

test('[LOCK-8] [QUEUE-7] a process stopped past its lease comes back and changes nothing (PostgreSQL)', async () => {
  const [one, two] = await Promise.all([testDatabase(), testDatabase()]);
  try {
    await Promise.all([stopPastLock({ store: one.url }), stopPastClaim({ store: two.url })]);
  } finally {
    await Promise.all([one.drop(), two.drop()]);
  }
});

/** Another program that sits in the file's write lock. */
async function startSitter(path: string) {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(${JSON.stringify(path)});
    database.exec('BEGIN IMMEDIATE');
    console.log('sits');
    process.stdin.once('data', () => { database.exec('ROLLBACK'); process.exit(0); });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

for (const end of ['SIGCONT', 'SIGKILL'] as const) {
  test(`[STORE-3] a process stopped inside the write lock: unavailable quickly, well again after ${end}`, async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, 'cox.db');
    using agent = new Agent({ store: `sqlite:${path}`, agent_id: 'anna' });
    assert.equal((await agent.call('acquire_lock', { file_path: 'before.ts' })).success, true);
    const sitter = await startSitter(path);
    sitter.kill('SIGSTOP');
    const operation_id = 'the-same';
    const refused = await agent.timedCall('acquire_lock', { file_path: 'a.ts', operation_id });
    assert.equal(refused.answer.error, 'database_unavailable');
    assert.ok(refused.elapsed_ms < 2500, `${refused.elapsed_ms} ms`);
    // Who only reads, and who comes new, is not kept out.
    const reading = await agent.timedCall('check_locks');
    assert.equal(reading.answer.success, true);
    using newcomer = new Agent({ store: `sqlite:${path}`, agent_id: 'bert' });
    assert.equal((await newcomer.call('check_locks')).success, true);
    sitter.kill(end);
    if (end === 'SIGCONT') sitter.stdin.write('go\n');
    await once(sitter, 'exit');
    assert.equal((await agent.call('acquire_lock', { file_path: 'a.ts', operation_id })).action, 'acquired');
    await Promise.all([agent.close(), newcomer.close()]);
  });
}
