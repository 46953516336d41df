import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { WaitingLine } from '../../src/stores/sqlite/waiting-line.ts';
import { agent } from '../conformance/engine.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-line-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Of a process that has ended. */
function endedPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

test('[STORE-7] in line each process knows how many came before it, and the last one to leave takes the line away', () => {
  const path = join(folder, 'order.db');
  const first = new WaitingLine(path, 1000);
  const second = new WaitingLine(path, 2000);
  assert.deepEqual([first.look(), second.look(), second.length], [0, 1, 2]);
  first.leave();
  assert.equal(second.look(), 0);
  second.leave();
  assert.ok(!existsSync(`${path}-waiting`));
});

test('[STORE-7] a process that was killed while it was in line holds no other up for long', () => {
  const path = join(folder, 'killed.db');
  const mine = new WaitingLine(path, 2000);
  writeFileSync(join(`${path}-waiting`, `000000001-${endedPid()}`), '');
  writeFileSync(join(`${path}-waiting`, '000000002-what'), '');
  assert.deepEqual([mine.look(), mine.look(), mine.look()], [2, 1, 0]);
  mine.leave();
});

test('[STORE-7] where no line can be made a process waits all the same', () => {
  const path = join(folder, 'none.db');
  writeFileSync(`${path}-waiting`, 'a file of another program');
  const line = new WaitingLine(path, 1000);
  assert.deepEqual([line.look(), line.length], [0, 1]);
  line.leave();
  assert.ok(existsSync(`${path}-waiting`));
});

test('[STORE-7] a call that waits for the file gets in line, and leaves it when it has the file', async () => {
  const path = join(folder, 'real.db');
  const coxswain = await open({ store: `sqlite:${path}` });
  const other = new DatabaseSync(path, { timeout: 1000 });
  other.exec('BEGIN IMMEDIATE');
  const answer = agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' });
  await until(async () => existsSync(`${path}-waiting`) && readdirSync(`${path}-waiting`).length === 1);
  other.exec('COMMIT');
  other.close();
  assert.equal((await answer).action, 'acquired');
  await systemClock.sleep(1);
  assert.ok(!existsSync(`${path}-waiting`));
  await coxswain.close();
});
