import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf, type Seal } from '../../../src/ledger/audit/seal.ts';
import { keepSealing, seal } from '../../../src/ledger/audit/sealing.ts';
import { verify } from '../../../src/ledger/audit/verify-log.ts';
import { until } from '../../support/until.ts';
import { DAY_MS, ENGINES, Place, work } from './support.ts';

const sealsOf = async (place: Place): Promise<Seal[]> =>
  await place.coxswain.store.trail.sealsAfter('default', 0, 1000);

for (const engine of ENGINES) {
  test(`[AUD-6] ${engine}: the chain covers every row, and what is not sealed yet is said`, async () => {
    await using place = await Place.open(engine);
    const { store } = place.coxswain;
    const empty = await verify(store, 'default');
    assert.deepEqual([empty.fault, empty.seals, empty.tail.rows], [undefined, 0, 0]);
    await work(place, 5);
    const open = await verify(store, 'default');
    assert.deepEqual([open.fault, open.seals, open.rows, open.tail.rows], [undefined, 0, 0, 10]);
    assert.equal(await place.seal(), 10);
    await work(place, 2, 'later');
    const half = await verify(store, 'default');
    assert.deepEqual([half.fault, half.seals, half.rows, half.tail.rows], [undefined, 1, 10, 4]);
    assert.equal(half.tail.after, (await place.rows())[9]?.position);
    assert.ok((half.tail.oldest_at_ms ?? 0) > 0);
    assert.equal(await place.seal(), 4);
    assert.equal(await place.seal(), 0, 'nothing is sealed twice');
    const [first, second, ...more] = await sealsOf(place);
    assert.deepEqual([first?.number, second?.number, more.length], [1, 2, 0]);
    assert.deepEqual([second?.previous, second?.after], [first?.hash, first?.last]);
    assert.deepEqual([first?.rows, first?.quiet_rows, first?.event_rows], [10, 5, 5]);
  });

  test(`[AUD-6] ${engine}: of two sealers at once each segment is sealed by one`, async () => {
    await using place = await Place.open(engine);
    await work(place, 20);
    const sealed = await Promise.all(Array.from({ length: 4 }, () => place.seal()));
    assert.equal(
      sealed.reduce((sum, rows) => sum + rows, 0),
      40,
    );
    assert.equal((await verify(place.coxswain.store, 'default')).fault, undefined);
  });
}

test('[AUD-6] sealing to the end comes to an end, however quickly others write', async () => {
  await using place = await Place.open('memory');
  await work(place, 2);
  const { trail } = place.coxswain.store;
  const addSeal = trail.addSeal.bind(trail);
  let seals = 0;
  trail.addSeal = async (...args) => {
    seals += 1;
    assert.ok(seals < 10, 'it runs after whoever writes');
    await place.agent('busy')('acquire_lock', { file_path: `busy/${seals}.ts` });
    return await addSeal(...args);
  };
  assert.equal(await place.seal(), 4);
});

test('[AUD-6] a row has the same digest on every store', async () => {
  await using memory = await Place.open('memory');
  const entry = {
    schema: 2,
    project: 'default',
    at_ms: Date.now(),
    agent_id: 'ä\u2028"\\',
    agent_type: 'test',
    session_id: 's',
    sequence: 7,
    operation: 'noted',
    operation_id: '',
    parameters: { z: 1e21, a: { deep: [1.5, -0, null, true, { '10': 1, '9': 2 }] }, small: 5e-324, '': '' },
    result: { success: true, text: '𝄞\u0001' },
    duration_ms: 0.125,
    events: [],
  };
  const digests: string[] = [];
  for (const engine of ENGINES) {
    await using place = engine === 'memory' ? memory : await Place.open(engine);
    place.coxswain.store.note(entry);
    const [row] = await place.settled(1);
    assert.ok(row !== undefined);
    digests.push(digestOf(row));
    if (engine === 'memory') await memory.reopen();
  }
  assert.equal(new Set(digests).size, 1, digests.join(' '));
});

test('[AUD-6] in the background only full segments and late rows are sealed; a segment spans a day at most', async () => {
  await using place = await Place.open('memory');
  const { store } = place.coxswain;
  const background = () => seal(store, 'default', place.clock);
  place.ago_ms = 3 * DAY_MS;
  await work(place, 2);
  assert.equal(await background(), 0, 'too young');
  place.ago_ms -= 59_000;
  assert.equal(await background(), 0);
  place.ago_ms -= 2_000;
  assert.equal(await background(), 4, 'a minute old');
  await work(place, 3, 'first');
  place.ago_ms -= DAY_MS + 60_000;
  await work(place, 1, 'second');
  assert.equal(await background(), 6, 'the day is over; the next one goes on');
  place.ago_ms -= 60_000;
  assert.equal(await background(), 2);
  await work(place, 600, 'many');
  assert.equal(await background(), 1000, 'a full one, whatever its age');
  assert.deepEqual(
    (await sealsOf(place)).map(({ rows }) => rows),
    [4, 6, 2, 1000],
  );
  assert.equal((await verify(store, 'default')).fault, undefined);
});

test('[AUD-6] whoever lives long seals by itself, goes on after a failure, and stops when told', async () => {
  await using place = await Place.open('memory');
  place.ago_ms = DAY_MS;
  await work(place, 2);
  place.ago_ms = 0;
  const { store } = place.coxswain;
  const stop = new AbortController();
  let looks = 0;
  const clock = {
    ...place.clock,
    sleep: async () => {
      looks += 1;
      if (looks === 1) throw new Error('the store is away');
      await new Promise(setImmediate);
    },
  };
  const sealing = keepSealing(store, 'default', { clock, random: { fraction: () => 0.5 } }, stop.signal);
  await until(async () => (await sealsOf(place)).length === 1);
  stop.abort();
  await sealing;
  assert.ok(looks >= 2);
});

test('[AUD-6] of many who catch up with a long log one goes on, and the others leave it to that one', async () => {
  await using place = await Place.open('sqlite');
  await work(place, 1600);
  const { store } = place.coxswain;
  const stop = new AbortController();
  const pauses_ms: number[] = [];
  const ticks_ms = [0, 20, 20, 40, 40, 45];
  /** Another process seals the same rows while this one gathers them. */
  const beaten = {
    ...place.clock,
    // A segment takes 20 ms here, then 5.
    elapsed_ms: () => ticks_ms.shift() ?? 0,
    async sleep(ms: number) {
      pauses_ms.push(Math.round(ms));
      if (pauses_ms.length === 4) stop.abort();
    },
  };
  let rivals = 1;
  const trail = {
    sealsBefore: store.trail.sealsBefore.bind(store.trail),
    async addSeal(...sealed: Parameters<typeof store.trail.addSeal>) {
      if (rivals > 0) {
        rivals -= 1;
        await store.trail.addSeal(...sealed);
      }
      return await store.trail.addSeal(...sealed);
    },
  };
  const watched = { trail, read: store.read.bind(store) } as unknown as typeof store;
  await keepSealing(watched, 'default', { clock: beaten, random: { fraction: () => 0 } }, stop.signal);
  assert.deepEqual(
    pauses_ms,
    [7500, 7500, 80, 50],
    'long after being beaten; after a seal of its own as it takes',
  );
  assert.equal((await sealsOf(place)).length, 3);
  assert.equal((await verify(store, 'default')).fault, undefined);
});
