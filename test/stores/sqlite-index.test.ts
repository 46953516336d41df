// The -shm of a store that is in use is damaged: SQLite would find older contents of its pages, and build the next commit on them.
import assert from 'node:assert/strict';
import { mkdtempSync, openSync, readSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { BLOCK_BYTES, checkTable, pageOf } from '../../src/stores/sqlite/page-table.ts';
import { cellContext, request, setUnless } from '../conformance/cells.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-index-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const COMMITS = 40;
const HEADER_BYTES = 136;

async function commitOnce(store: Store, id: string): Promise<void> {
  assert.equal((await store.run(request('anna'), setUnless(id, 'never', 'anna'))).status, 'committed');
}

async function filled(path: string): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, cellContext);
  for (let index = 0; index < COMMITS; index += 1) await commitOnce(store, `${index}`);
  return store;
}

async function rowsOf(path: string): Promise<number> {
  const store = await openStore(`sqlite:${path}`, cellContext);
  const { entries } = await store.read('cells', 0, 10_000);
  await store.close();
  return entries.length;
}

/** As another program does. The handle stays open: closing it would drop SQLite's locks, which are this process's. */
function overwrite(path: string, at: number, content: Buffer): void {
  writeSync(openSync(`${path}-shm`, 'r+'), content, 0, content.length, at);
}

function byteOf(path: string, at: number): number {
  const byte = Buffer.alloc(1);
  readSync(openSync(`${path}-shm`, 'r'), byte, 0, 1, at);
  return byte[0] as number;
}

/** What is looked at once in a millisecond is looked at again. */
async function aMillisecond(): Promise<void> {
  const began_ms = performance.now();
  await until(async () => performance.now() > began_ms + 1);
}

const isRefused = (error: unknown) => {
  assert.ok(error instanceof StoreFailure, String(error));
  assert.equal(error.refusal.error, 'store_damaged');
  assert.match(error.message, /-shm was changed by another program/);
  return true;
};

const DAMAGES: Record<string, (path: string) => void> = {
  'its page numbers are gone': (path) => overwrite(path, HEADER_BYTES, Buffer.alloc(4 * COMMITS)),
  'one page number is another': (path) =>
    overwrite(path, HEADER_BYTES + 80, Buffer.of(byteOf(path, HEADER_BYTES + 80) ^ 1)),
  'one page number is larger than the database': (path) =>
    overwrite(path, HEADER_BYTES + 80 + 1, Buffer.of(byteOf(path, HEADER_BYTES + 80 + 1) ^ 0x20)),
  'its slots are gone': (path) => overwrite(path, BLOCK_BYTES / 2, Buffer.alloc(BLOCK_BYTES / 2)),
  'something is behind its last page number': (path) => overwrite(path, 2000, Buffer.of(1)),
  'frames seem to be copied': (path) => overwrite(path, 97, Buffer.of(1)),
};
/** By what only commits stumble over. */
const READABLE = 'something is behind its last page number';

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`[STORE-3] a -shm of which ${what}: the next commit is refused, the one after it goes on from what there is`, async () => {
    const path = join(folder, `${what.replaceAll(' ', '-')}.db`);
    const store = await filled(path);
    damage(path);
    await assert.rejects(commitOnce(store, 'refused'), isRefused);
    await commitOnce(store, 'later');
    await store.close();
    assert.equal(await rowsOf(path), COMMITS + 1);
  });

  test(`[STORE-3] a -shm of which ${what}: a read by it is refused, and the file is closed with all that was answered`, async () => {
    const path = join(folder, `${what.replaceAll(' ', '-')}-read.db`);
    const store = await filled(path);
    damage(path);
    await aMillisecond();
    if (what !== READABLE) await assert.rejects(store.read('cells', 0, 10), isRefused);
    assert.equal((await store.read('cells', 0, 100)).entries.length, COMMITS);
    damage(path);
    await store.close();
    assert.equal(await rowsOf(path), COMMITS);
  });
}

test('[STORE-3] a -shm whose end is cut off, where it is never used: nothing more is committed until the store is opened again', async () => {
  const path = join(folder, 'cut.db');
  const store = await filled(path);
  truncateSync(`${path}-shm`, 32_000);
  for (let call = 0; call < 2; call += 1)
    await assert.rejects(
      commitOnce(store, 'refused'),
      (error: StoreFailure) => error.refusal.error === 'store_moved',
    );
  await store.close();
  assert.equal(await rowsOf(path), COMMITS);
});

test('[STORE-3] a -shm whose beginning is damaged in the middle of a transaction: that one is not committed', async () => {
  const path = join(folder, 'within.db');
  const store = await filled(path);
  for (const length of [20, 3000]) {
    const decision = setUnless(`within-${length}`, 'never', 'anna');
    const decide: typeof decision.decide = (...args) => {
      overwrite(path, 40, Buffer.alloc(length, 0xa5));
      return decision.decide(...args);
    };
    await assert.rejects(store.run(request('anna'), { ...decision, decide }), isRefused);
    await commitOnce(store, `after-${length}`);
  }
  await store.close();
  assert.equal(await rowsOf(path), COMMITS + 2);
});

test('[STORE-3] a -shm that SQLite has built anew itself: what was read before is forgotten, and that is said once', async () => {
  const path = join(folder, 'anew.db');
  const store = await filled(path);
  overwrite(path, 10, Buffer.alloc(60, 0xa5));
  await assert.rejects(commitOnce(store, 'refused'), isRefused);
  await commitOnce(store, 'later');
  await store.close();
  assert.equal(await rowsOf(path), COMMITS + 1);
});

/** As SQLite makes it of these pages, in the first block. */
function tableOf(pages: readonly number[]): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const numbers = new Uint32Array(block.buffer, block.byteOffset + HEADER_BYTES, pages.length);
  const slots = new Uint16Array(block.buffer, block.byteOffset + BLOCK_BYTES / 2, 8192);
  for (const [index, page] of pages.entries()) {
    numbers[index] = page;
    let slot = (page * 383) % 8192;
    while (slots[slot] !== 0) slot = (slot + 1) % 8192;
    slots[slot] = index + 1;
  }
  return block;
}

test('[STORE-3] a table of pages: what another process left behind its end is no damage, any other byte is', () => {
  const pages = [1, 2, 2, 300, 300 + 8192, 1];
  const check = (block: Buffer, frames: number, isLocked: boolean, wal: readonly number[] = pages) =>
    checkTable({
      blocks: [block],
      frames,
      pages: 400,
      isLocked,
      pageInWal: (frame) => wal[frame - 1] ?? 0,
    });
  const whole = tableOf(pages);
  assert.equal(check(whole, 6, true), 'whole');
  assert.equal(check(whole, 6, true, []), 'damaged', 'a page that the database does not have');
  assert.equal(check(whole, 4, true), 'unfinished', 'a process was killed before its commit');
  assert.equal(check(whole, 4, false), 'unfinished', 'a process commits at this moment');
  assert.equal(pageOf([whole], 4), 300);
  const next = HEADER_BYTES + 4 * pages.length;
  for (let byte = HEADER_BYTES; byte < BLOCK_BYTES; byte += 1) {
    const damaged = Buffer.from(new Uint8Array(whole).buffer);
    damaged[byte] = 0xff ^ (damaged[byte] as number);
    // SQLite takes it for what is left of a process that was killed, and empties all behind its end.
    const expected = byte >= next && byte < next + 4 ? 'unfinished' : 'damaged';
    assert.equal(check(damaged, 6, true), expected, `byte ${byte}`);
  }
});
