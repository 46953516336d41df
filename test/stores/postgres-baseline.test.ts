import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type pg from 'pg';
import { systemClock } from '../../src/kernel/clock.ts';
import { Database, parseUrl } from '../../src/stores/postgres/database.ts';
import { migrate } from '../../src/stores/postgres/migrate.ts';
import { testDatabase } from '../support/postgres.ts';
import { type Catalog, differences, readCatalog } from './postgres-catalog.ts';
import { ask, connectTo } from './postgres-support.ts';

const HOME = new URL('../../src/stores/postgres/', import.meta.url);
const MIGRATIONS = readdirSync(new URL('migrations/', HOME)).sort();
/** The first migration that has `coxswain.bootstrap()`, which every migration is followed by from then on. */
const BOOTSTRAP_SINCE = 10;

let created: Awaited<ReturnType<typeof testDatabase>>;
let replayed: Awaited<ReturnType<typeof testDatabase>>;
let baseline: Catalog;

before(async () => {
  created = await testDatabase();
  replayed = await testDatabase();
  await migrateDatabase(created.url);
  baseline = await catalogOf(created.url);
});

after(async () => {
  await created.drop();
  await replayed.drop();
});

async function migrateDatabase(url: string, home?: URL): Promise<void> {
  const database = new Database(parseUrl(url).config, 2, systemClock);
  try {
    await migrate(database, home);
  } finally {
    await database.close();
  }
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(url);
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function catalogOf(url: string): Promise<Catalog> {
  return withClient(url, readCatalog);
}

/** One migration as the releases before the baseline applied it. */
async function replay(client: pg.Client, number: number): Promise<void> {
  await client.query('BEGIN');
  await client.query(readFileSync(new URL(`migrations/${MIGRATIONS[number - 1]}`, HOME), 'utf8'));
  if (number >= BOOTSTRAP_SINCE) await client.query('SELECT coxswain.bootstrap()');
  await client.query('UPDATE coxswain.meta SET migration = $1', [number]);
  await client.query('COMMIT');
}

/** A copy of the database, for as long as `use` runs. */
async function withCopy<T>(url: string, use: (url: string) => Promise<T>): Promise<T> {
  const [copy, server] = [new URL(url), new URL(url)];
  copy.pathname += '_copy';
  server.pathname = '/postgres';
  const [from, to] = [url, copy.href].map((each) => new URL(each).pathname.slice(1));
  await ask(server.href, `CREATE DATABASE ${to} TEMPLATE ${from}`);
  try {
    return await use(copy.href);
  } finally {
    await ask(server.href, `DROP DATABASE ${to} WITH (FORCE)`);
  }
}

/** As a lock was stored by the first schema: found by the time it ends, which migration 7 replaces by its place. */
const OLD_LOCK = `INSERT INTO coxswain.records (project, kind, id, version, born, state, sort_key)
  VALUES ('p', 'lock', 'a.ts', 1, 1, '{}', 'held/000001700000000')`;

test('from every older schema the upgrade arrives at the baseline, and so does replaying all migrations', async () => {
  assert.ok(MIGRATIONS.length >= 20);
  assert.ok(MIGRATIONS.every((file, index) => Number(file.slice(0, 3)) === index + 1));
  for (let number = 1; number <= MIGRATIONS.length; number += 1) {
    await withClient(replayed.url, async (client) => {
      await replay(client, number);
      if (number === 1) await client.query(OLD_LOCK);
    });
    await withCopy(replayed.url, async (url) => {
      if (number < MIGRATIONS.length) await migrateDatabase(url);
      assert.deepEqual(differences(await catalogOf(url), baseline), [], `from migration ${number}`);
      assert.deepEqual(await ask(url, 'SELECT id, sort_key FROM coxswain.records'), [
        { id: 'a.ts', sort_key: 'held/a.ts' },
      ]);
    });
  }
});

test('the next migration runs on a new database and on one of the first schema', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-schema-'));
  const first = await testDatabase();
  const fresh = await testDatabase();
  try {
    for (const each of ['migrations', 'schema'])
      cpSync(fileURLToPath(new URL(each, HOME)), join(folder, each), { recursive: true });
    const number = MIGRATIONS.length + 1;
    writeFileSync(
      join(folder, 'migrations', `${String(number).padStart(3, '0')}_next.sql`),
      'CREATE TABLE coxswain.next (project text COLLATE "C" PRIMARY KEY);',
    );
    const home = pathToFileURL(join(folder, '/'));
    await withClient(first.url, (client) => replay(client, 1));
    for (const { url } of [first, fresh]) {
      await migrateDatabase(url, home);
      assert.deepEqual(await ask(url, 'SELECT migration FROM coxswain.meta'), [{ migration: number }]);
    }
    const next = await catalogOf(fresh.url);
    assert.deepEqual(differences(await catalogOf(first.url), next), []);
    // Closed like everything else: rights were given anew after it.
    assert.ok(next.has('policy coxswain.next coxswain_coxswain_service'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await first.drop();
    await fresh.drop();
  }
});

/** One change for each thing that two schemas may differ in. */
const CHANGES = [
  'UPDATE coxswain.meta SET epoch = 9',
  'ALTER TABLE coxswain.records ALTER linked SET DEFAULT true',
  'ALTER TABLE coxswain.records ALTER linked DROP NOT NULL',
  'ALTER TABLE coxswain.links ALTER link TYPE varchar',
  'ALTER TABLE coxswain.links ALTER link TYPE text COLLATE "POSIX"',
  'ALTER TABLE coxswain.links ADD CHECK (born > 0)',
  'ALTER TABLE coxswain.records RESET (autovacuum_vacuum_threshold)',
  'ALTER TABLE coxswain.log DISABLE ROW LEVEL SECURITY',
  'ALTER TABLE coxswain.log FORCE ROW LEVEL SECURITY',
  'ALTER TABLE coxswain.log ENABLE TRIGGER log_is_append_only',
  'ALTER TABLE coxswain.seals OWNER TO coxswain_service',
  'DROP INDEX coxswain.operations_by_age',
  'ALTER SEQUENCE coxswain.log_position CACHE 2',
  'CREATE RULE quiet AS ON INSERT TO coxswain.links DO INSTEAD NOTHING',
  'ALTER POLICY coxswain_authenticated ON coxswain.log USING (true)',
  'ALTER POLICY coxswain_authenticated ON coxswain.log TO anon',
  'GRANT SELECT (events) ON coxswain.log TO authenticated',
  'GRANT SELECT ON coxswain.seals TO anon',
  'GRANT USAGE ON SCHEMA coxswain TO anon',
  'REVOKE USAGE ON SEQUENCE coxswain.log_position FROM coxswain_service',
  'GRANT EXECUTE ON FUNCTION coxswain.now_ms() TO PUBLIC',
  'ALTER FUNCTION coxswain.acquire_lock OWNER TO CURRENT_USER',
  'ALTER FUNCTION coxswain.submit_task SECURITY INVOKER',
  'ALTER FUNCTION coxswain.write_group SET lock_timeout = 401',
  'ALTER FUNCTION coxswain.now_ms() STABLE',
  'CREATE OR REPLACE FUNCTION coxswain.still_ready(p_project text, p_id text) RETURNS boolean LANGUAGE sql RETURN true',
  'ALTER VIEW coxswain.audit_log RESET (security_invoker)',
  "CREATE OR REPLACE VIEW coxswain.memory_working AS SELECT * FROM coxswain.memory_working WHERE project <> 'x'",
  "COMMENT ON COLUMN coxswain.log.events IS 'x'",
  'CREATE TYPE coxswain.kind AS ENUM ()',
  'CREATE OPERATOR coxswain.=== (FUNCTION = starts_with, LEFTARG = text, RIGHTARG = text)',
  'ALTER PUBLICATION supabase_realtime DROP TABLE coxswain.log',
  'DROP FUNCTION auth.role()',
  'ALTER DEFAULT PRIVILEGES IN SCHEMA coxswain GRANT SELECT ON TABLES TO anon',
];

test('the comparison sees every kind of difference', async () => {
  await withClient(created.url, async (client) => {
    for (const change of CHANGES) {
      await client.query('BEGIN');
      await client.query(change);
      assert.notDeepEqual(differences(await readCatalog(client), baseline), [], change);
      await client.query('ROLLBACK');
    }
    // A comment or a line break in a function is none.
    const { rows } = await client.query(
      "SELECT pg_get_functiondef('coxswain.still_ready'::regproc) AS definition",
    );
    await client.query(
      String(rows[0]?.definition).replace('BEGIN', "BEGIN\n  -- It isn't part of what it does.\n"),
    );
    assert.deepEqual(differences(await readCatalog(client), baseline), []);
  });
});
