import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import type { StoreFailure } from '../../src/kernel/refusal.ts';
import { verify } from '../../src/ledger/audit/verify-log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { Gathering } from '../../src/stores/sqlite/gathering.ts';
import { cellContext, request, setUnless } from '../conformance/cells.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-wal-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function commitOnce(store: Store, id: string): Promise<void> {
  const outcome = await store.run(request('anna'), setUnless(id, 'never', 'anna'));
  assert.equal(outcome.status, 'committed');
}

async function rowsOf(path: string): Promise<number> {
  const store = await openStore(`sqlite:${path}`, cellContext);
  const { entries } = await store.read('cells', 0, 10_000);
  await store.close();
  return entries.length;
}

const walBytes = (path: string) => statSync(`${path}-wal`).size;

test('[STORE-1] who commits again and again has room in the -wal; who commits once takes none', async () => {
  const path = join(folder, 'reserved.db');
  const store = await openStore(`sqlite:${path}`, cellContext);
  await commitOnce(store, 'first');
  assert.ok(walBytes(path) < 1_000_000, `${walBytes(path)}`);
  for (let index = 0; index < 10; index += 1) await commitOnce(store, `${index}`);
  const reserved = walBytes(path);
  assert.ok(reserved >= 8_300_000, `${reserved}`);
  for (let index = 10; index < 60; index += 1) await commitOnce(store, `${index}`);
  assert.equal(walBytes(path), reserved, 'it does not grow any more');
  await store.close();
  assert.equal(await rowsOf(path), 61);
});

test('[STORE-1] what stands in a reserved -wal is found after a crash, and nothing else', async () => {
  const path = join(folder, 'crashed.db');
  const copy = join(folder, 'copy.db');
  const store = await openStore(`sqlite:${path}`, cellContext);
  for (let index = 0; index < 30; index += 1) await commitOnce(store, `${index}`);
  // As a killed process leaves them: with nothing written back.
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${copy}${end}`);
  assert.ok(walBytes(copy) >= 8_300_000);
  assert.equal(await rowsOf(copy), 30);
  const again = await openStore(`sqlite:${copy}`, cellContext);
  await commitOnce(again, 'later');
  await again.close();
  assert.equal(await rowsOf(copy), 31);
  await store.close();
});

/** Counts the turns of the event loop that pass. */
async function turnsOf(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = () => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work();
  over = true;
  return turns;
}

test('[STORE-1] a lone caller waits for nobody, but from time to time it is looked whether there are others', async () => {
  const gathering = new Gathering(cellContext.clock);
  const looks = async (calls: number, waiting: string[]): Promise<number> => {
    let count = 0;
    for (let call = 0; call < calls; call += 1) {
      if ((await turnsOf(() => gathering.wait(waiting))) > 0) count += 1;
      gathering.took(1);
    }
    return count;
  };
  // After 8, 16, 32 and then 64 calls each.
  assert.equal(await looks(60, ['one']), 3);
  assert.equal(await looks(64 * 3, ['one']), 3);
  // Another caller was there: the checks become more frequent again.
  assert.equal(await looks(1, ['one', 'two']), 1);
  assert.equal(await looks(10, ['one']), 1);
});

test('[STORE-1] those who were served together are waited for, a moment', async () => {
  const gathering = new Gathering(cellContext.clock);
  gathering.took(8);
  const queue = ['one'];
  setImmediate(() => queue.push(...'abcdefg'));
  await gathering.wait(queue);
  assert.equal(queue.length, 8);
  gathering.took(8);
  // No other caller comes: the one is served all the same.
  await gathering.wait(['one']);
});

test('[STORE-3] a log that ends before what was answered is refused once, and says what is lost', async () => {
  const path = join(folder, 'answered.db');
  const store = await openStore(`sqlite:${path}`, cellContext);
  for (let index = 0; index < 5; index += 1) await commitOnce(store, `${index}`);
  await store.close();
  const mark = `${path}-answered`;
  assert.match(readFileSync(mark, 'utf8'), /^ +5 \d+-\d+ +\n$/);
  writeFileSync(mark, readFileSync(mark, 'utf8').replace(' 5 ', ' 9 '));
  await assert.rejects(openStore(`sqlite:${path}`, cellContext), (error: StoreFailure) => {
    assert.equal(error.refusal.error, 'store_damaged');
    assert.deepEqual([error.refusal.last_row, error.refusal.answered_row], [5, 9]);
    return true;
  });
  const again = await openStore(`sqlite:${path}`, cellContext);
  await commitOnce(again, 'later');
  await again.close();
  assert.match(readFileSync(mark, 'utf8'), /^ +6 /);
  // A backup in its place is another file, of which nothing was answered.
  copyFileSync(path, `${path}.backup`);
  rmSync(path);
  copyFileSync(`${path}.backup`, path);
  writeFileSync(mark, readFileSync(mark, 'utf8').replace(' 6 ', ' 8 '));
  assert.equal(await rowsOf(path), 6);
});

test('[STORE-3] a process that ends after it found a damaged -wal does not copy it into the file, and the next one says what is lost', async () => {
  const path = join(folder, 'ended.db');
  execFileSync(process.execPath, [join(import.meta.dirname, 'damaged-worker.ts'), path]);
  assert.ok(walBytes(path) > 0);
  await assert.rejects(openStore(`sqlite:${path}`, cellContext), (error: StoreFailure) => {
    assert.deepEqual([error.refusal.error, error.refusal.answered_row], ['store_damaged', 5]);
    return true;
  });
});

test('[AUD-6] a damaged page is found by the verification of a log that was never sealed', async () => {
  const path = join(folder, 'page.db');
  const store = await openStore(`sqlite:${path}`, cellContext);
  for (let index = 0; index < 300; index += 1) await commitOnce(store, `${index}`);
  await store.close();
  const whole = await openStore(`sqlite:${path}`, cellContext);
  assert.equal((await verify(whole, 'cells')).fault, undefined);
  await whole.close();
  const database = new DatabaseSync(path);
  const { page } = database
    .prepare(
      "SELECT rootpage AS page FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'records' AND rootpage > 0 LIMIT 1",
    )
    .get() as { page: number };
  database.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(64, 0xff), 0, 64, (page - 1) * 8192);
  closeSync(file);
  const damaged = await openStore(`sqlite:${path}`, cellContext);
  const { fault } = await verify(damaged, 'cells');
  assert.equal(fault?.kind, 'file_damaged', JSON.stringify(fault));
  await damaged.close();
});

test('[STORE-3] a mark that can’t be written keeps no process from its store', async () => {
  const path = join(folder, 'unmarked.db');
  mkdirSync(`${path}-answered`);
  const store = await openStore(`sqlite:${path}`, cellContext);
  await commitOnce(store, 'one');
  await store.close();
  assert.equal(await rowsOf(path), 1);
});
