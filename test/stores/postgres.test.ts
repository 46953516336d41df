import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { cancelWork } from '../../src/features/queue/change-work.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { mirrorFile } from '../../src/features/queue/mirror-work.ts';
import { settleDue } from '../../src/features/queue/settle-due.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import { limits } from '../../src/kernel/limits.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { commit, prefixed, type Range } from '../../src/ledger/decision.ts';
import { logRow } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { cell, request as cellRequest, openCells, setUnless } from '../conformance/cells.ts';
import { lyingAt, seenAs } from '../features/queue/filed-facts.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, connectTo, ids, openDomain, request } from './postgres-support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: Store;

before(async () => {
  database = await testDatabase();
  store = await openDomain(database.url);
});

after(async () => {
  await store.close();
  await database.drop();
});

function newTask(task_type: string) {
  const id = ids.uuid();
  return {
    id,
    keyed: false,
    task_type,
    description: 'd',
    priority: 5,
    files: [],
    depends_on: [],
    max_attempts: 3,
  };
}

function lockOf(agent_id: string, path: string) {
  const asked = request(agent_id, 'acquire_lock');
  return store.run(
    asked,
    acquireLock({
      areas: [{ place: path }],
      single: true,
      caller: asked.actor,
      ttl_ms: 60_000,
      reason: 'why',
    }),
  );
}

function failsWith(code: string) {
  return (error: unknown) => error instanceof StoreFailure && error.refusal.error === code;
}

const FOLDER = new URL('../../src/stores/postgres/migrations/', import.meta.url);
const MIGRATIONS = readdirSync(FOLDER).sort();

test('thirty-two stores opened at once on an empty database all come up, and the schema is created once', async () => {
  const empty = await testDatabase();
  const stores = await Promise.all(Array.from({ length: 32 }, () => openCells(`${empty.url}?max=2`)));
  const outcomes = await Promise.all(
    stores.map((each, n) => each.run(cellRequest('a'), setUnless(`opened-${n}`, 'never', 'a'))),
  );
  assert.ok(outcomes.every(({ status }) => status === 'committed'));
  await Promise.all(stores.map((each) => each.close()));
  assert.deepEqual(await ask(empty.url, 'SELECT migration, epoch FROM coxswain.meta'), [
    { migration: MIGRATIONS.length, epoch: 2 },
  ]);
  await empty.drop();
});

test('a database of 0.1.0 is brought up to date where it stands', async () => {
  const old = await testDatabase();
  const client = await connectTo(old.url);
  for (const file of MIGRATIONS.slice(0, 5)) await client.query(readFileSync(new URL(file, FOLDER), 'utf8'));
  await client.query('UPDATE coxswain.meta SET migration = 5');
  await client.end();
  const opened = await openDomain(old.url);
  await opened.run(request('ann', 'submit_work'), submitWork([newTask('t')], 'ann'));
  assert.deepEqual(await ask(old.url, 'SELECT migration, epoch FROM coxswain.meta'), [
    { migration: MIGRATIONS.length, epoch: 2 },
  ]);
  await opened.close();
  await old.drop();
});

test('a raised epoch stops a process that is already running, and one that starts', async () => {
  const upgraded = await testDatabase();
  const running = await openDomain(upgraded.url);
  const asked = request('ann', 'submit_work');
  await running.run(asked, submitWork([newTask('t')], 'ann'));
  await ask(upgraded.url, 'UPDATE coxswain.meta SET epoch = 3');
  const late = request('ann', 'submit_work');
  await assert.rejects(running.run(late, submitWork([newTask('t')], 'ann')), failsWith('upgrade_required'));
  const wanted = { caller: late.actor, task_types: undefined, count: 1, lease_ms: 1000, settled: true };
  await assert.rejects(
    running.take(request('ann', 'get_work'), getWork(wanted)),
    failsWith('upgrade_required'),
  );
  await assert.rejects(openDomain(upgraded.url), failsWith('upgrade_required'));
  assert.deepEqual(await ask(upgraded.url, 'SELECT count(*)::int FROM coxswain.log'), [{ count: 1 }]);
  await running.close();
  await upgraded.drop();
});

test('[AUD-4] postgres: the log is append-only: no update, no delete, no truncate, not as a replica either', async () => {
  await lockOf('ann', 'kept.ts');
  const client = await connectTo(database.url);
  for (const role of ['origin', 'replica'])
    for (const change of [
      'UPDATE coxswain.log SET agent_id = $$x$$',
      'DELETE FROM coxswain.log',
      'TRUNCATE coxswain.log',
    ]) {
      await client.query(`SET session_replication_role = ${role}`);
      await assert.rejects(client.query(change), /append-only/);
    }
  const { rows } = await client.query('SELECT agent_id FROM coxswain.log WHERE operation = $1', [
    'acquire_lock',
  ]);
  await client.end();
  assert.deepEqual(rows, [{ agent_id: 'ann' }]);
});

