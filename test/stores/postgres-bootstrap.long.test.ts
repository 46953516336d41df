import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { describeStatus } from '../../src/features/overview/cli/status-command.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { fakeTerminal, scratch } from '../transports/support.ts';
import { call } from './postgres-calls.ts';
import { ask, connectTo, openDomain } from './postgres-support.ts';

const ROLES = ['anon', 'authenticated', 'coxswain_service', 'service_role'];

/** Roles are the whole server's, so these tests have one to themselves. */
let server: PostgresServer;

before(async () => {
  server = await startPostgres({ fsync: false });
});

after(() => server.stop());

const rolesThere = () =>
  ask<{ rolname: string }>(
    server.url,
    `SELECT rolname FROM pg_roles WHERE rolname = ANY ('{${ROLES}}') ORDER BY rolname COLLATE "C"`,
  ).then((rows) => rows.map(({ rolname }) => rolname));

async function databaseOf(login: string): Promise<string> {
  const url = new URL(await server.createDatabase());
  await ask(server.url, `ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${login}`);
  url.username = login;
  return url.href;
}

test('[STORE-2] an owner that may not create roles gets a working store, and cox status says what is missing', async () => {
  await ask(server.url, 'CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEROLE');
  const url = await databaseOf('plain');
  using scratched = scratch();
  const status = () =>
    describeStatus({ store: url, agent: 'ann' }, fakeTerminal(scratched.folder, {}).terminal);
  const before_roles = await status();
  assert.equal(before_roles.success, true);
  assert.deepEqual(
    before_roles.store_lacks,
    ['anon', 'authenticated', 'service_role', 'coxswain_service'].map((role) => `role ${role}`),
  );
  assert.match(String(before_roles.store_remedy), /CREATE ROLE .* SELECT coxswain\.bootstrap\(\)/);
  assert.deepEqual(await rolesThere(), []);

  await ask(server.url, ROLES.map((role) => `CREATE ROLE ${role} NOLOGIN`).join(';'));
  assert.deepEqual((await status()).store_lacks, [
    'the rights of role authenticated',
    'the rights of role service_role',
    'the rights of role coxswain_service',
  ]);
  assert.deepEqual(await ask(url, 'SELECT coxswain.bootstrap() AS missing'), [{ missing: [] }]);
  assert.equal((await status()).store_lacks, undefined);
  // The functions then act with the rights of that owner.
  const superuser = new URL(url);
  superuser.username = 'postgres';
  const api = await connectTo(superuser.href);
  const locked = await call(api, 'acquire_lock', { project: 'p', agent_id: 'ann' }, { file_path: 'a.ts' });
  await api.end();
  assert.equal(locked.action, 'acquired');
  await ask(server.url, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
  await ask(server.url, `DROP ROLE ${ROLES.join(', ')}`);
});

test('[STORE-2] many databases of one server migrated at once, each by two processes: all come up with all roles', async () => {
  assert.deepEqual(await rolesThere(), []);
  const urls = await Promise.all(Array.from({ length: 6 }, () => server.createDatabase()));
  const stores = await Promise.all([...urls, ...urls].map((url) => openDomain(`${url}?max=2`)));
  for (const store of stores) assert.deepEqual(await store.describe(), { engine: 'postgresql' });
  await Promise.all(stores.map((store) => store.close()));
  assert.deepEqual(await rolesThere(), ROLES);
  const [login] = await ask(
    server.url,
    `SELECT bool_or(rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole) AS powerful
     FROM pg_roles WHERE rolname = ANY ('{${ROLES}}')`,
  );
  assert.deepEqual(login, { powerful: false });
});

test('[STORE-2] auth.role() and auth.uid() are there for policies written for Supabase', async () => {
  const url = await server.createDatabase();
  await (await openDomain(url)).close();
  const claims = { role: 'authenticated', sub: '0192a000-0000-7000-8000-000000000001' };
  const [said] = await ask(
    url,
    `SELECT auth.role() AS nobody, set_config('request.jwt.claims', '${JSON.stringify(claims)}', false)`,
  );
  assert.equal(said?.nobody, null);
  assert.deepEqual(
    await ask(
      url,
      `SELECT auth.role(), auth.uid()::text FROM set_config('request.jwt.claims', '${JSON.stringify(claims)}', false)`,
    ),
    [{ role: 'authenticated', uid: claims.sub }],
  );
});

test("[STORE-2] Supabase's own functions and publication are left as they are", async () => {
  const url = await server.createDatabase();
  await ask(
    url,
    `CREATE SCHEMA auth;
     CREATE FUNCTION auth.role() RETURNS text LANGUAGE sql RETURN 'theirs';
     CREATE TABLE public.messages (id integer PRIMARY KEY);
     CREATE PUBLICATION supabase_realtime FOR TABLE public.messages`,
  );
  const store = await openDomain(url);
  assert.deepEqual(await store.describe(), { engine: 'postgresql' });
  await store.close();
  assert.deepEqual(await ask(url, 'SELECT auth.role()'), [{ role: 'theirs' }]);
  const published = () =>
    ask<{ tablename: string }>(
      url,
      "SELECT tablename FROM pg_publication_tables WHERE pubname = 'supabase_realtime' ORDER BY tablename",
    ).then((rows) => rows.map(({ tablename }) => tablename));
  assert.deepEqual(await published(), ['log', 'messages', 'records']);
  // Also when one of them was taken out meanwhile.
  await ask(url, 'ALTER PUBLICATION supabase_realtime DROP TABLE coxswain.log; SELECT coxswain.bootstrap()');
  assert.deepEqual(await published(), ['log', 'messages', 'records']);
  await ask(url, 'DROP PUBLICATION supabase_realtime; CREATE PUBLICATION supabase_realtime FOR ALL TABLES');
  assert.deepEqual(await ask(url, 'SELECT coxswain.bootstrap() AS missing'), [{ missing: [] }]);
});

test('[STORE-2] a schema auth that belongs to somebody else keeps nobody from migrating', async () => {
  await ask(server.url, 'CREATE ROLE tenant LOGIN NOSUPERUSER');
  const url = await databaseOf('tenant');
  const superuser = new URL(url);
  superuser.username = 'postgres';
  await ask(superuser.href, 'CREATE SCHEMA auth; CREATE PUBLICATION supabase_realtime');
  const store = await openDomain(url);
  assert.deepEqual((await store.describe()).missing, [
    'function auth.role()',
    'function auth.uid()',
    'tables in publication supabase_realtime',
  ]);
  await store.close();
});

test('[STORE-2] [STORE-3] a login without rights is told what it lacks', async () => {
  const url = new URL(await server.createDatabase());
  await (await openDomain(url.href)).close();
  await ask(server.url, 'CREATE ROLE stranger LOGIN');
  url.username = 'stranger';
  await assert.rejects(openDomain(url.href), (error) => {
    assert.ok(error instanceof StoreFailure);
    assert.equal(error.refusal.error, 'database_unavailable');
    assert.match(error.message, /GRANT coxswain_service/);
    return true;
  });
});
