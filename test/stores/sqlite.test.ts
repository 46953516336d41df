import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { folderFailure, storeFailure } from '../../src/stores/sqlite/errors.ts';
import { Statements } from '../../src/stores/sqlite/statements.ts';
import { agent } from '../conformance/engine.ts';
import { until } from '../support/until.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function fresh(clock?: Clock): Promise<{ coxswain: Coxswain; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'cox-sqlite-'));
  folders.push(folder);
  const path = join(folder, 'store', 'cox.db');
  return { coxswain: await open({ store: `sqlite:${path}`, clock }), path };
}

/** Another program of the same user, behind our back. */
function tamper(path: string, ...statements: string[]): void {
  const database = new DatabaseSync(path, { timeout: 1000 });
  try {
    for (const sql of statements) database.exec(sql);
  } finally {
    database.close();
  }
}

test('[AUD-4] the log refuses to be changed or shortened', async () => {
  const { coxswain, path } = await fresh();
  await agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' });
  for (const sql of [
    "UPDATE log SET agent_id = 'b'",
    'DELETE FROM log',
    'DELETE FROM log WHERE position = 1',
  ])
    assert.throws(() => tamper(path, sql), /append-only/, sql);
  await coxswain.close();
});

test('[AUD-4] on SQLite, which trusts its user, a changed or missing row is found', async () => {
  for (const [sql, expected] of [
    [`UPDATE log SET body = replace(body, 'acquired', 'refused') WHERE position = 3`, /Row 3 .* was changed/],
    [`UPDATE log SET agent_id = 'somebody' WHERE position = 3`, /Row 3 .* was changed/],
    ['DELETE FROM log WHERE position = 2', /Row 2 of the log is missing; 3 follows/],
  ] as const) {
    const { coxswain, path } = await fresh();
    const call = agent(coxswain, 'a');
    for (const name of ['a.ts', 'b.ts', 'c.ts']) await call('acquire_lock', { file_path: name });
    // Three locks, and that the agent is there.
    assert.equal((await coxswain.store.read('default', 0, 10)).entries.length, 4);
    tamper(path, 'DROP TRIGGER log_is_append_only_update', 'DROP TRIGGER log_is_append_only_delete', sql);
    await assert.rejects(coxswain.store.read('default', 0, 10), (error) => {
      assert.ok(error instanceof StoreFailure);
      assert.equal(error.refusal.error, 'store_damaged');
      assert.match(error.message, expected);
      return true;
    });
    await coxswain.close();
  }
});

test('[STORE-1] the file and its folder are private to the user', async () => {
  const { coxswain, path } = await fresh();
  await agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' });
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  await coxswain.close();
});

test('[STORE-3] what no waiting mends is not told to try again soon, but what mends it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-sqlite-'));
  folders.push(folder);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const path of [join(file, 'cox.db'), join(file, 'deep', 'cox.db')])
    await assert.rejects(open({ store: `sqlite:${path}` }), (error: StoreFailure) => {
      assert.equal(error.refusal.error, 'store_unusable');
      assert.match(
        error.message,
        /\(E(EXIST|NOTDIR).*move it away, or name another store \(--store, COX_STORE\)/s,
      );
      return true;
    });
  const said = (code: string) => folderFailure(Object.assign(new Error(`${code}: no`), { code })).refusal;
  assert.match(said('EACCES').message, /Let this user read and write/);
  assert.match(said('EROFS').message, /read-only: make it writable/);
  for (const code of ['EACCES', 'EPERM', 'EROFS']) assert.equal(said(code).error, 'store_unusable', code);
  assert.deepEqual([said('ENOSPC').error, said('EIO').error], ['disk_full', 'database_unavailable']);
  const failed = (errcode: number, path = file) =>
    (storeFailure(Object.assign(new Error('no'), { errcode }), path) as StoreFailure).refusal.error;
  assert.deepEqual(
    [failed(8), failed(776), failed(1032)],
    ['store_unusable', 'store_unusable', 'store_moved'],
  );
  assert.equal(failed(14), 'database_unavailable', 'such as too many open files');
  assert.equal(failed(14, join(file, 'cox.db')), 'store_unusable');
});

test('[STORE-1] concurrent calls of a process share one durable commit, and two opens of a file share a writer', async () => {
  const { coxswain, path } = await fresh();
  const again = await open({ store: `sqlite:${path}` });
  const commit = Statements.prototype.commit;
  let commits = 0;
  Statements.prototype.commit = function counted(this: Statements) {
    commits += 1;
    commit.call(this);
  };
  try {
    const calls = Array.from({ length: 40 }, (_, n) => agent(n % 2 === 0 ? coxswain : again, `agent-${n}`));
    const answers = await Promise.all(
      calls.map((call, n) => call('acquire_lock', { file_path: `g/${n}.ts` })),
    );
    assert.ok(answers.every((answer) => answer.success === true));
    assert.ok(commits <= 3, `40 calls took ${commits} commits`);
  } finally {
    Statements.prototype.commit = commit;
  }
  await coxswain.close();
  assert.equal((await agent(again, 'late')('acquire_lock', { file_path: 'late.ts' })).success, true);
  await again.close();
});

