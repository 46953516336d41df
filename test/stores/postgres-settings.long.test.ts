// What an administrator may have set for a server, a database or a role, and what must hold all the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { request as cellRequest, openCells, setUnless } from '../conformance/cells.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, connectTo, openDomain, request } from './postgres-support.ts';

let server: PostgresServer;

before(async () => {
  // So seldom that what is not waited for is never on disk by chance.
  server = await startPostgres({ fsync: false, settings: { wal_writer_delay: '10s' } });
});

after(() => server.stop());

async function databaseWith(...settings: readonly string[]): Promise<string> {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  for (const setting of settings) await ask(server.url, `ALTER DATABASE ${name} SET ${setting}`);
  return url;
}

for (const level of ['repeatable read', 'serializable'])
  test(`[LOCK-5] [STORE-1] postgres: where transactions are ${level} unless they say otherwise, who has waited sees what was committed meanwhile`, async () => {
    const url = await databaseWith(`default_transaction_isolation = '${level}'`);
    const store = await openCells(url);
    const other = await connectTo(url);
    try {
      await other.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await other.query(`SELECT pg_advisory_xact_lock((k >> 32)::integer, ((k << 32) >> 32)::integer)
        FROM coxswain.lock_key('cells', 'cell', 'theirs') AS k`);
      const outcome = store.run(cellRequest('a'), setUnless('ours', 'theirs', 'a'));
      await until(
        async () =>
          (await ask(url, "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).length > 0,
      );
      await other.query(`INSERT INTO coxswain.records (project, kind, id, version, born, state)
        VALUES ('cells', 'cell', 'theirs', 1, 1, '{"by": "b"}')`);
      await other.query('COMMIT');
      assert.equal((await outcome).status, 'refused');
    } finally {
      await other.end();
      await store.close();
    }
  });

test('[STORE-2] postgres: arrays and backslashes mean what we mean by them, whatever they mean by default', async () => {
  const url = await databaseWith('standard_conforming_strings = off', 'array_nulls = off');
  const store = await openCells(url);
  try {
    const outcome = await store.run(cellRequest('a'), setUnless('a\\b"c', 'NULL', 'a'));
    assert.equal(outcome.status, 'committed');
  } finally {
    await store.close();
  }
  const [plain] = await ask<{ is: boolean }>(url, `SELECT coxswain.is_plain_path('src/list.ts') AS is`);
  assert.equal(plain?.is, true);
});

test('[STORE-1] postgres: what was answered is on disk, even where commits are not waited for by default', async () => {
  const url = await databaseWith('synchronous_commit = off');
  const lock = (agent_id: string) => {
    const asked = request(agent_id, 'acquire_lock');
    const area = { areas: [{ place: 'src/app.ts' }], single: true, reason: 'why' };
    return { asked, decision: acquireLock({ ...area, caller: asked.actor, ttl_ms: 60_000 }) };
  };
  const first = await openDomain(url);
  const alice = lock('alice');
  assert.equal((await first.run(alice.asked, alice.decision)).status, 'committed');
  await server.kill('SIGKILL');
  await server.restart();
  await first.close();
  const second = await openDomain(url);
  const bob = lock('bob');
  const outcome = await second.run(bob.asked, bob.decision);
  await second.close();
  assert.equal(outcome.status, 'refused');
});

test('[STORE-3] postgres: a server that ends every statement too soon is unavailable, no fault of ours', async () => {
  const url = await server.createDatabase();
  const name = new URL(url).pathname.slice(1);
  const first = await openDomain(url);
  await first.close();
  await ask(server.url, `ALTER DATABASE ${name} SET statement_timeout = '200ms'`);
  const store = await openCells(url);
  const other = await connectTo(url);
  try {
    await other.query('BEGIN');
    await other.query('LOCK TABLE coxswain.log IN ACCESS EXCLUSIVE MODE');
    await assert.rejects(
      store.run(cellRequest('a'), setUnless('ours', 'theirs', 'a')),
      (error) => error instanceof StoreFailure && error.refusal.error === 'database_unavailable',
    );
    await other.query('ROLLBACK');
    const outcome = await store.run(cellRequest('a'), setUnless('later', 'theirs', 'a'));
    assert.equal(outcome.status, 'committed');
  } finally {
    await other.end();
    await store.close();
  }
});
