import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { anchored, chooseStore } from '../../src/runtime/choose-store.ts';
import { testDatabase } from '../support/postgres.ts';
import { cox, scratch } from '../transports/support.ts';

const DSN = 'postgres://ann:secret@db.example:5432/postgres';
const SUPABASE = { SUPABASE_URL: 'https://x.supabase.co', SUPABASE_SERVICE_KEY: 'service-secret' };

const choices: [string, string | undefined, Record<string, string>, string | undefined][] = [
  ['nothing set', undefined, {}, undefined],
  ['--store before all', 'memory:', { COX_STORE: 'sqlite:a', POSTGRES_DSN: DSN, DB_BACKEND: 'x' }, 'memory:'],
  ['COX_STORE before POSTGRES_DSN', undefined, { COX_STORE: 'sqlite:a', POSTGRES_DSN: DSN }, 'sqlite:a'],
  ['an empty COX_STORE is none', undefined, { COX_STORE: '', POSTGRES_DSN: DSN }, DSN],
  ['POSTGRES_DSN alone', undefined, { POSTGRES_DSN: DSN }, DSN],
  ['DB_BACKEND=postgres', undefined, { POSTGRES_DSN: DSN, DB_BACKEND: 'postgres' }, DSN],
  ['DB_BACKEND=supabase by its connection', undefined, { POSTGRES_DSN: DSN, DB_BACKEND: 'Supabase' }, DSN],
  ['DB_BACKEND=sqlite forces the default', undefined, { POSTGRES_DSN: DSN, DB_BACKEND: 'sqlite' }, undefined],
  ['SUPABASE_URL never switches', undefined, SUPABASE, undefined],
];

for (const [title, named, env, url] of choices)
  test(`[STORE-4] which store: ${title}`, () => {
    assert.equal(chooseStore(named, env).url, url);
  });

test('[STORE-4] a path in a store’s name begins where it was named', () => {
  for (const [named, meant] of [
    ['sqlite:x/cox.db', 'sqlite:/here/x/cox.db'],
    ['files:../.ai-workspace', 'files:/.ai-workspace'],
    ['sqlite:/abs/cox.db', 'sqlite:/abs/cox.db'],
    ...['sqlite:', 'memory:', 'dynamodb://sqlite:x', DSN].map((same) => [same, same] as const),
  ] as const)
    assert.equal(anchored(named, '/here'), meant);
});

for (const [title, env, said] of [
  ['a backend without an address', { DB_BACKEND: 'postgres', ...SUPABASE }, /POSTGRES_DSN/],
  [
    'DynamoDB without a table',
    { DB_BACKEND: 'dynamodb', POSTGRES_DSN: DSN },
    /COX_STORE.*dynamodb:\/\/coxswain/,
  ],
  [
    'an unknown backend',
    { DB_BACKEND: 'mysql', POSTGRES_DSN: DSN },
    /expected postgres, supabase, dynamodb or sqlite/,
  ],
  ['a DSN that is no URL', { POSTGRES_DSN: 'host=db password=secret' }, /postgres:\/\/USER/],
] as const)
  test(`[STORE-4] ${title} is a clear error that shows no password`, () => {
    assert.throws(
      () => chooseStore(undefined, env),
      (error) =>
        error instanceof StoreFailure &&
        error.refusal.error === 'invalid_input' &&
        said.test(error.message) &&
        !error.message.includes('secret'),
    );
  });

test('[STORE-4] SUPABASE_URL alone: cox status and cox mcp say what to set, and SQLite is used', async () => {
  using scratched = scratch();
  const asked = { cwd: scratched.folder, env: SUPABASE };
  const { out, code } = await cox(['status', '--json'], asked);
  const status = JSON.parse(out);
  assert.equal(code, 0);
  assert.match(status.store, /^sqlite:/);
  assert.match(status.notice, /set POSTGRES_DSN .*postgres:\/\//);
  assert.ok(!out.includes('service-secret'));
  const served = await cox(['mcp'], { ...asked, input: '' });
  assert.match(served.err, /SUPABASE_URL alone does not choose the store/);
  const quiet = await cox(['status', '--json'], { cwd: scratched.folder });
  assert.equal(JSON.parse(quiet.out).notice, undefined);
});

test('[STORE-4] POSTGRES_DSN reaches the store from the command line, and DB_BACKEND nonsense is a usage error', async () => {
  using scratched = scratch();
  const database = await testDatabase();
  try {
    const env = { POSTGRES_DSN: database.url, ...SUPABASE };
    const { out } = await cox(['status', '--json'], { cwd: scratched.folder, env });
    const status = JSON.parse(out);
    assert.match(status.store, /^postgres:\/\//);
    assert.equal(status.notice, undefined);
    assert.equal(status.store_lacks, undefined);
    const wrong = { ...env, DB_BACKEND: 'mysql' };
    const refused = await cox(['status', '--json'], { cwd: scratched.folder, env: wrong });
    assert.equal(refused.code, 2);
    assert.equal(JSON.parse(refused.out).field, 'DB_BACKEND');
  } finally {
    await database.drop();
  }
});
