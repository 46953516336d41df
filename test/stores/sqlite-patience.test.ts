import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { agent } from '../conformance/engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-patience-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** As on a machine with so many times more to do than it can: everything takes longer, every pause too. */
const BUSY = 100;
const busyClock: Clock = { ...systemClock, elapsed_ms: () => systemClock.elapsed_ms() * BUSY };
/** For a process on that machine half a minute. */
const HELD_MS = 300;

test('[STORE-7] a process that holds the file for half a minute because the machine is busy is not taken for stuck', async () => {
  const path = join(folder, 'busy.db');
  const coxswain = await open({ store: `sqlite:${path}`, clock: busyClock });
  const other = new DatabaseSync(path, { timeout: 1000 });
  other.exec('BEGIN IMMEDIATE');
  const answer = agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' });
  await systemClock.sleep(HELD_MS);
  other.exec('COMMIT');
  other.close();
  assert.equal((await answer).action, 'acquired');
  await coxswain.close();
});

test('[STORE-7] a store that another process is just making is waited for as long, and not opened again and again', async () => {
  const path = join(folder, 'new.db');
  const other = new DatabaseSync(path);
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE');
  const opening = open({ store: `sqlite:${path}`, clock: busyClock });
  await systemClock.sleep(HELD_MS);
  other.exec('ROLLBACK');
  other.close();
  const coxswain = await opening;
  assert.equal((await agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' })).action, 'acquired');
  await coxswain.close();
});
