import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { open } from '../../src/index.ts';
import { limits } from '../../src/kernel/limits.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { prefixed, type Range } from '../../src/ledger/decision.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { type Item, keyOf, number, text } from '../../src/stores/dynamodb/item.ts';
import { indexPlace, operationPlace, recordPlace } from '../../src/stores/dynamodb/item-layout.ts';
import { Recent } from '../../src/stores/recent-ids.ts';
import { request } from '../conformance/cells.ts';
import { agent } from '../conformance/engine.ts';
import { plainClient, type TestTable, testTable } from '../support/dynamodb.ts';
import { itemsOf, openThings, requestsOf, setThings, touched } from './dynamodb-support.ts';

const DAY_S = 24 * 3600;
const PROJECT = 'cells';

let table: TestTable;
let store: Store;
let other: Store;

before(async () => {
  table = await testTable();
  [store, other] = [await openThings(table.url), await openThings(table.url)];
});

after(async () => {
  await store.close();
  await other.close();
  await table.drop();
});

const at = (place: { PK: string; SK: string }) => async () =>
  (await itemsOf(table)).find(({ PK, SK }) => PK?.S === place.PK && SK?.S === place.SK);

async function putItem(Item: Item): Promise<void> {
  using client = await plainClient(table.endpoint);
  await client.sdk.send(new PutItemCommand({ TableName: table.table, Item }));
}

async function idsIn(range: Range, from = store): Promise<string[]> {
  const { loaded } = await from.find(PROJECT, { ranges: [range] });
  return loaded.list(range).map(({ id }) => id);
}

function failsWith(code: string) {
  return (error: unknown) => error instanceof StoreFailure && error.refusal.error === code;
}

