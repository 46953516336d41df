import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { makeSeal, packLeaves } from '../../../src/ledger/audit/seal.ts';
import { wordsOf } from '../../../src/ledger/audit/search-words.ts';
import { describeRemoval } from '../../../src/ledger/audit/tombstone.ts';
import { verify } from '../../../src/ledger/audit/verify-log.ts';
import { agent } from '../../conformance/engine.ts';
import { ask } from '../../stores/postgres-support.ts';
import { Place, work } from './support.ts';

/** What a person with access to the store may do to a sealed log, and what verify has to say: kind and first bad row. */
interface Attack {
  readonly name: string;
  readonly sqlite: readonly string[];
  readonly postgres: readonly string[];
  readonly expected: readonly [kind: string, position?: number];
}

const UNLOCKED_SQLITE = [
  'DROP TRIGGER log_is_append_only_update',
  'DROP TRIGGER log_is_append_only_delete',
  'DROP TRIGGER seals_are_append_only_update',
  'DROP TRIGGER seals_are_append_only_delete',
  'DROP TRIGGER seals_are_marked_once',
  'DROP TRIGGER sealed_rows_are_append_only_update',
];
const UNLOCKED_POSTGRES = [
  'ALTER TABLE coxswain.log DISABLE TRIGGER log_is_append_only',
  'ALTER TABLE coxswain.seals DISABLE TRIGGER seals_are_append_only',
];

const swap = (table: string) => [
  `UPDATE ${table} SET position = -5 WHERE position = 5`,
  `UPDATE ${table} SET position = 5 WHERE position = 7`,
  `UPDATE ${table} SET position = 7 WHERE position = -5`,
];

const both = (sql: (schema: string) => string[]) => ({ sqlite: sql(''), postgres: sql('coxswain.') });

const ATTACKS: readonly Attack[] = [
  {
    name: 'a changed name',
    ...both((at) => [`UPDATE ${at}log SET agent_id = 'somebody' WHERE position = 6`]),
    expected: ['changed', 6],
  },
  {
    name: 'a changed parameter',
    sqlite: ["UPDATE log SET body = replace(body, 'worker/2.ts', 'worker/9.ts') WHERE position = 5"],
    postgres: [`UPDATE coxswain.log SET parameters = '{"file_path":"worker/9.ts"}' WHERE position = 5`],
    expected: ['changed', 5],
  },
  {
    name: 'a changed time',
    ...both((at) => [`UPDATE ${at}log SET at_ms = at_ms - 1 WHERE position = 8`]),
    expected: ['changed', 8],
  },
  {
    name: 'a row taken out',
    ...both((at) => [`DELETE FROM ${at}log WHERE position = 4`]),
    expected: ['missing', 4],
  },
  {
    name: 'the last sealed row taken out',
    ...both((at) => [`DELETE FROM ${at}log WHERE position = 10`]),
    expected: ['missing', 10],
  },
  { name: 'two rows that changed places', ...both((at) => swap(`${at}log`)), expected: ['reordered', 5] },
  {
    name: 'a row added before the first',
    sqlite: [
      `INSERT INTO log SELECT 0, project, at_ms, agent_id, operation, operation_id, input_digest, body, 0 FROM log WHERE position = 3`,
      'UPDATE log SET position = -1 WHERE position = 0',
    ],
    postgres: [
      `INSERT INTO coxswain.log SELECT project, 0, schema, at_ms, agent_id, agent_type, session_id, sequence, operation,
         operation_id, parameters, result, duration_ms, events FROM coxswain.log WHERE position = 3`,
    ],
    expected: ['added'],
  },
  {
    name: 'a row of another project put among ours',
    ...both((at) => [`UPDATE ${at}log SET project = 'default' WHERE project = 'other'`]),
    expected: ['added', 11],
  },
  {
    name: 'a seal that says less',
    ...both((at) => [`UPDATE ${at}seals SET rows = rows - 1 WHERE number = 1`]),
    expected: ['seal_changed'],
  },
  {
    name: 'a seal that hides an agent from searches',
    ...both((at) => [`UPDATE ${at}seals SET words = replace(words, 'worker', 'nobody') WHERE number = 1`]),
    expected: ['seal_changed'],
  },
  {
    name: 'a seal taken out',
    ...both((at) => [`DELETE FROM ${at}seals WHERE number = 1`]),
    expected: ['seal_missing'],
  },
  {
    name: 'a removal that nobody recorded',
    ...both((at) => [
      `DELETE FROM ${at}log WHERE position = 4`,
      `UPDATE ${at}seals SET pruned_by = 12 WHERE number = 1`,
    ]),
    expected: ['removal_unproven', 12],
  },
];

async function sealed(engine: string): Promise<Place> {
  const place = await Place.open(engine);
  await work(place, 5);
  await place.seal();
  const other = await open({
    store: place.url,
    project: 'other',
    clock: place.clock,
    cwd: place.folder,
    presence: 'off',
  });
  await agent(other, 'stranger')('acquire_lock', { file_path: 'other.ts' });
  await other.close();
  await work(place, 3, 'second');
  await place.seal();
  await work(place, 2, 'unsealed');
  assert.equal((await verify(place.coxswain.store, 'default')).fault, undefined);
  return place;
}

function tamper(place: Place, statements: readonly string[]): void {
  const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
  try {
    // An attacker who knows how the checksums are made corrects them.
    database.function('crc', (text) => crc32(String(text)));
    for (const sql of [...UNLOCKED_SQLITE, ...statements]) database.exec(sql);
    database.exec(`UPDATE log SET checksum = crc(position || char(10) || project || char(10) || at_ms || char(10) ||
      agent_id || char(10) || operation || char(10) || operation_id || char(10) || coalesce(input_digest, 'null') ||
      char(10) || body)`);
  } finally {
    database.close();
  }
}

