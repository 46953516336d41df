import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import { number, text } from '../../src/stores/dynamodb/item.ts';
import { Log } from '../../src/stores/dynamodb/ordered-log.ts';
import { row, StandInTable, type Step } from './dynamodb-table.ts';

const ids = createIds(systemClock, systemRandom);
const P = 'p';
const ALL = 10_000;

function logOn(table: StandInTable): Log {
  return new Log(table.client, ids);
}

/** The stamps of the log's rows in the order of their positions, which have no gaps. */
async function orderOf(log: Log): Promise<(number | undefined)[]> {
  const { entries, safe } = await log.read(P, 0, ALL);
  assert.deepEqual(
    entries.map(({ position }) => position),
    Array.from({ length: safe }, (_, at) => at + 1),
  );
  return entries.map(({ born }) => born);
}

/** Runs something once, at the n-th time a step is reached. */
function once(step: Step, nth: number, run: () => unknown): (at: Step) => Promise<void> {
  let reached = 0;
  return async (at) => {
    if (at === step) reached += 1;
    if (at === step && reached === nth) await run();
  };
}

test('an empty log ends at 0, and rows are numbered in the order of their stamps', async () => {
  const table = new StandInTable();
  const log = logOn(table);
  assert.deepEqual(await log.read(P, 0, ALL), { entries: [], safe: 0 });
  for (const stamp of [30, 10, 20]) table.commit(P, stamp);
  assert.deepEqual(await orderOf(log), [10, 20, 30]);
  table.commit(P, 5);
  assert.deepEqual(await orderOf(log), [10, 20, 30, 5], 'what was read stays as it was read');
});

test('a row that a look missed and one that follows from it keep their order', async () => {
  const table = new StandInTable();
  table.page_rows = 1;
  table.commit(P, 10);
  // The first page has passed the place of 5 by then; 20 went by it, and lies ahead.
  table.at = once('page', 2, () => {
    table.commit(P, 5);
    table.commit(P, 20);
  });
  table.commit(P, 15);
  assert.deepEqual(await orderOf(logOn(table)), [5, 10, 15, 20]);
});

test('two who put the same rows in order do not place them twice', async () => {
  for (const [step, nth] of [
    ['get', 1],
    ['transact', 1],
    ['page', 2],
  ] as const) {
    const table = new StandInTable();
    for (const stamp of [1, 2, 3]) table.commit(P, stamp);
    const quicker = logOn(table.beside());
    table.at = once(step, nth, () => quicker.order(P));
    assert.deepEqual(await orderOf(logOn(table)), [1, 2, 3], `the other came before ${step} ${nth}`);
  }
});

test('rows that come while one is at it are placed behind, also by one that had looked before', async () => {
  const table = new StandInTable();
  for (const stamp of [1, 2]) table.commit(P, stamp);
  const other = table.beside();
  const quicker = logOn(other);
  // Between the slower one's look and its sight of the head the quicker one places those two and a third one.
  table.at = once('get', 1, async () => {
    await quicker.order(P);
    other.commit(P, 3);
    await quicker.order(P);
  });
  assert.deepEqual(await orderOf(logOn(table)), [1, 2, 3]);
});

test('an orderer that is killed before or after its transaction leaves nothing undone and nothing done twice', async () => {
  for (const step of ['page', 'get', 'transact', 'transacted'] as const) {
    const table = new StandInTable();
    for (const stamp of [1, 2, 3]) table.commit(P, stamp);
    const killed = table.beside(
      once(step, 1, () => {
        throw new Error('killed');
      }),
    );
    await assert.rejects(logOn(killed).order(P), /killed/);
    assert.deepEqual(await orderOf(logOn(table)), [1, 2, 3], `killed at ${step}`);
  }
});