test('[STORE-1] one decision that fails does not take the others of its batch with it', async () => {
  const { coxswain } = await fresh();
  const { store } = coxswain;
  const good = agent(coxswain, 'good')('acquire_lock', { file_path: 'good.ts' });
  const bad = store.run(
    {
      project: 'default',
      actor: { agent_id: 'bad', agent_type: 'test', session_id: 'bad' },
      sequence: 1,
      operation: 'broken',
      parameters: {},
      operation_id: 'broken',
      input_digest: '',
      started_ms: 0,
    },
    {
      needs: {},
      decide() {
        throw new Error('a fault of the decider');
      },
    },
  );
  await assert.rejects(bad, /a fault of the decider/);
  assert.equal((await good).success, true);
  await coxswain.close();
});

test('[AUD-1] rows of reads that had to be given up are counted, and the count is a row itself', async () => {
  const { coxswain, path } = await fresh();
  const call = agent(coxswain, 'reader');
  await call('acquire_lock', { file_path: 'a.ts' });
  const blocker = new DatabaseSync(path);
  blocker.exec('BEGIN IMMEDIATE');
  await call('check_locks');
  await until(async () => coxswain.store.dropped === 1);
  blocker.exec('COMMIT');
  blocker.close();
  await call('check_locks');
  await call('acquire_lock', { file_path: 'b.ts' });
  const rows = (await coxswain.store.read('default', 0, 100)).entries;
  const counted = rows.find(({ operation }) => operation === 'audit_rows_dropped');
  assert.equal(counted?.result.dropped, 1);
  assert.deepEqual(
    rows.filter(({ agent_id }) => agent_id === 'reader').map(({ sequence }) => sequence),
    [1, 3, 4],
    'and the gap shows in the numbers',
  );
  await coxswain.close();
});

test('[QUEUE-8] an operation id is forgotten after a day, not before', async () => {
  let shift_ms = 0;
  const clock: Clock = { ...systemClock, now_ms: () => systemClock.now_ms() + shift_ms };
  const { coxswain } = await fresh(clock);
  const call = agent(coxswain, 'a');
  const input = { task_type: 't', task_description: 'd', operation_id: 'daily' };
  const first = await call('submit_work', input);
  shift_ms = 23 * 3600 * 1000;
  assert.equal((await call('submit_work', input)).task_id, first.task_id);
  shift_ms = 25 * 3600 * 1000;
  assert.notEqual((await call('submit_work', input)).task_id, first.task_id);
  await coxswain.close();
});

test('[LOCK-10] a store from before locks on folders: what is held in it is seen, also in a replay', async () => {
  const { coxswain, path } = await fresh();
  await agent(coxswain, 'a')('acquire_lock', { file_path: 'src/a.ts', reason: 'since long' });
  await coxswain.close();
  tamper(
    path,
    "UPDATE records SET sort_key = 'held/session-a' WHERE kind = 'lock'",
    ...['seat', 'gaps', 'seals', 'sealed_rows', 'folded'].map((table) => `DROP TABLE ${table}`),
    'PRAGMA user_version = 1',
  );
  const upgraded = await open({ store: `sqlite:${path}` });
  const refused = await agent(upgraded, 'b')('acquire_lock', { file_path: 'src/' });
  assert.deepEqual(
    [refused.action, refused.overlaps, refused.lock_reason],
    ['blocked', 'src/a.ts', 'since long'],
  );
  const { store, project } = upgraded;
  const replayed = await replay(store, entities, project);
  assert.deepEqual(await compareWithLive(store, entities, project, replayed), []);
  await upgraded.close();
});

test('[MAIL-1] a thread from before messages were found by who takes part in it goes on as one', async () => {
  const { coxswain, path } = await fresh();
  const sent = await agent(coxswain, 'ann')('send_message', { to: ['ben', 'cat'], body: 'old' });
  await coxswain.close();
  tamper(path, "DELETE FROM links WHERE kind = 'message'");
  const later = await open({ store: `sqlite:${path}` });
  try {
    const [ann, ben] = [agent(later, 'ann'), agent(later, 'ben')];
    const { thread_id } = sent;
    await ben('acknowledge_message', { message_ids: [sent.message_id as string] });
    await ben('send_message', { body: 'new', in_reply_to: sent.message_id });
    const shown = async (call: typeof ann, limit: number) =>
      ((await call('read_inbox', { thread_id, limit })).messages as JsonObject[]).map(({ body }) => body);
    assert.deepEqual(await shown(ann, 20), ['old', 'old', 'new'], 'both copies, and the answer');
    assert.deepEqual(await shown(ben, 20), ['old', 'new']);
    assert.deepEqual(await shown(ben, 1), ['new']);
  } finally {
    await later.close();
  }
});
