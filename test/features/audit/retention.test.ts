import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreFailure } from '../../../src/kernel/refusal.ts';
import { countPrunable, prune } from '../../../src/ledger/audit/retention.ts';
import { verify } from '../../../src/ledger/audit/verify-log.ts';
import { compareWithLive, replay } from '../../../src/ledger/replay.ts';
import { entities } from '../../../src/runtime/entities.ts';
import { ask, connectTo } from '../../stores/postgres-support.ts';
import { DAY_MS, ENGINES, oldAndNew, Place, work } from './support.ts';

async function differences({ coxswain: { store, project } }: Place) {
  return await compareWithLive(store, entities, project, await replay(store, entities, project));
}

for (const engine of ENGINES) {
  test(`[AUD-4] [AUD-7] ${engine}: retention removes old audit rows, records that, and leaves what happened`, async () => {
    await using place = await Place.open(engine);
    await oldAndNew(place, 6, 3);
    const before = await place.rows();
    assert.deepEqual(await countPrunable(place.retention()), { segments: 1, rows: 6 });
    assert.deepEqual(await place.rows(), before, 'counting removes nothing');
    assert.deepEqual(await prune(place.retention()), { segments: 1, rows: 6 });

    const isOld = (at_ms: number) => at_ms < Date.now() - 90 * DAY_MS;
    const kept = before.filter(({ at_ms, events }) => events.length > 0 || !isOld(at_ms));
    const after = await place.rows();
    assert.deepEqual(after.slice(0, kept.length), kept);
    const [record, ...more] = after.slice(kept.length);
    assert.deepEqual([record?.operation, record?.agent_id, more.length], ['prune_audit', 'keeper', 0]);
    assert.deepEqual([record?.parameters.segment, record?.result.removed], [1, 6]);

    const checked = await verify(place.coxswain.store, 'default');
    assert.deepEqual([checked.fault, checked.removed, checked.tail.rows], [undefined, 6, 1]);
    assert.deepEqual(await differences(place), []);
    assert.deepEqual(await prune(place.retention()), { segments: 0, rows: 0 }, 'once is enough');
    await work(place, 2, 'later');
    await place.seal();
    const again = await verify(place.coxswain.store, 'default');
    assert.deepEqual([again.fault, again.removed], [undefined, 6]);
    for (let position = 0; position < 12; position += 1) {
      const [next] = (await place.coxswain.store.read('default', position, 1)).entries;
      assert.equal(next?.position, after.find((row) => row.position > position)?.position, 'also from a gap');
    }
    const found = await place.agent('operator')('query_audit', { agent_id: 'old' });
    assert.equal((found.entries as unknown[]).length, 6);
  });

  test(`[AUD-7] ${engine}: records of removals are never removed, however old`, async () => {
    await using place = await Place.open(engine);
    await oldAndNew(place, 2, 0);
    place.ago_ms = 95 * DAY_MS;
    await prune(place.retention());
    await place.age(95);
    place.ago_ms = 0;
    await place.seal();
    assert.deepEqual(await prune(place.retention()), { segments: 0, rows: 0 });
    assert.equal((await place.rows()).at(-1)?.operation, 'prune_audit');
    assert.equal((await verify(place.coxswain.store, 'default')).fault, undefined);
  });

  test(`[AUD-7] ${engine}: two at once remove each row once`, async () => {
    await using place = await Place.open(engine);
    place.ago_ms = 100 * DAY_MS;
    for (let n = 0; n < 5; n += 1) {
      await work(place, 2, 'old', 2 * n);
      await place.age(100);
      await place.seal();
    }
    place.ago_ms = 0;
    const both = await Promise.all([prune(place.retention()), prune(place.retention())]);
    assert.equal(both[0].rows + both[1].rows, 10);
    const checked = await verify(place.coxswain.store, 'default');
    assert.deepEqual([checked.fault, checked.removed], [undefined, 10]);
  });
}

test('[AUD-7] a segment goes when all of it is old enough, not before', async () => {
  await using place = await Place.open('memory');
  place.ago_ms = 100 * DAY_MS;
  await work(place, 2, 'first');
  place.ago_ms -= DAY_MS / 2;
  await work(place, 2, 'second');
  await place.seal();
  const between_ms = Date.now() - 99.75 * DAY_MS;
  assert.equal((await prune(place.retention(between_ms))).rows, 0);
  assert.equal((await prune(place.retention(between_ms + DAY_MS))).rows, 4);
});

test('[AUD-4] sqlite: what was changed is not removed: it is evidence', async () => {
  await using place = await Place.open('sqlite');
  await oldAndNew(place, 3, 0);
  const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
  database.exec('DROP TRIGGER log_is_append_only_update');
  database.exec("UPDATE log SET agent_id = 'somebody' WHERE position = 1");
  database.close();
  await assert.rejects(prune(place.retention()), (error) => {
    assert.ok(error instanceof StoreFailure);
    assert.equal(error.refusal.error, 'store_damaged');
    return true;
  });
  assert.equal((await verify(place.coxswain.store, 'default')).fault?.kind, 'changed');
});