test('under every interleaving readers agree, positions are dense, and what follows stands behind', async () => {
  const property = fc.asyncProperty(
    fc.scheduler(),
    fc.integer({ min: 1, max: 3 }),
    async (scheduler, page) => {
      const table = new StandInTable();
      table.page_rows = page;
      const pass = async (step: Step) => {
        await scheduler.schedule(Promise.resolve(), step);
      };
      // Three writers; each goes by the newest row that there is.
      let newest = 0;
      const write = async (stamps: number[]) => {
        for (const ahead of stamps) {
          await pass('transact');
          newest += ahead;
          table.commit(P, newest);
        }
      };
      // And one that goes by nothing, with a clock that is late.
      const loner = async () => {
        for (const stamp of [2, 9, 16]) {
          await pass('transact');
          table.commit(P, stamp + 0.5);
        }
      };
      const reader = async () => {
        const log = logOn(table.beside(pass));
        const [first, second] = [await orderOf(log), await orderOf(log)];
        assert.deepEqual(second.slice(0, first.length), first);
        return second;
      };
      const work = Promise.all([reader(), reader(), reader(), write([3, 1, 5]), write([2, 4]), loner()]);
      const [a, b, c] = await scheduler.waitFor(work);
      const end = await orderOf(logOn(table.beside()));
      for (const seen of [a, b, c]) assert.deepEqual(end.slice(0, seen.length), seen);
      assert.equal(end.length, 8);
      const chain = end.filter((stamp) => Number.isInteger(stamp));
      assert.deepEqual(
        chain,
        [...chain].sort((x, y) => Number(x) - Number(y)),
      );
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test('more rows than a transaction takes are moved by several, each within DynamoDB’s limits', async () => {
  const table = new StandInTable();
  const stamps = Array.from({ length: 170 }, (_, at) => at + 1);
  for (const stamp of stamps) table.commit(P, stamp);
  assert.deepEqual(await orderOf(logOn(table)), stamps);
  assert.equal(table.transactions.length, 4);
  for (const actions of table.transactions) assert.ok(actions.length <= 100, `${actions.length} actions`);
});

test('rows that together are larger than a transaction are moved by several; bytes count, not characters', async () => {
  const table = new StandInTable();
  const note = '帆'.repeat(120_000);
  for (let stamp = 1; stamp <= 12; stamp += 1) table.commit(P, stamp, { parameters: { note } });
  assert.equal((await orderOf(logOn(table))).length, 12);
  for (const actions of table.transactions) {
    const bytes = actions.reduce((sum, { Put }) => sum + Buffer.byteLength(Put?.Item?.row?.S ?? ''), 0);
    assert.ok(bytes * 2 <= 4_000_000, `${bytes} bytes put and as many deleted`);
  }
});

test('who reads a log that others keep writing to comes to an end', async () => {
  const table = new StandInTable();
  let stamp = 0;
  table.at = (step) => {
    if (step !== 'page') return;
    stamp += 1;
    if (stamp < 2000) table.commit(P, stamp);
  };
  const { entries } = await logOn(table).read(P, 0, ALL);
  assert.ok(entries.length > 0 && stamp < 20, `after ${stamp} pages`);
});

test('who asks while the log is being put in order is told of its own row, too', async () => {
  const table = new StandInTable();
  const log = logOn(table);
  table.commit(P, 1);
  const heads: Promise<number>[] = [];
  // The look is over by now: the first call can't know of 2.
  table.at = once('transact', 1, () => {
    table.commit(P, 2);
    heads.push(log.order(P), log.order(P));
  });
  assert.equal(await log.order(P), 1);
  assert.deepEqual(await Promise.all(heads), [2, 2]);
  assert.equal(table.waiting(P), 0);
});

test('a row is appended at the very end, in one transaction with what depends on its position', async () => {
  const table = new StandInTable();
  const log = logOn(table);
  table.commit(P, 1);
  const positions: number[] = [];
  const note = (position: number) => {
    positions.push(position);
    const Item = { PK: text(P), SK: text('MARK'), version: number(position) };
    return [{ Put: { TableName: 'stand-in', Item, ConditionExpression: 'attribute_not_exists(PK)' } }];
  };
  // A row comes in between: 2 is taken, and no reader may have been told otherwise.
  const other = logOn(table.beside());
  table.at = once('transact', 2, () => {
    table.commit(P, 7);
    return other.order(P);
  });
  assert.equal(await log.appendWith(P, row(P, { born: 100 }), note), true);
  assert.deepEqual(positions, [2, 3]);
  assert.equal((await table.get({ PK: P, SK: 'MARK' }))?.version?.N, '3');
  assert.deepEqual(await orderOf(log), [1, 7, 100]);
  assert.equal(await log.appendWith(P, row(P, { born: 200 }), note), false, 'its own condition says no');
  assert.deepEqual(await orderOf(log), [1, 7, 100]);
});