test('[CLAIM-10] a claim is one item under its feature and edge, with what people look for, and a lock one under its path', async () => {
  const coxswain = await open({ store: table.url, project: 'shown' });
  const ann = agent(coxswain, 'ann');
  const got = await ann('claim_edge', { feature: 'F-AUTH', edge: 'design_code', agent_role: 'architect' });
  await ann('acquire_lock', { file_path: 'src/app.ts' });
  await coxswain.close();
  const items = (await itemsOf(table)).filter(({ PK }) => PK?.S === 'shown');
  const claim = items.find(({ SK }) => SK?.S === 'CLAIM#F-AUTH#design_code') ?? {};
  const { state, born, stamp, ...shown } = claim;
  const expires_ms = Date.parse(got.expires_at as string);
  assert.deepEqual(shown, {
    ...{ PK: text('shown'), SK: text('CLAIM#F-AUTH#design_code') },
    ...{ agent_id: text('ann'), agent_role: text('architect') },
    claimed_at: text(got.claimed_at as string),
    last_active: text(got.claimed_at as string),
    version: number(got.fencing_token as number),
    ttl: number(Math.ceil(expires_ms / 1000)),
  });
  assert.deepEqual(born, stamp);
  assert.equal(JSON.parse(state?.S ?? '').feature, 'F-AUTH');
  const lock = items.find(({ SK }) => SK?.S === 'LOCK#src/app.ts');
  assert.deepEqual(Object.keys(lock ?? {}).sort(), ['PK', 'SK', 'born', 'stamp', 'state', 'version']);
  const entries = items.filter(({ SK }) => SK?.S?.startsWith('INDEX#claim'));
  assert.equal(entries.length, 2, 'by its last sign of life, and by its holder');
  for (const { id, ttl } of entries) {
    assert.equal(id?.S, 'F-AUTH#design_code');
    assert.ok(Number(ttl?.N) >= Number(claim.ttl?.N), 'no entry is swept before its record');
  }
  const rows = (await itemsOf(table)).filter(({ PK }) => PK?.S === 'shown#log');
  const row = rows.find(({ event_type }) => event_type?.S === 'edge_started') ?? {};
  assert.match(row.SK?.S ?? '', /^OUT#\d{16}#[0-9a-f-]{36}$/);
  assert.deepEqual(
    [row.operation?.S, row.agent_id?.S, row.feature_id?.S, row.edge?.S, row.timestamp?.S],
    ['claim_edge', 'ann', 'F-AUTH', 'design_code', got.claimed_at],
  );
});

test('an entry whose record lives longer than was thought is not swept before it', async () => {
  // Noon of tomorrow: what is over is swept here too.
  const now_ms = (Math.ceil(Date.now() / 1000 / DAY_S) + 0.5) * DAY_S * 1000;
  const state = { sort: 'long/key', over_ms: now_ms };
  await store.run(request('ann'), setThings({ long: state }));
  const extend = (days: number) =>
    requestsOf(() =>
      store.run(request('ann'), setThings({ long: { ...state, over_ms: now_ms + days * DAY_S * 1000 } })),
    );
  assert.equal(
    touched(await extend(0.01))
      .flat()
      .filter((key) => key.startsWith('INDEX#')).length,
    0,
  );
  assert.equal(
    touched(await extend(3))
      .flat()
      .filter((key) => key.startsWith('INDEX#')).length,
    1,
  );
  const items = (await itemsOf(table)).filter(({ id, SK }) => id?.S === 'long' || SK?.S === 'THING#long');
  const [first, second] = items.map(({ ttl }) => Number(ttl?.N));
  assert.equal(items.length, 2);
  assert.ok(Math.abs(Number(first) - Number(second)) <= DAY_S, `${first} and ${second}`);
  assert.ok(Math.min(Number(first), Number(second)) >= now_ms / 1000 + 4 * DAY_S);
});

test('more index entries than a transaction takes are written before it and removed after it', async () => {
  const links = (n: number, turn: string) => Array.from({ length: 40 }, (_, i) => `${turn}/${n}/${i}`);
  const states = (turn: string) =>
    Object.fromEntries([0, 1, 2].map((n) => [`many-${n}`, { links: links(n, turn) }]));
  await store.run(request('ann'), setThings(states('one')));
  assert.equal((await idsIn(prefixed('link', 'thing', 'one/', 1000))).length, 120);
  const seen = await requestsOf(() => store.run(request('ann'), setThings(states('two'))));
  for (const keys of touched(seen)) assert.ok(keys.length <= 100);
  assert.deepEqual(await idsIn(prefixed('link', 'thing', 'one/', 1000)), []);
  assert.equal((await idsIn(prefixed('link', 'thing', 'two/', 1000))).length, 120);
  const left = (await itemsOf(table)).filter(({ SK }) => SK?.S?.startsWith('INDEX#thing#l#one/'));
  assert.deepEqual(left, []);
});

test('what an earlier write tidies up, a later one has put back: that stays, and all else goes', async () => {
  const links = (turn: string) => Array.from({ length: 50 }, (_, i) => `${turn}${i}`);
  const states = (turn: string) => ({ 'back-0': { links: links(turn) }, 'back-1': { links: links(turn) } });
  await store.run(request('ann'), setThings(states('x')));
  const { loaded } = await store.find(PROJECT, { keys: [{ kind: 'thing', id: 'back-0' }] });
  const { born = 0 } = loaded.get({ kind: 'thing', id: 'back-0' }) ?? {};
  const place = indexPlace(PROJECT, { kind: 'thing', id: 'back-0', born, by: 'link', key: 'x7' });
  // As a later write leaves it, whose version is higher than that of the one which tidies up.
  await putItem({ ...keyOf(place), id: text('back-0'), version: number(Number.MAX_SAFE_INTEGER) });
  await store.run(request('ann'), setThings(states('y')));
  const left = (await itemsOf(table)).filter(({ SK }) => SK?.S?.startsWith('INDEX#thing#l#x'));
  assert.deepEqual(
    left.map(({ SK }) => SK?.S),
    [place.SK],
  );
  // And as a hint that leads nowhere it is passed by.
  assert.deepEqual(await idsIn(prefixed('link', 'thing', 'x', 10)), []);
});

test('entries of a killed writer, of a record that never came and of one that came anew are passed by', async () => {
  await store.run(request('ann'), setThings({ real: { sort: 'left/b' } }));
  const { loaded } = await store.find(PROJECT, { keys: [{ kind: 'thing', id: 'real' }] });
  const { born = 0 } = loaded.get({ kind: 'thing', id: 'real' }) ?? {};
  const entry = (id: string, key: string, bornThen: number) =>
    putItem({
      ...keyOf(indexPlace(PROJECT, { kind: 'thing', id, born: bornThen, by: 'sort', key })),
      id: text(id),
      version: number(1),
    });
  for (let n = 0; n < 30; n += 1) await entry(`ghost-${n}`, 'left/a', born);
  await entry('real', 'left/c', born);
  await entry('real', 'left/b', born - 1);
  assert.deepEqual(await idsIn(prefixed('sort', 'thing', 'left/', 5)), ['real']);
});

test('ids and keys of 950 bytes, ranges that end just after a key, empty ranges and ties in byte order', async () => {
  const long = (end: string) => `${'ä'.repeat(474)}${end}`;
  assert.ok(Buffer.byteLength(long('x1')) === limits.entity_id_bytes_max);
  const states = Object.fromEntries(
    ['x2', 'x1', 'x3'].map((end) => [long(end), { sort: long('x0'), links: [long(end)] }]),
  );
  await store.run(request('ann'), setThings(states));
  const exactly: Range = {
    by: 'sort',
    kind: 'thing',
    from: long('x0'),
    before: `${long('x0')}\u0000`,
    limit: 9,
  };
  assert.deepEqual((await idsIn(exactly)).sort(), Object.keys(states).sort());
  const one: Range = { by: 'link', kind: 'thing', from: long('x2'), before: `${long('x2')}\u0000`, limit: 9 };
  assert.deepEqual(await idsIn(one), [long('x2')]);
  assert.deepEqual(await idsIn({ ...one, before: long('x2') }), [], 'nothing lies before itself');
  assert.deepEqual(await idsIn({ ...one, from: 'z', before: 'a' }), [], 'nor between an end and a start');
  assert.deepEqual(await idsIn({ ...one, limit: 0 }), []);
  // One birth, one key: UTF-8 puts U+FF5E before U+1F600, UTF-16 behind it.
  const ties = ['tie-\u{1F600}', 'tie-\uFF5E', 'tie-a', 'tie-B', 'tie'];
  await store.run(request('ann'), setThings(Object.fromEntries(ties.map((id) => [id, { sort: 'tie' }]))));
  const sorted = ['tie', 'tie-B', 'tie-a', 'tie-\uFF5E', 'tie-\u{1F600}'];
  assert.deepEqual(await idsIn(prefixed('sort', 'thing', 'tie', 9)), sorted);
  assert.deepEqual(await idsIn(prefixed('id', 'thing', 'tie', 9)), sorted);
  assert.deepEqual(await idsIn({ ...prefixed('id', 'thing', 'tie', 9), before: 'tie-a' }), ['tie', 'tie-B']);
});

test('an index page that ends at a key of the full 1024 bytes is gone on with behind it', async () => {
  const key = 'k'.repeat(950);
  const base = Buffer.byteLength(indexPlace(PROJECT, { kind: 'thing', id: '', born: 1, by: 'sort', key }).SK);
  const ids = Array.from({ length: 30 }, (_, n) => `${String(n).padStart(2, '0')}${'i'.repeat(1022 - base)}`);
  await store.run(request('ann'), setThings(Object.fromEntries(ids.map((id) => [id, { sort: key }]))));
  const entries = (await itemsOf(table)).filter(({ id }) => ids.includes(id?.S ?? ''));
  assert.ok(entries.every(({ SK }) => Buffer.byteLength(SK?.S ?? '') === 1024));
  assert.deepEqual(
    await idsIn({ by: 'sort', kind: 'thing', from: key, before: `${key}\u0000`, limit: 26 }),
    ids.slice(0, 26),
  );
  // A full page of entries that lead nowhere comes first: the next one begins behind the last of them.
  await store.run(request('ann'), setThings(Object.fromEntries(ids.slice(0, 27).map((id) => [id, {}]))));
  for (const entry of entries) await putItem(entry);
  assert.deepEqual(
    await idsIn({ by: 'sort', kind: 'thing', from: key, before: `${key}\u0000`, limit: 3 }),
    ids.slice(27),
  );
});

test('a record that all go by has witnesses: a change is noticed by every caller, who otherwise share nothing', async () => {
  const book = { kind: 'book', id: 'all' };
  await store.run(request('ann'), setThings({ all: { text: 'one' } }, [], 'book'));
  for (const each of [store, other]) await each.run(request('warm'), setThings({ warm: {} }, [book]));
  const seen = await requestsOf(async () => {
    await store.run(request('ann'), setThings({ a: {} }, [book]));
    await other.run(request('bob'), setThings({ b: {} }, [book]));
  });
  const [anns = [], bobs = []] = touched(seen);
  assert.ok(anns.some((key) => key.startsWith('WITNESS#book/all#')));
  assert.deepEqual(
    anns.filter((key) => bobs.includes(key)),
    [],
  );
  await store.run(request('ann'), setThings({ all: { text: 'two' } }, [], 'book'));
  let texts: unknown[] = [];
  const outcome = await other.run(request('bob'), {
    needs: { keys: [book, { kind: 'thing', id: 'read' }] },
    decide(loaded) {
      texts = [...texts, loaded.get<{ text?: string }>(book)?.state.text];
      return setThings({ read: {} }).decide(loaded, 0);
    },
  });
  assert.equal(outcome.status, 'committed');
  assert.deepEqual(texts, ['one', 'two'], 'what was remembered did not pass');
});

test('an operation id is good for one request, for a day, and an expired one that is not swept yet is as good as gone', async () => {
  const named = request('ann', 'op-1', 'digest');
  const first = await store.run(named, setThings({ op: { text: '1' } }));
  const again = await other.run({ ...named }, setThings({ op: { text: '2' } }));
  assert.ok(first.status === 'committed' && !first.repeated);
  assert.ok(again.status === 'committed' && again.repeated);
  const reused = await other.run({ ...named, input_digest: 'another' }, setThings({ op: { text: '3' } }));
  assert.ok(reused.status === 'refused' && reused.refusal.error === 'operation_id_reused');
  const item = (await at(operationPlace(named))()) ?? {};
  const at_ms = Number(item.at_ms?.N);
  assert.equal(Number(item.ttl?.N), Math.ceil((at_ms + limits.operation_kept_ms) / 1000) + DAY_S);
  await putItem({ ...item, at_ms: number(at_ms - limits.operation_kept_ms - 5000) });
  const anew = await store.run({ ...named, input_digest: 'another' }, setThings({ op: { text: '4' } }));
  assert.ok(anew.status === 'committed' && !anew.repeated);
});

test('the ids of agents with similar names are told apart', () => {
  const place = (agent_id: string, operation_id: string) =>
    operationPlace(request(agent_id, operation_id)).SK;
  assert.notEqual(place('a#b', 'c'), place('a', 'b#c'));
  assert.ok(Buffer.byteLength(place('ä'.repeat(600), 'c')) <= 1024);
});

test('what DynamoDB can’t hold is refused as too large, and nothing of it is written', async () => {
  const before = (await itemsOf(table)).length;
  const text = (bytes: number) => 'x'.repeat(bytes);
  await assert.rejects(
    store.run(request('ann'), setThings({ big: { text: text(330_000) } })),
    failsWith('too_large'),
  );
  // Each fits; the row of both does not.
  const two = { big: { text: text(250_000) }, big2: { text: text(250_000) } };
  await assert.rejects(store.run(request('ann'), setThings(two)), failsWith('too_large'));
  // Small events, large states: only the transaction as a whole is too much.
  const many = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`grown-${n}`, { grown: 300_000 }]));
  await assert.rejects(store.run(request('ann'), setThings(many)), failsWith('too_large'));
  assert.equal((await itemsOf(table)).length, before);
  // And the next one is not held up by it.
  assert.equal((await store.run(request('ann'), setThings({ small: {} }))).status, 'committed');
});