test('[AUD-4] sqlite: only what is announced as a gap can go, and a gap that is not stays damage', async () => {
  await using place = await Place.open('sqlite');
  await oldAndNew(place, 3, 1);
  await prune(place.retention());
  const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
  const gaps = database.prepare('SELECT first, last FROM gaps ORDER BY first').all();
  assert.deepEqual(
    gaps.map((gap) => ({ ...gap })),
    [2, 4, 6].map((position) => ({ first: position, last: position })),
  );
  for (const sql of [
    'DELETE FROM log WHERE position = 3',
    'DELETE FROM log',
    'UPDATE log SET operation_id = operation_id',
    "UPDATE seals SET hash = ''",
    'UPDATE seals SET pruned_by = NULL',
    'DELETE FROM seals',
    'DELETE FROM sealed_rows',
    "UPDATE sealed_rows SET leaves = x'00'",
  ])
    assert.throws(() => database.exec(sql), /append-only/, sql);
  database.exec('DELETE FROM gaps WHERE first = 4');
  database.close();
  await assert.rejects(place.rows(), /Row 4 of the log is missing; 5 follows/);
});

test('[AUD-4] postgres: no statement changes or removes a row, not even with the setting of retention', async () => {
  await using place = await Place.open('postgres');
  await oldAndNew(place, 3, 1);
  await ask(
    place.url,
    `CREATE ROLE cox_intruder_${process.pid};
     GRANT USAGE ON SCHEMA coxswain TO cox_intruder_${process.pid};
     GRANT ALL ON ALL TABLES IN SCHEMA coxswain TO cox_intruder_${process.pid}`,
  );
  const client = await connectTo(place.url);
  try {
    const refused = async (sql: string, code: RegExp) => {
      await assert.rejects(client.query(sql), (error) => {
        assert.match(String((error as { code?: string }).code), code, sql);
        return true;
      });
    };
    const changes = ['log', 'seals'].flatMap((table) => [
      `UPDATE coxswain.${table} SET project = 'x'`,
      `DELETE FROM coxswain.${table}`,
      `TRUNCATE coxswain.${table}`,
    ]);
    for (const sql of changes) await refused(sql, /^COX02$/);
    await client.query("SET coxswain.retention = 'on'");
    for (const sql of [
      "UPDATE coxswain.log SET project = 'x'",
      'TRUNCATE coxswain.log',
      'DELETE FROM coxswain.seals',
    ])
      await refused(sql, /^COX02$/);
    await client.query(`SET ROLE cox_intruder_${process.pid}`);
    for (const sql of changes) await refused(sql, /^COX02$/);
    await refused("SELECT coxswain.remove_rows('default', 1, 'pruned_by', '{2}', '{}')", /^42501$/);
    await client.query("SET session_replication_role = 'replica'").catch(() => {});
    for (const sql of changes) await refused(sql, /^COX02$/);
  } finally {
    await client.end();
    await ask(place.url, `DROP OWNED BY cox_intruder_${process.pid}; DROP ROLE cox_intruder_${process.pid}`);
  }
  assert.equal((await verify(place.coxswain.store, 'default')).fault, undefined);
});

test('[AUD-4] postgres: retention itself takes only old rows, of the right kind, of that segment, with a record', async () => {
  await using place = await Place.open('postgres');
  await oldAndNew(place, 3, 1);
  const { trail } = place.coxswain.store;
  const rows = await place.rows();
  const some = (agent_id: string, events: number) =>
    rows.find((row) => row.agent_id === agent_id && row.events.length === events)?.position ?? 0;
  const { position: _, ...like } = rows[0] ?? assert.fail();
  const row = { ...like, events: [], operation: 'prune_audit' };
  const base = { number: 1, mark: 'pruned_by' as const, positions: [some('old', 0)], row };
  const wrong = [
    { ...base, positions: [some('old', 1)] },
    { ...base, positions: [some('old', 0), some('new', 0)] },
    { ...base, number: 2, positions: [some('new', 0)] },
    { ...base, number: 9 },
    { ...base, mark: 'archived_by' as const },
    { ...base, row: { ...row, operation: 'check_locks' } },
    { ...base, row: { ...row, project: 'other' } },
  ];
  for (const removal of wrong) await assert.rejects(trail.remove('default', removal), /COX02/);
  assert.equal((await place.rows()).length, rows.length);
  assert.equal(await trail.remove('default', base), true);
  assert.equal(await trail.remove('default', base), false);
});
