import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import { logRow } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, connectTo, ids, openDomain, request } from './postgres-support.ts';

const ALL_VIEWS =
  `file_locks work_queue agent_sessions handoff_documents changesets verification_results verification_policies
  approval_queue memory_episodic memory_working memory_procedural agent_profiles agent_profile_assignments network_policies
  network_access_log operation_guardrails guardrail_violations audit_log edge_claims`.split(/\s+/);
const TABLES = ['records', 'links', 'log', 'operations', 'meta'];

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: Store;
let client: pg.Client;

before(async () => {
  database = await testDatabase();
  store = await openDomain(database.url);
  for (const project of ['p', 'other']) await work(store, project);
  client = await connectTo(database.url);
});

after(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

/** A lock, a task and a claim of another: rows in every table. */
async function work(on: Store, project: string) {
  const asked = request('ann', 'acquire_lock', { project });
  const locked = await on.run(
    asked,
    acquireLock({
      areas: [{ place: `${project}.ts` }],
      single: true,
      caller: asked.actor,
      ttl_ms: 600_000,
      reason: undefined,
    }),
  );
  const parent = ids.uuid();
  const task = (id: string, depends_on: string[]) => ({
    id,
    keyed: false,
    task_type: 't',
    description: `of ${project}`,
    priority: 5,
    files: [],
    depends_on,
    max_attempts: 3,
  });
  const tasks = [task(parent, []), task(ids.uuid(), [parent])];
  const submitted = await on.run(request('ann', 'submit_work', { project }), submitWork(tasks, 'ann'));
  const wanted = { caller: asked.actor, task_types: undefined, count: 1, lease_ms: 60_000, settled: false };
  const taken = await on.take(request('ann', 'get_work', { project }), getWork(wanted));
  return [locked, submitted, taken].map(({ status }) => status);
}

/** As PostgREST does it: one transaction, the role and the claims of the token for its length. */
async function as<T>(
  role: string,
  claims: object | string | undefined,
  use: (query: (sql: string, values?: unknown[]) => Promise<pg.QueryResultRow[]>) => Promise<T>,
): Promise<T> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL ROLE ${role}`);
    if (claims !== undefined) {
      const text = typeof claims === 'string' ? claims : JSON.stringify(claims);
      await client.query("SELECT set_config('request.jwt.claims', $1, true)", [text]);
    }
    return await use(async (sql, values) => (await client.query(sql, values)).rows);
  } finally {
    await client.query('ROLLBACK');
  }
}

/** Each statement on its own is refused for want of a right. */
async function allDenied(role: string, claims: object | undefined, statements: readonly string[]) {
  for (const sql of statements)
    await assert.rejects(
      as(role, claims, (query) => query(sql)),
      (error: { code?: string }) => error.code === '42501',
      `${role}: ${sql}`,
    );
}

const writes = (table: string) => [
  `INSERT INTO coxswain.${table} SELECT * FROM coxswain.${table}`,
  `UPDATE coxswain.${table} SET ${table === 'meta' ? 'epoch = 9' : "project = 'mine'"}`,
  `DELETE FROM coxswain.${table}`,
  `TRUNCATE coxswain.${table}`,
];

test('[STORE-2] anon can do nothing at all', async () => {
  const claims = { role: 'anon', project: 'p', agent_id: 'ann' };
  await allDenied('anon', claims, [
    ...[...ALL_VIEWS, ...TABLES].map((name) => `SELECT * FROM coxswain.${name}`),
    ...TABLES.flatMap(writes),
    "SELECT coxswain.acquire_lock('a.ts')",
    "SELECT coxswain.jwt_claim('project')",
    'SELECT coxswain.claim_task()',
  ]);
});

test('[STORE-2] authenticated sees its own project, and without one nothing', async () => {
  const look = (claims: object | string | undefined) =>
    as('authenticated', claims, async (query) => ({
      locks: (await query('SELECT file_path FROM coxswain.file_locks')).map((row) => row.file_path),
      tasks: (await query('SELECT DISTINCT description FROM coxswain.work_queue')).map((r) => r.description),
      projects: (await query('SELECT DISTINCT project FROM coxswain.audit_log')).map((row) => row.project),
      records: (await query('SELECT DISTINCT project FROM coxswain.records')).map((row) => row.project),
    }));
  const of = (project: string) => ({
    locks: [`${project}.ts`],
    tasks: [`of ${project}`],
    projects: [project],
    records: [project],
  });
  const nothing = { locks: [], tasks: [], projects: [], records: [] };
  assert.deepEqual(await look({ project: 'p' }), of('p'));
  assert.deepEqual(await look({ project: 'other' }), of('other'));
  assert.deepEqual(await look({ app_metadata: { project: 'p' } }), of('p'));
  for (const claims of [undefined, '', 'null', '[]', '"p"', {}, { project: null }, { project: '' }])
    assert.deepEqual(await look(claims), nothing, JSON.stringify(claims));
  // A user writes this part of the token's contents itself.
  assert.deepEqual(await look({ user_metadata: { project: 'p' } }), nothing);
  assert.deepEqual(await look({ project: "p' OR true --" }), nothing);
  await assert.rejects(look('{'), /invalid input syntax/);
});

test('[STORE-2] authenticated can read the views and two tables, call the open functions, and nothing more', async () => {
  const may = (what: string) =>
    as('authenticated', undefined, async (query) => (await query(what)).map((row) => row.name).sort());
  const relations = await may(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'coxswain'::regnamespace AND c.relkind IN ('r', 'v', 'S')
     AND has_table_privilege(c.oid, 'SELECT')`,
  );
  assert.deepEqual(relations, [...ALL_VIEWS, 'records'].sort());
  const columns = await may(
    `SELECT a.attname AS name FROM pg_attribute a WHERE a.attrelid = 'coxswain.log'::regclass AND a.attnum > 0
     AND NOT has_column_privilege(a.attrelid, a.attnum, 'SELECT')`,
  );
  assert.deepEqual(columns, ['events']);
  const functions = await may(
    `SELECT p.proname AS name FROM pg_proc p WHERE p.pronamespace = 'coxswain'::regnamespace
     AND has_function_privilege(p.oid, 'EXECUTE')`,
  );
  assert.deepEqual(functions, [
    'acquire_lock',
    'claim_task',
    'complete_task',
    'jwt_claim',
    'leases_of',
    'release_lock',
    'shown_kinds',
    'submit_task',
  ]);
  await allDenied('authenticated', { project: 'p', agent_id: 'ann' }, TABLES.flatMap(writes));
});