test('what a process remembers is bounded: the oldest is forgotten first', () => {
  const recent = new Recent();
  const key = (n: number) => ({ kind: 'thing', id: `${n}` });
  for (let n = 0; n < 5001; n += 1) recent.put(PROJECT, { ...key(n), version: n + 1, born: 1, state: {} });
  assert.equal(recent.knows(PROJECT, key(0)), false);
  assert.equal(recent.get(PROJECT, key(2600))?.version, 2601);
  assert.equal(recent.get('another', key(1)), undefined);
});

test('what a process remembers wrongly refuses nobody', async () => {
  const key = { kind: 'thing', id: 'guess' };
  await store.run(request('ann'), setThings({ guess: { text: 'held' } }));
  await other.run(request('bob'), setThings({ guess: { text: 'free' } }));
  const { refuse } = await import('../../src/kernel/refusal.ts');
  const outcome = await store.run(request('ann'), {
    needs: { keys: [key] },
    decide(loaded) {
      if ((loaded.get(key)?.state as { text?: string } | undefined)?.text === 'held')
        return { verdict: 'refuse', refusal: refuse('blocked', 'held') };
      return setThings({ guess: { text: 'mine' } }).decide(loaded, 0);
    },
  });
  assert.equal(outcome.status, 'committed');
  assert.equal(JSON.parse((await at(recordPlace(PROJECT, key))())?.state?.S ?? '').text, 'mine');
});

