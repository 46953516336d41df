import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, startPostgres, testDatabase } from './postgres.ts';

let server: PostgresServer;

before(async () => {
  server = await startPostgres({ fsync: false });
});

after(() => server.stop());

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('every database is fresh, and the settings arrived', async () => {
  const [one, other] = await Promise.all([server.createDatabase(), server.createDatabase()]);
  await ask(one, 'CREATE TABLE t (n int)');
  assert.deepEqual(await ask(other, "SELECT to_regclass('t') AS t"), [{ t: null }]);
  assert.deepEqual(await ask(one, 'SHOW max_connections'), [{ max_connections: '200' }]);
  assert.deepEqual(await ask(one, 'SHOW fsync'), [{ fsync: 'off' }]);
});

test('a restart and a crash keep committed data', async () => {
  const url = await server.createDatabase();
  await ask(url, 'CREATE TABLE t (n int); INSERT INTO t VALUES (1)');
  const before_pid = server.pid();
  await server.restart();
  assert.notEqual(server.pid(), before_pid);
  await ask(url, 'INSERT INTO t VALUES (2)');
  await server.kill('SIGKILL');
  assert.equal(server.pid(), null);
  await server.restart();
  assert.deepEqual(await ask(url, 'SELECT n FROM t ORDER BY n'), [{ n: 1 }, { n: 2 }]);
});

test('stop leaves neither a process nor data', async () => {
  const pid = server.pid();
  assert.ok(pid !== null && runs(pid));
  await server.stop();
  assert.ok(!runs(pid));
  assert.ok(!existsSync(server.dataDir));
});

test('a test process killed with -9 takes its server with it', { timeout: 30_000 }, async () => {
  const script = `
    const { startPostgres } = await import(${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)});
    const server = await startPostgres({ fsync: false });
    console.log(JSON.stringify({ pid: server.pid(), dataDir: server.dataDir }));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { pid, dataDir } = JSON.parse(String(line));
  assert.ok(runs(pid));
  child.kill('SIGKILL');
  while (runs(pid) || existsSync(dataDir)) await sleep(20);
  assert.ok(!runs(pid));
});

test('testDatabase gives a database and takes it back', async () => {
  const database = await testDatabase();
  assert.deepEqual(await ask(database.url, 'SELECT 1 AS one'), [{ one: 1 }]);
  await database.drop();
  await assert.rejects(ask(database.url, 'SELECT 1'), /does not exist/);
});