test('[STORE-2] records of kinds that are not meant to be shown stay hidden from the agents of their project', async () => {
  await ask(
    database.url,
    `INSERT INTO coxswain.records (project, kind, id, version, born, state) VALUES ('p', 'secret', 's', 1, 1, '{}')`,
  );
  const kinds = (role: string) =>
    as(role, { project: 'p' }, (query) =>
      query("SELECT kind FROM coxswain.records WHERE kind IN ('secret', 'lock')"),
    );
  assert.deepEqual(await kinds('authenticated'), [{ kind: 'lock' }]);
  assert.equal((await kinds('service_role')).filter(({ kind }) => kind === 'secret').length, 1);
  const published = await ask(
    database.url,
    `SELECT tablename, rowfilter, attnames FROM pg_publication_tables WHERE pubname = 'supabase_realtime' ORDER BY tablename`,
  );
  assert.deepEqual(
    published.map(({ tablename }) => tablename),
    ['log', 'records'],
  );
  assert.ok(!String(published[0]?.attnames).includes('events'));
  assert.match(published[1]?.rowfilter, /kind = ANY/);
  assert.doesNotMatch(published[1]?.rowfilter, /secret/);
});

test('[STORE-2] service_role reads all projects and changes nothing', async () => {
  const projects = await as('service_role', undefined, (query) =>
    query('SELECT DISTINCT project FROM coxswain.audit_log ORDER BY project'),
  );
  assert.deepEqual(projects, [{ project: 'other' }, { project: 'p' }]);
  await allDenied('service_role', undefined, TABLES.flatMap(writes));
});

test('[STORE-2] [AUD-4] nobody changes or deletes a row of the audit log, not through the view either', async () => {
  for (const role of ['anon', 'authenticated', 'service_role', 'coxswain_service'])
    await allDenied(role, { project: 'p', agent_id: 'ann' }, [
      "UPDATE coxswain.log SET agent_id = 'x'",
      'DELETE FROM coxswain.log',
      'TRUNCATE coxswain.log',
      "UPDATE coxswain.audit_log SET agent_id = 'x'",
      'DELETE FROM coxswain.audit_log',
      'ALTER TABLE coxswain.log DISABLE TRIGGER ALL',
      'DROP TRIGGER log_is_append_only ON coxswain.log',
      'CREATE OR REPLACE FUNCTION coxswain.log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$',
    ]);
  for (const change of ["UPDATE coxswain.log SET agent_id = 'x'", 'DELETE FROM coxswain.log'])
    await assert.rejects(ask(database.url, change), /append-only/);
});