for (const attack of ATTACKS) {
  const [kind, position] = attack.expected;
  test(`[AUD-6] sqlite: ${attack.name}, with all checksums put right, is found`, async () => {
    await using place = await sealed('sqlite');
    tamper(place, attack.sqlite);
    const { fault } = await verify(place.coxswain.store, 'default');
    assert.equal(fault?.kind, kind, fault?.message);
    if (position !== undefined) assert.equal(fault?.position, position);
  });

  test(`[AUD-6] postgres: ${attack.name} is found`, async () => {
    await using place = await sealed('postgres');
    for (const sql of [...UNLOCKED_POSTGRES, ...attack.postgres]) await ask(place.url, sql);
    const { fault } = await verify(place.coxswain.store, 'default');
    assert.equal(fault?.kind, kind, fault?.message);
    if (position !== undefined) assert.equal(fault?.position, position);
  });
}

test('[AUD-6] sqlite: putting the checksums right changes nothing where nothing was changed', async () => {
  await using place = await sealed('sqlite');
  tamper(place, []);
  assert.equal((await verify(place.coxswain.store, 'default')).fault, undefined);
});

test('[AUD-6] sqlite: in the unsealed end a changed and a missing row are found by checksum and number', async () => {
  for (const [sql, kind, position] of [
    [`UPDATE log SET body = replace(body, 'unsealed', 'harmless') WHERE position = 18`, 'changed', 18],
    ['DELETE FROM log WHERE position = 19', 'missing', 19],
  ] as const) {
    await using place = await sealed('sqlite');
    const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
    for (const each of [...UNLOCKED_SQLITE, sql]) database.exec(each);
    database.close();
    const { fault } = await verify(place.coxswain.store, 'default');
    assert.deepEqual([fault?.kind, fault?.position], [kind, position]);
  }
});

for (const engine of ['sqlite', 'postgres']) {
  test(`[AUD-6] ${engine}: sealed history that was cut off is found by a head kept elsewhere`, async () => {
    await using place = await sealed(engine);
    const { head } = await verify(place.coxswain.store, 'default');
    assert.ok(head !== undefined);
    const kept = await verify(place.coxswain.store, 'default', { expect: head.hash });
    assert.equal(kept.fault, undefined);
    await work(place, 1, 'more');
    await place.seal();
    const later = await verify(place.coxswain.store, 'default', { expect: head.hash });
    assert.equal(later.fault, undefined, 'an old head is still part of the chain');
    const at = engine === 'sqlite' ? '' : 'coxswain.';
    const cut = [`DELETE FROM ${at}seals WHERE number > 1`, `DELETE FROM ${at}log WHERE position > 10`];
    if (engine === 'sqlite') tamper(place, cut);
    else for (const sql of [...UNLOCKED_POSTGRES, ...cut]) await ask(place.url, sql);
    assert.equal(
      (await verify(place.coxswain.store, 'default')).fault,
      undefined,
      'by itself it looks whole',
    );
    const { fault } = await verify(place.coxswain.store, 'default', { expect: head.hash });
    assert.equal(fault?.kind, 'head_unknown');
  });
}

test('[AUD-6] sqlite: a seal made anew for a changed row no longer fits the next one', async () => {
  await using place = await sealed('sqlite');
  const { store } = place.coxswain;
  const [first] = await store.trail.sealsAfter('default', 0, 1);
  assert.ok(first !== undefined);
  tamper(place, [`UPDATE log SET agent_id = 'somebody' WHERE position = 6`]);
  const rows = (await store.read('default', 0, first.rows)).entries;
  const leaves = packLeaves(rows);
  const { hash } = makeSeal('default', undefined, rows, leaves, first.sealed_at_ms);
  const words = wordsOf(rows);
  const database = new DatabaseSync(place.url.slice('sqlite:'.length), { timeout: 1000 });
  database.prepare('UPDATE sealed_rows SET leaves = ? WHERE number = 1').run(leaves);
  database.prepare('UPDATE seals SET hash = ?, words = ? WHERE number = 1').run(hash, words);
  database.close();
  const { fault, seals } = await verify(store, 'default');
  assert.deepEqual([fault?.kind, fault?.segment, seals], ['seal_changed', 2, 1]);
});

test('[AUD-6] a record of a removal proves only what it says, and never the removal of what happened', async () => {
  const forged = async (events: boolean, change: (result: JsonObject) => JsonObject) => {
    await using place = await Place.open('memory');
    await work(place, 4);
    await place.seal();
    const { trail } = place.coxswain.store;
    const rows = (await place.rows()).filter((row) => row.events.length > 0 === events);
    const positions = [rows[0]?.position ?? 0];
    const packed = (await trail.leaves('default', 1)) ?? assert.fail();
    const { position: _, ...like } = rows[0] ?? assert.fail();
    const result = change(describeRemoval(packed, new Set(positions)));
    const row = { ...like, operation: 'prune_audit', events: [], parameters: { segment: 1 }, result };
    await trail.remove('default', { number: 1, mark: 'pruned_by', positions, row });
    return (await verify(place.coxswain.store, 'default')).fault?.kind;
  };
  assert.equal(await forged(false, (result) => result), undefined);
  assert.equal(await forged(false, (result) => ({ ...result, digest: '0'.repeat(64) })), 'removal_unproven');
  assert.equal(await forged(false, (result) => ({ ...result, removed: 2 })), 'removal_unproven');
  assert.equal(await forged(false, (result) => ({ ...result, which: 'AA==' })), 'removal_unproven');
  assert.equal(await forged(true, (result) => result), 'removal_unproven');
});
