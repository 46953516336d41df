import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import { makeSeal, PRUNE, packLeaves, type Seal } from '../../src/ledger/audit/seal.ts';
import { DynamoTrail } from '../../src/stores/dynamodb/audit-trail.ts';
import { rowPlace, sealPlace } from '../../src/stores/dynamodb/item-layout.ts';
import { Log } from '../../src/stores/dynamodb/ordered-log.ts';
import type { Transacted } from '../../src/stores/dynamodb/table-client.ts';
import { damaged, row, StandInTable } from './dynamodb-table.ts';

const ids = createIds(systemClock, systemRandom);
const P = 'p';
const EVERY = { above: 0, below: Number.MAX_SAFE_INTEGER, rows_max: 1000, limit: 1000 };

function trailOn(table: StandInTable): DynamoTrail {
  return new DynamoTrail(table.client, new Log(table.client, ids), ids);
}

/** A log of so many rows in a sealed segment. */
async function sealedLog(rows: number) {
  const table = new StandInTable();
  for (let stamp = 1; stamp <= rows; stamp += 1)
    table.commit(P, stamp, { agent_id: stamp % 2 === 0 ? 'even' : 'odd' });
  const trail = trailOn(table);
  const { entries } = await new Log(table.client, ids).read(P, 0, rows);
  const leaves = packLeaves(entries);
  const seal = makeSeal(P, undefined, entries, leaves, 1);
  assert.equal(await trail.addSeal(seal, leaves), true);
  return { table, trail, seal, leaves };
}

function removal(seal: Seal, positions: number[], mark: 'pruned_by' | 'archived_by' = 'pruned_by') {
  return { number: seal.number, mark, positions, row: row(P, { operation: PRUNE, born: 1000 }) };
}