test('[STORE-2] the product works as a login that owns nothing, and it may not touch the log either', async () => {
  const login = `cox_login_${process.pid}`;
  await ask(database.url, `CREATE ROLE ${login} LOGIN; GRANT coxswain_service TO ${login}`);
  const url = new URL(database.url);
  url.username = login;
  const limited = await openDomain(url.href);
  try {
    assert.deepEqual(await work(limited, 'limited'), ['committed', 'committed', 'committed']);
    const stop = new AbortController();
    let heard = 0;
    const watching = (async () => {
      for await (const _ of limited.watch('limited', stop.signal)) heard += 1;
    })();
    limited.note(logRow(request('ann', 'check_locks', { project: 'limited' }), { success: true }, [], 1, 1));
    await until(async () => (await limited.read('limited', 0, 10)).entries.length === 4);
    await until(async () => heard > 0);
    stop.abort();
    await watching;
    assert.equal(limited.dropped, 0);
    assert.deepEqual(await limited.describe(), { engine: 'postgresql' });
    assert.deepEqual(await ask(url.href, 'SELECT coxswain.prune_operations(10)::integer AS gone'), [
      { gone: 0 },
    ]);
    assert.deepEqual(
      await ask(
        url.href,
        `SELECT relname FROM pg_class WHERE relowner = current_user::regrole
         UNION ALL SELECT proname FROM pg_proc WHERE proowner = current_user::regrole`,
      ),
      [],
    );
    for (const change of [
      "UPDATE coxswain.log SET agent_id = 'x'",
      'DELETE FROM coxswain.log',
      'TRUNCATE coxswain.log',
    ])
      await assert.rejects(ask(url.href, change), /permission denied/);
  } finally {
    await limited.close();
    await ask(database.url, `DROP ROLE ${login}`);
  }
});

test('[STORE-2] a real login of the API becomes another role for each call, and sees what that one may', async () => {
  const login = `cox_authenticator_${process.pid}`;
  await ask(
    database.url,
    `CREATE ROLE ${login} LOGIN NOINHERIT; GRANT anon, authenticated, service_role TO ${login}`,
  );
  const url = new URL(database.url);
  url.username = login;
  const api = await connectTo(url.href);
  try {
    await assert.rejects(api.query('SELECT * FROM coxswain.file_locks'), /permission denied/);
    await api.query(
      'BEGIN; SET LOCAL ROLE authenticated; SET LOCAL request.jwt.claims = \'{"project":"other"}\'',
    );
    const { rows } = await api.query('SELECT file_path FROM coxswain.file_locks');
    assert.deepEqual(rows, [{ file_path: 'other.ts' }]);
    await api.query('COMMIT');
    // The claims went with their transaction; what is left of the setting is an empty text.
    await api.query('BEGIN; SET LOCAL ROLE authenticated');
    assert.deepEqual((await api.query('SELECT file_path FROM coxswain.file_locks')).rows, []);
    await api.query('COMMIT');
  } finally {
    await api.end();
    await ask(database.url, `DROP ROLE ${login}`);
  }
});

test('[STORE-2] what a later migration adds is closed until it is opened by name', async () => {
  const later = await testDatabase();
  await (await openDomain(later.url)).close();
  await ask(
    later.url,
    `CREATE TABLE coxswain.later (project text, x integer);
     CREATE VIEW coxswain.leaking AS SELECT * FROM coxswain.log;
     CREATE FUNCTION coxswain.later_step() RETURNS integer LANGUAGE sql SECURITY DEFINER RETURN 1;
     GRANT USAGE ON SCHEMA coxswain TO anon; GRANT ALL ON ALL TABLES IN SCHEMA coxswain TO anon, authenticated;
     SELECT coxswain.bootstrap()`,
  );
  const [rights] = await ask(
    later.url,
    `SELECT has_table_privilege('authenticated', 'coxswain.later', 'SELECT') AS reads_table,
       has_table_privilege('authenticated', 'coxswain.leaking', 'SELECT') AS reads_view,
       has_table_privilege('authenticated', 'coxswain.records', 'UPDATE') AS writes,
       has_schema_privilege('anon', 'coxswain', 'USAGE') AS anon_enters,
       has_function_privilege('authenticated', 'coxswain.later_step()', 'EXECUTE') AS calls,
       has_function_privilege('coxswain_service', 'coxswain.later_step()', 'EXECUTE') AS product_calls,
       (SELECT relrowsecurity FROM pg_class WHERE oid = 'coxswain.later'::regclass) AS by_row`,
  );
  assert.deepEqual(rights, {
    reads_table: false,
    reads_view: false,
    writes: false,
    anon_enters: false,
    calls: false,
    product_calls: true,
    by_row: true,
  });
  await later.drop();
});