test('two who read at once while both write see the same rows at the same places, notes among them', async () => {
  const { logRow } = await import('../../src/ledger/log.ts');
  for (let n = 0; n < 60; n += 1)
    store.note(logRow({ ...request('noter'), sequence: n }, {}, [], 1_790_000_000_000, 0));
  const writes = [store, other].map((each, n) => each.run(request('w'), setThings({ [`row-${n}`]: {} })));
  const reads = [store, other, store, other].map((each) => each.read(PROJECT, 0, 1000));
  const partly = await Promise.all(reads);
  await Promise.all(writes);
  await store.close();
  store = await openThings(table.url);
  const { entries, safe } = await store.read(PROJECT, 0, 1000);
  assert.deepEqual(
    entries.map(({ position }) => position),
    Array.from({ length: safe }, (_, index) => index + 1),
  );
  for (const { entries: seen } of partly) assert.deepEqual(entries.slice(0, seen.length), seen);
  assert.equal(entries.filter(({ agent_id }) => agent_id === 'noter').length, 60);
  assert.deepEqual((await other.read(PROJECT, 0, 1000)).entries, entries);
  const stored = await store.trail.stored(PROJECT, 0, Number.MAX_SAFE_INTEGER);
  assert.ok(stored.length === safe && stored.every(({ intact }) => intact));
});