test('postgres: locks, tasks and the audit log can be read under the names of the seed', async () => {
  await lockOf('ann', 'viewed.ts');
  const asked = request('bob', 'submit_work', { parameters: { task_type: 'viewed' } });
  const task = { ...newTask('viewed'), input_data: { n: 1 }, priority: 2 };
  await store.run(asked, submitWork([task], 'bob'));
  const [lock] = await ask(database.url, "SELECT * FROM coxswain.file_locks WHERE file_path = 'viewed.ts'");
  assert.equal(lock?.locked_by, 'ann');
  assert.equal(lock?.reason, 'why');
  assert.equal(lock?.session_id, 'session-ann');
  assert.equal(lock?.expires_at.getTime() - lock?.locked_at.getTime(), 60_000);
  const [row] = await ask(database.url, 'SELECT * FROM coxswain.work_queue WHERE id = $1', [task.id]);
  assert.equal(row?.status, 'pending');
  assert.equal(row?.priority, 2);
  assert.deepEqual(row?.input_data, { n: 1 });
  assert.deepEqual(row?.depends_on, []);
  assert.equal(row?.claimed_by, null);
  assert.ok(row?.created_at instanceof Date);
  const skips = { ...newTask('skips'), depends_on: [task.id], on_dependency_failure: 'skip' as const };
  await store.run(request('bob', 'submit_work'), submitWork([skips], 'bob'));
  await store.run(request('bob', 'cancel_work'), cancelWork(task.id, 'bob', undefined));
  await store.run(request('bob', 'settle_due'), settleDue());
  const look = 'SELECT status, task_status, error_message FROM coxswain.work_queue WHERE id = $1';
  const error_message = `Task ${task.id}, which it depends on, ended as cancelled.`;
  const skipped = { status: 'cancelled', task_status: 'skipped', error_message };
  assert.deepEqual(await ask(database.url, look, [skips.id]), [skipped]);
  const file = lyingAt('assigned/ann/x.yaml', 'in_progress');
  await store.run(request('bob', 'mirror_task_file'), mirrorFile(seenAs(ids.uuid(), 'filed', { file })));
  const filed =
    "SELECT status, claimed_by, file_path, file_agent FROM coxswain.work_queue WHERE task_status = 'filed'";
  assert.deepEqual(await ask(database.url, filed, []), [
    { status: 'claimed', claimed_by: 'ann', file_path: 'work/assigned/ann/x.yaml', file_agent: 'ann' },
  ]);
  const audit = 'SELECT * FROM coxswain.audit_log WHERE operation_id = $1';
  const [entry] = await ask(database.url, audit, [asked.operation_id]);
  assert.equal(entry?.agent_id, 'bob');
  assert.equal(entry?.operation, 'submit_work');
  assert.deepEqual(entry?.parameters, { task_type: 'viewed' });
  assert.equal(entry?.result.success, true);
  assert.ok(entry?.timestamp instanceof Date && entry.duration_ms >= 0);
});

test('postgres: the views show nothing to a role that may not read the ledger itself', async () => {
  const client = await connectTo(database.url);
  await client.query('BEGIN');
  await client.query('CREATE ROLE cox_stranger; GRANT USAGE ON SCHEMA coxswain TO cox_stranger');
  await client.query('GRANT SELECT ON coxswain.work_queue TO cox_stranger; SET LOCAL ROLE cox_stranger');
  await assert.rejects(
    client.query('SELECT * FROM coxswain.work_queue'),
    /permission denied for table records/,
  );
  await client.query('ROLLBACK');
  await client.end();
});

test('concurrent calls of one process share transactions', async () => {
  const cells = await openCells(database.url);
  const calls = Array.from({ length: 200 }, (_, n) =>
    cells.run(cellRequest('g'), setUnless(`grouped-${n}`, 'never', 'g')),
  );
  assert.ok((await Promise.all(calls)).every(({ status }) => status === 'committed'));
  const [counted] = await ask<{ rows: number; transactions: number }>(
    database.url,
    `SELECT count(*)::int AS rows, count(DISTINCT xmin::text)::int AS transactions FROM coxswain.log
     WHERE project = 'cells' AND agent_id = 'g'`,
  );
  assert.equal(counted?.rows, 200);
  assert.ok((counted?.transactions ?? 200) <= 20, `${counted?.transactions} transactions for 200 commits`);
  await cells.close();
});