async function positionsOf(trail: DynamoTrail): Promise<number[]> {
  return (await trail.stored(P, 0, Number.MAX_SAFE_INTEGER)).map(({ position }) => position);
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

test('a seal is added once under its number, and found from both sides', async () => {
  const { trail, seal, leaves } = await sealedLog(3);
  assert.equal(await trail.addSeal({ ...seal, rows: 99 }, leaves), false);
  const second = { ...seal, number: 2 };
  assert.equal(await trail.addSeal(second, Buffer.from('second')), true);
  assert.deepEqual(await trail.sealsAfter(P, 0, 10), [seal, second]);
  assert.deepEqual(await trail.sealsAfter(P, 1, 10), [second]);
  assert.deepEqual(await trail.sealsBefore(P, Number.MAX_SAFE_INTEGER, 1), [second]);
  assert.deepEqual(await trail.sealsBefore(P, 2, 10), [seal]);
  assert.deepEqual(await trail.sealsBefore(P, 1, 10), []);
  assert.deepEqual(await trail.leaves(P, 1), leaves);
  assert.equal(await trail.leaves(P, 3), undefined);
  assert.deepEqual(await trail.sealsAfter('another', 0, 10), []);
});

test('a search goes from the end, within its stretch, and says how far it looked', async () => {
  const { table, trail } = await sealedLog(10);
  table.commit(P, 11, { agent_id: 'odd' });
  const newest = await trail.scan(P, { agent_id: 'odd' }, EVERY);
  assert.deepEqual(
    newest.entries.map(({ position }) => position),
    [11, 9, 7, 5, 3, 1],
  );
  assert.equal(newest.reached, 0, 'also what had no place yet');
  const two = await trail.scan(P, { agent_id: 'odd' }, { ...EVERY, below: 9, limit: 2 });
  assert.deepEqual([two.entries.map(({ position }) => position), two.reached], [[7, 5], 5]);
  const few = await trail.scan(P, { agent_id: 'nobody' }, { ...EVERY, rows_max: 4 });
  assert.deepEqual([few.entries, few.reached], [[], 8]);
  const above = await trail.scan(P, {}, { ...EVERY, above: 9 });
  assert.deepEqual([above.entries.map(({ position }) => position), above.reached], [[11, 10], 9]);
});

test('more rows than one transaction takes are removed, the removal is a row, and it happens once', async () => {
  const { table, trail, seal } = await sealedLog(260);
  assert.equal(await trail.remove(P, removal(seal, upTo(250))), true);
  assert.deepEqual(await positionsOf(trail), upTo(261, 251));
  const [marked] = await trail.sealsAfter(P, 0, 10);
  assert.deepEqual(marked, { ...seal, pruned_by: 261 });
  assert.deepEqual(Object.keys((await table.get(sealPlace(P, 1))) ?? {}).sort(), ['PK', 'SK', 'seal']);
  assert.equal(await trail.remove(P, removal(seal, upTo(5, 251))), false, 'it bears that mark already');
  assert.equal(await trail.remove(P, removal({ ...seal, number: 7 }, [251])), false, 'no such segment');
  assert.deepEqual(await positionsOf(trail), upTo(261, 251));
  for (const actions of table.transactions) assert.ok(actions.length <= 100);
});

test('a removal that is killed at any of its steps is finished by whoever looks at the segment next', async () => {
  // The mark with its row, three times up to a hundred deletions, the list cleared.
  for (const nth of [1, 2, 3, 4, 5]) {
    const { table, trail, seal } = await sealedLog(260);
    let sent = 0;
    const killed = table.beside((step) => {
      if (step === 'transact') sent += 1;
      if (sent === nth) throw new Error('killed');
    });
    await assert.rejects(trailOn(killed).remove(P, removal(seal, upTo(250))), /killed/);
    const [found] = await trail.sealsAfter(P, 0, 10);
    if (nth === 1) {
      assert.deepEqual(
        [found?.pruned_by, (await positionsOf(trail)).length],
        [null, 260],
        'nothing was done',
      );
      continue;
    }
    assert.equal(found?.pruned_by, 261);
    assert.deepEqual(await positionsOf(trail), upTo(261, 251), `killed at ${nth}`);
    assert.equal((await table.get(sealPlace(P, 1)))?.removing, undefined);
  }
});

test('rows that another transaction is at are not forgotten: the list stays until they are gone', async () => {
  const { table, trail, seal } = await sealedLog(5);
  const busy = table.beside();
  const real = busy.transact.bind(busy);
  let refused = 0;
  busy.transact = async (actions, token): Promise<Transacted> => {
    if (!actions.every(({ Delete }) => Delete !== undefined)) return await real(actions, token);
    refused += 1;
    return { done: false, reasons: actions.map(() => ({ Code: 'TransactionConflict' })) };
  };
  await assert.rejects(trailOn(busy).remove(P, removal(seal, [1, 2])), /busy/);
  assert.equal(refused, 1);
  assert.deepEqual(await positionsOf(trail), upTo(6));
  await trail.sealsAfter(P, 0, 1);
  assert.deepEqual(await positionsOf(trail), upTo(6, 3));
});

test('a second removal takes over what the first one has not come to', async () => {
  const { table, trail, seal } = await sealedLog(6);
  let sent = 0;
  const killed = table.beside((step) => {
    if (step === 'transact') sent += 1;
    if (sent === 2) throw new Error('killed');
  });
  await assert.rejects(trailOn(killed).remove(P, removal(seal, [1, 2])), /killed/);
  assert.equal(await trail.remove(P, removal(seal, [5, 6], 'archived_by')), true);
  assert.deepEqual(await positionsOf(trail), [3, 4, 7, 8]);
});

test('a row that was changed, or that nobody can read, is shown as such', async () => {
  const { table, trail } = await sealedLog(3);
  const item = (position: number) => {
    const { PK, SK } = rowPlace(P, position);
    return [...table.items.values()].find((each) => each.PK?.S === PK && each.SK?.S === SK) ?? {};
  };
  table.put(damaged({ ...item(1), row: { S: (item(1).row?.S ?? '').replace('odd', 'ann') } }));
  table.put({ ...item(2), row: { S: '{' } });
  const rows = await trail.stored(P, 0, 10);
  assert.deepEqual(
    rows.map(({ position, entry, intact }) => [position, entry?.agent_id, intact]),
    [
      [1, 'bob', false],
      [2, undefined, false],
      [3, 'odd', true],
    ],
  );
});
