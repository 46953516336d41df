import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { awaitLock } from '../../src/features/locks/await-lock.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import { joinLine } from '../../src/features/queue/work-line.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { normaliseArea } from '../../src/kernel/path.ts';
import { findWorkspace } from '../../src/kernel/workspace.ts';
import { answerOf } from '../../src/ledger/decision.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { call } from './postgres-calls.ts';
import { ask, connectTo, ids, openDomain, request } from './postgres-support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: Store;
let client: pg.Client;

before(async () => {
  database = await testDatabase();
  store = await openDomain(database.url);
  client = await connectTo(database.url);
});

after(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

const ann = { project: 'p', agent_id: 'ann' };
const bob = { project: 'p', agent_id: 'bob' };

function task(more: { files?: string[] } = {}) {
  return {
    id: ids.uuid(),
    keyed: false,
    task_type: 'test',
    description: 'd',
    priority: 5,
    files: [],
    depends_on: [],
    max_attempts: 3,
    ...more,
  };
}

test('[STORE-4] lock, refuse, release; submit, claim, complete: the answers of the seed', async () => {
  const acquired = await call(client, 'acquire_lock', ann, { file_path: 'src/app.ts', reason: 'why' });
  assert.equal(acquired.success, true);
  assert.equal(acquired.action, 'acquired');
  assert.match(String(acquired.expires_at), /^\d{4}-.*Z$/);
  const blocked = await call(client, 'acquire_lock', bob, { file_path: 'src/app.ts' });
  assert.equal(blocked.success, false);
  assert.equal(blocked.action, 'blocked');
  assert.equal(blocked.locked_by, 'ann');
  assert.equal(blocked.expires_at, acquired.expires_at);
  assert.deepEqual(await call(client, 'release_lock', ann, { file_path: 'src/app.ts' }), {
    success: true,
    released: true,
    file_path: 'src/app.ts',
  });
  const submitted = await call(client, 'submit_task', ann, {
    task_type: 'test',
    task_description: 'run them',
    input_data: { n: 1 },
  });
  assert.equal(submitted.success, true);
  const claimed = await call(client, 'claim_task', bob);
  assert.equal(claimed.task_id, submitted.task_id);
  assert.equal(claimed.task_description, 'run them');
  assert.deepEqual(claimed.input_data, { n: 1 });
  const completed = await call(client, 'complete_task', bob, {
    task_id: submitted.task_id ?? '',
    success: true,
  });
  assert.equal(completed.status, 'completed');
  const none = await call(client, 'claim_task', bob);
  assert.deepEqual([none.success, none.reason], [false, 'no_tasks_available']);
  const audit = await ask<{ operation: string }>(
    database.url,
    "SELECT operation FROM coxswain.audit_log WHERE project = 'p' ORDER BY position",
  );
  assert.deepEqual(
    audit.map(({ operation }) => operation),
    'acquire_lock acquire_lock release_lock submit_work get_work complete_work get_work'.split(' '),
  );
});

test('[STORE-4] a call acts for the agent of its token and for nobody else', async () => {
  for (const claims of [
    {},
    { agent_id: 'ann' },
    { project: 'p' },
    { ...ann, agent_id: '' },
    { ...ann, agent_id: 'coxswain' },
    { ...ann, agent_id: 'a\nb' },
    { ...ann, agent_id: 'x'.repeat(129) },
    { project: ' ', agent_id: 'ann' },
    { user_metadata: ann },
  ])
    for (const [name, args] of [
      ['acquire_lock', { file_path: 'mine.ts' }],
      ['claim_task', {}],
    ] as const)
      await assert.rejects(
        call(client, name, claims, args),
        (error: { code?: string }) => error.code === '42501',
        JSON.stringify(claims),
      );
  // No argument lets a caller act as another agent.
  await assert.rejects(
    call(client, 'acquire_lock', ann, { file_path: 'mine.ts', agent_id: 'bob' }),
    (error: { code?: string }) => error.code === '42883',
  );
  for (const role of ['service_role', 'authenticated'])
    assert.equal((await call(client, 'acquire_lock', ann, { file_path: 'mine.ts' }, role)).success, true);
  await assert.rejects(
    call(client, 'acquire_lock', ann, { file_path: 'mine.ts' }, 'anon'),
    /permission denied/,
  );
  // Another project's file of the same name is another file.
  const elsewhere = { project: 'elsewhere', agent_id: 'bob' };
  assert.equal((await call(client, 'acquire_lock', elsewhere, { file_path: 'mine.ts' })).action, 'acquired');
  assert.equal((await call(client, 'release_lock', bob, { file_path: 'mine.ts' })).error, 'not_holder');
});

test('[STORE-4] the functions have more rights than their caller, fewer than a superuser, and fix what their names mean', async () => {
  const rows = await ask<{ name: string; settings: string[] | null; superuser: boolean }>(
    database.url,
    `SELECT p.proname AS name, p.proconfig AS settings, o.rolsuper AS superuser
     FROM pg_proc p JOIN pg_roles o ON o.oid = p.proowner
     WHERE p.pronamespace = 'coxswain'::regnamespace AND p.prosecdef ORDER BY p.proname`,
  );
  const open = ['acquire_lock', 'claim_task', 'complete_task', 'release_lock', 'submit_task'];
  assert.deepEqual(
    rows.filter(({ name }) => open.includes(name)).map(({ name }) => name),
    open,
  );
  assert.ok(!rows.some(({ name, superuser }) => open.includes(name) && superuser));
  for (const { name, settings } of rows)
    assert.ok(
      settings?.some((each) => /^search_path=pg_catalog, .*pg_temp$/.test(each)),
      name,
    );
  // What a caller puts into its own temporary schema is not found by them.
  const attacker = await connectTo(database.url);
  await attacker.query(
    `CREATE TEMP TABLE records (LIKE coxswain.records); CREATE TEMP TABLE log (LIKE coxswain.log);
     CREATE FUNCTION pg_temp.now_ms() RETURNS bigint LANGUAGE sql RETURN 1;
     GRANT ALL ON records, log TO authenticated`,
  );
  const locked = await call(attacker, 'acquire_lock', ann, { file_path: 'tempted.ts' });
  assert.ok(Number(locked.fencing_token) > 1_700_000_000_000);
  assert.deepEqual((await attacker.query('SELECT * FROM records')).rows, []);
  await attacker.end();
});

test('[STORE-4] [LOCK-8] a call repeated under its operation_id is done once', async () => {
  const args = { file_path: 'once.ts', operation_id: 'op-1' };
  const acquired = await call(client, 'acquire_lock', ann, args);
  assert.deepEqual(await call(client, 'acquire_lock', ann, args), acquired);
  const released = await call(client, 'release_lock', ann, { file_path: 'once.ts', operation_id: 'op-2' });
  assert.deepEqual(
    await call(client, 'release_lock', ann, { file_path: 'once.ts', operation_id: 'op-2' }),
    released,
  );
  const submit = { task_type: 'once', task_description: 'd', operation_id: 'op-3' };
  const submitted = await call(client, 'submit_task', ann, submit);
  assert.deepEqual(await call(client, 'submit_task', ann, submit), submitted);
  const claim = { task_types: ['once'], operation_id: 'op-4' };
  const claimed = await call(client, 'claim_task', ann, claim);
  assert.equal(claimed.task_id, submitted.task_id);
  assert.deepEqual(await call(client, 'claim_task', ann, claim), claimed);
  const other = await call(client, 'acquire_lock', ann, { file_path: 'two.ts', operation_id: 'op-1' });
  assert.equal(other.error, 'operation_id_reused');
  // An id is one agent's own.
  assert.equal((await call(client, 'acquire_lock', bob, args)).action, 'acquired');
});

test('[STORE-4] [LOCK-5] racing for one path through functions and product alike, exactly one wins', async () => {
  const clients = await Promise.all(Array.from({ length: 6 }, () => connectTo(database.url)));
  for (let round = 0; round < 15; round += 1) {
    const file_path = `race-${round}.ts`;
    const calls = clients.map((each, n) =>
      call(each, 'acquire_lock', { project: 'race', agent_id: `sql-${n}` }, { file_path }),
    );
    const commits = Array.from({ length: 4 }, async (_, n): Promise<JsonObject> => {
      const asked = request(`ts-${n}`, 'acquire_lock', { project: 'race' });
      const wish = { areas: [{ place: file_path }], single: true, caller: asked.actor, reason: undefined };
      const outcome = await store.run(asked, acquireLock({ ...wish, ttl_ms: 60_000 }));
      return answerOf(outcome);
    });
    const answers = await Promise.all([...calls, ...commits]);
    assert.equal(answers.filter(({ success }) => success === true).length, 1);
    assert.equal(answers.filter(({ action }) => action === 'blocked').length, 9);
  }
  await Promise.all(clients.map((each) => each.end()));
});

test('[STORE-4] [QUEUE-6] claims through the functions never hand out a task twice', async () => {
  const tasks = Array.from({ length: 40 }, () => task());
  await store.run(request('ann', 'submit_work', { project: 'queue' }), submitWork(tasks, 'ann'));
  const clients = await Promise.all(Array.from({ length: 5 }, () => connectTo(database.url)));
  const claimed: unknown[] = [];
  await Promise.all(
    clients.map(async (each, n) => {
      for (;;) {
        const answer = await call(each, 'claim_task', { project: 'queue', agent_id: `sql-${n}` });
        // Another caller is at the last ones: it says so, or that nothing is left.
        if (answer.success !== true) return;
        claimed.push(answer.task_id);
      }
    }),
  );
  await Promise.all(clients.map((each) => each.end()));
  for (;;) {
    const answer = await call(client, 'claim_task', { project: 'queue', agent_id: 'last' });
    if (answer.success !== true) break;
    claimed.push(answer.task_id);
  }
  assert.equal(claimed.length, 40);
  assert.equal(new Set(claimed).size, 40);
});

test('[STORE-4] [LOCK-10] a folder announced between the look of a call and its commit is seen', async () => {
  const project = 'between';
  // One whose entity is locked before the list of folders: the call then waits without holding that list.
  const [found] = await ask<{ path: string; high: number; low: number }>(
    database.url,
    `SELECT path, (key >> 32)::integer AS high, ((key << 32) >> 32)::integer AS low
     FROM (SELECT format('src/%s.ts', n) AS path, coxswain.lock_key($1, 'lock', format('src/%s.ts', n)) AS key
       FROM generate_series(1, 200) AS n) AS k
     WHERE key < coxswain.lock_key($1, 'lock_folders', 'all') ORDER BY key LIMIT 1`,
    [project],
  );
  assert.ok(found !== undefined);
  const holder = await connectTo(database.url);
  await holder.query('SELECT pg_advisory_lock($1, $2)', [found.high, found.low]);
  const calling = call(client, 'acquire_lock', { project, agent_id: 'ann' }, { file_path: found.path });
  const waiting = "SELECT count(*)::integer AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await until(async () => (await holder.query(waiting)).rows[0].n > 0);
  const asked = request('bob', 'wait_for_lock', { project });
  const wish = { areas: [{ place: 'src/' }], caller: asked.actor, waiter_id: ids.uuid(), stays: false };
  assert.equal((await store.run(asked, awaitLock(wish))).status, 'committed');
  await holder.end();
  assert.equal((await calling).error, 'not_decided_here');
});

test('[STORE-4] what the functions can not judge they leave undecided', async () => {
  const project = 'undecided';
  const claims = { project, agent_id: 'ann' };
  const undecided = async (name: string, args: JsonObject = {}) => {
    const answer = await call(client, name, claims, args);
    assert.deepEqual([answer.success, answer.error], [false, 'not_decided_here'], JSON.stringify(answer));
    assert.match(String(answer.remedy), /Coxswain server/);
  };
  const folder = request('bob', 'wait_for_lock', { project });
  const wish = { caller: folder.actor, waiter_id: ids.uuid(), stays: false };
  await store.run(folder, awaitLock({ ...wish, areas: [{ place: 'src/' }] }));
  await undecided('acquire_lock', { file_path: 'src/a.ts' });
  await undecided('acquire_lock', { file_path: 'src' });
  assert.equal((await call(client, 'acquire_lock', claims, { file_path: 'other.ts' })).success, true);
  assert.equal((await call(client, 'acquire_lock', claims, { file_path: 'api:src' })).success, true);

  await undecided('submit_task', { task_type: 't', task_description: 'd', depends_on: [ids.uuid()] });
  // Its file is locked by another agent, or lies below the folder: which of them, only the pure decision says.
  const files = ['src/a.ts'];
  await store.run(request('bob', 'submit_work', { project }), submitWork([task({ files })], 'bob'));
  await undecided('claim_task');
  const line = request('bob', 'wait_for_work', { project: 'line' });
  await store.run(line, joinLine({ waiter_id: ids.uuid(), agent_id: 'bob', task_types: undefined }));
  await store.run(request('bob', 'submit_work', { project: 'line' }), submitWork([task()], 'bob'));
  const overtaking = await call(client, 'claim_task', { project: 'line', agent_id: 'ann' });
  assert.equal(overtaking.error, 'not_decided_here');
  // A delayed task has become ready, and no caller has looked.
  const delayed = { ...task(), not_before_ms: Date.now() + 30 };
  await store.run(request('bob', 'submit_work', { project: 'due' }), submitWork([delayed], 'bob'));
  for (;;) {
    const answer = await call(client, 'claim_task', { project: 'due', agent_id: 'ann' });
    if (answer.error === 'not_decided_here') break;
    assert.equal(answer.reason, 'no_tasks_available');
  }
});

const long = 'x'.repeat(30_000);
const deep = JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`);
const HOSTILE: [string, JsonObject, string][] = [
  ...[
    '',
    '/etc/passwd',
    '../x',
    'a/../b',
    './a',
    'a/',
    'a//b',
    'a/.',
    '*.ts',
    'a?',
    'a\\b',
    '.git/config',
    'x/.GIT/y',
  ]
    .concat([
      '~/x',
      'C:/x',
      'file://x',
      ' api:x',
      'api:',
      'api: x',
      'a\u202eb',
      'a\nb',
      'e\u0301.ts',
      long,
      './api:x',
    ])
    .map((file_path): [string, JsonObject, string] => ['acquire_lock', { file_path }, 'file_path']),
  ['acquire_lock', { file_path: null }, 'file_path'],
  ['acquire_lock', { file_path: 'a.ts', ttl_minutes: 'NaN' }, 'ttl_minutes'],
  ['acquire_lock', { file_path: 'a.ts', ttl_minutes: 'Infinity' }, 'ttl_minutes'],
  ['acquire_lock', { file_path: 'a.ts', ttl_minutes: 0 }, 'ttl_minutes'],
  ['acquire_lock', { file_path: 'a.ts', reason: long }, 'reason'],
  ['acquire_lock', { file_path: 'a.ts', operation_id: '' }, 'operation_id'],
  ['release_lock', { file_path: 'a.ts', fencing_token: -1 }, 'fencing_token'],
  ['claim_task', { task_types: ['a/b'] }, 'task_types'],
  ['claim_task', { task_types: [] }, 'task_types'],
  ['claim_task', { task_types: [null] }, 'task_types'],
  ['claim_task', { lease_minutes: 481 }, 'lease_minutes'],
  ['complete_task', { task_id: "' OR true", success: true }, 'task_id'],
  ['complete_task', { task_id: ids.uuid(), success: null }, 'success'],
  ['complete_task', { task_id: ids.uuid(), success: true, result: deep }, 'result'],
  ['complete_task', { task_id: ids.uuid(), success: false, error_message: long }, 'error_message'],
  ['submit_task', { task_type: 'a b', task_description: 'd' }, 'task_type'],
  ['submit_task', { task_type: 't', task_description: '' }, 'task_description'],
  ['submit_task', { task_type: 't', task_description: 'd', priority: 0 }, 'priority'],
  ['submit_task', { task_type: 't', task_description: 'd', input_data: 'x'.repeat(200_001) }, 'input_data'],
  [
    'submit_task',
    { task_type: 't', task_description: 'd', input_data: JSON.parse('{"a":{"__proto__":1}}') },
    'input_data',
  ],
];

test('[STORE-4] hostile input is refused with the field it is about, and changes nothing', async () => {
  const project = 'hostile';
  const claims = { project, agent_id: 'ann' };
  for (const [name, args, field] of HOSTILE) {
    const answer = await call(client, name, claims, args);
    assert.equal(answer.success, false, JSON.stringify([name, args]).slice(0, 200));
    assert.equal(answer.field, field, JSON.stringify(answer));
  }
  assert.deepEqual(
    await ask(database.url, 'SELECT * FROM coxswain.records WHERE project = $1', [project]),
    [],
  );
  const [noted] = await ask<{ rows: number; bytes: number }>(
    database.url,
    `SELECT count(*)::integer AS rows, max(octet_length(parameters::text)) AS bytes FROM coxswain.log WHERE project = $1`,
    [project],
  );
  assert.equal(noted?.rows, HOSTILE.length);
  assert.ok((noted?.bytes ?? 0) < 5000, 'the log keeps long texts short');
});

test('[STORE-4] [LOCK-9] a path that the functions take is its own normal form everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cox-paths-'));
  try {
    const workspace = { ...findWorkspace(folder), caseInsensitive: false };
    const piece = fc.constantFrom(
      ...[
        'a',
        'B',
        '.',
        '..',
        '/',
        '//',
        '\\',
        '~',
        ':',
        'api:',
        'db:x',
        'C:',
        '.git',
        '*',
        '?',
        ' ',
        '\u00a0',
        'ü',
        'u\u0308',
      ],
      ...[
        '\u200b',
        '\u2028',
        '\u0085',
        '[x]',
        '{y}',
        '-',
        'feature:',
        './',
        'file://',
        '\u3000',
        '\u{1F600}',
        'git~1',
      ],
    );
    const paths = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 6 }), { numRuns: 4000, seed: 7 })
      .map((p) => p.join(''));
    const { rows } = await client.query<{ path: string; plain: boolean }>(
      'SELECT path, coxswain.is_plain_path(path) AS plain FROM unnest($1::text[]) AS path',
      [paths],
    );
    const taken = rows.filter(({ plain }) => plain);
    for (const { path } of taken)
      assert.deepEqual(
        normaliseArea(path, workspace),
        { ok: true, area: { place: path } },
        JSON.stringify(path),
      );
    assert.ok(taken.length > 200, `${taken.length} of ${rows.length}`);
    for (const path of ['src/app.ts', 'app/[slug]/page.tsx', 'a b/c.ts', 'api:users/1', 'ünï.ts', 'a:b'])
      assert.deepEqual((await client.query('SELECT coxswain.is_plain_path($1) AS plain', [path])).rows, [
        { plain: true },
      ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