test('what the database can not store fails alone, not the group it came in', async () => {
  const cells = await openCells(database.url);
  const bad = cells.run(cellRequest('bad'), {
    needs: {},
    decide: () => commit([{ ...cell('bad'), type: 'cell_set', data: { by: 'a\u0000b' } }], { success: true }),
  });
  const good = Array.from({ length: 5 }, (_, n) =>
    cells.run(cellRequest('good'), setUnless(`beside-${n}`, 'never', 'good')),
  );
  await assert.rejects(bad, failsWith('invalid_input'));
  assert.ok((await Promise.all(good)).every(({ status }) => status === 'committed'));
  await cells.close();
});

test('[LOCK-8] postgres: an operation id is forgotten after a day, and pruning takes only such rows', async () => {
  const asked = request('ann', 'acquire_lock', { operation_id: 'old', input_digest: 'd' });
  const again = () =>
    store.run(
      asked,
      acquireLock({
        areas: [{ place: 'old.ts' }],
        single: true,
        caller: asked.actor,
        ttl_ms: 60_000,
        reason: undefined,
      }),
    );
  const first = await again();
  const repeated = await again();
  assert.ok(first.status === 'committed' && repeated.status === 'committed');
  assert.equal(repeated.repeated, true);
  const [kept] = await ask<{ n: number }>(database.url, 'SELECT count(*)::int AS n FROM coxswain.operations');
  await ask(
    database.url,
    `UPDATE coxswain.operations SET at_ms = at_ms - ${limits.operation_kept_ms} - 1 WHERE operation_id = 'old'`,
  );
  const forgotten = await again();
  assert.ok(forgotten.status === 'committed');
  assert.equal(forgotten.answer.action, 'refreshed');
  await ask(
    database.url,
    `UPDATE coxswain.operations SET at_ms = at_ms - ${limits.operation_kept_ms} - 1 WHERE operation_id = 'old'`,
  );
  assert.deepEqual(await ask(database.url, 'SELECT coxswain.prune_operations(100)::int AS gone'), [
    { gone: 1 },
  ]);
  const [left] = await ask<{ n: number }>(database.url, 'SELECT count(*)::int AS n FROM coxswain.operations');
  assert.equal(left?.n, (kept?.n ?? 0) - 1);
});

test('bounds with NUL, which PostgreSQL has not, mean what they say', async () => {
  const cells = await openCells(database.url);
  for (const id of ['nul', 'nul-a', 'nul-b']) await cells.run(cellRequest('n'), setUnless(id, 'never', 'n'));
  const found = async (from: string, before_key: string): Promise<string[]> => {
    const range: Range = { by: 'id', kind: 'cell', from, before: before_key, limit: 10 };
    return (await cells.find('cells', { ranges: [range] })).loaded.list(range).map(({ id }) => id);
  };
  assert.deepEqual(await found('nul', 'nul\u0000'), ['nul']);
  assert.deepEqual(await found('nul\u0000', 'nul-b'), ['nul-a']);
  assert.deepEqual(await found('nul', 'nul-a\u0000zzz'), ['nul', 'nul-a']);
  const links = prefixed('link', 'cell', 'by/n', 2);
  assert.deepEqual(
    (await cells.find('cells', { ranges: [links] })).loaded.list(links).map(({ id }) => id),
    ['nul', 'nul-a'],
  );
  await cells.close();
});

test('[AUD-1] postgres: rows of reads are written without a commit to ride in, and at the latest when it closes', async () => {
  const quiet = await openDomain(database.url);
  const rows = async (agent_id: string) =>
    (await quiet.read('notes', 0, 100)).entries.filter((e) => e.agent_id === agent_id);
  quiet.note(logRow(request('alone', 'check_locks', { project: 'notes' }), { success: true }, [], 5, 1));
  const [entry] = await until(async () => {
    const found = await rows('alone');
    return found.length === 1 && found;
  });
  assert.equal(entry?.operation, 'check_locks');
  assert.deepEqual(entry?.events, []);
  quiet.note(logRow(request('closing', 'check_locks', { project: 'notes' }), { success: true }, [], 5, 1));
  await quiet.close();
  assert.equal((await store.read('notes', 0, 100)).entries.filter((e) => e.agent_id === 'closing').length, 1);
  assert.equal(quiet.dropped, 0);
});

test('watch in one process hears of a commit in another', async () => {
  const other = await openDomain(database.url);
  const stop = new AbortController();
  const heard: number[] = [];
  const watching = (async () => {
    for await (const _ of other.watch('p', stop.signal)) heard.push(heard.length);
  })();
  await until(async () => heard.length > 0);
  const before_commit = heard.length;
  await lockOf('ann', 'watched.ts');
  await until(async () => heard.length > before_commit);
  stop.abort();
  await watching;
  await other.close();
  assert.ok(heard.length > before_commit);
});
