// A reader follows the log while several processes write it: nothing may be skipped, however their commits overlap.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { testDatabase } from '../support/postgres.ts';
import { endProgram, startProgram, temporaryFolder } from './crew.ts';
import { judge, lanesOf } from './kills.ts';
import { readLog } from './log-check.ts';

const PROCESSES = 4;
const COMMITS = 500;
const FOLLOW_MS_MAX = 6000;

async function follow(store: string): Promise<string> {
  using folder = temporaryFolder();
  const coxswain = await open({ store });
  const slots = Array.from({ length: PROCESSES }, (_, slot) => lanesOf(slot));
  const workers = slots.map((lanes) =>
    startProgram('kills-worker.ts', { store, folder: folder.path, lanes, finish: false }),
  );
  await Promise.all(workers.map(({ lines }) => lines.next()));
  const followed: number[] = [];
  let commits = 0;
  const readOn = async () => {
    const { entries } = await coxswain.store.read('default', followed.at(-1) ?? 0, 1000);
    followed.push(...entries.map(({ position }) => position));
    commits += entries.filter(({ events }) => events.length > 0).length;
    return entries.length;
  };
  const started_ms = performance.now();
  while (commits < COMMITS && performance.now() - started_ms < FOLLOW_MS_MAX) await readOn();
  const elapsed_ms = Math.round(performance.now() - started_ms);
  await Promise.all(workers.map(endProgram));
  while ((await readOn()) > 0);
  const all = (await readLog(coxswain.store)).map(({ position }) => position);
  await coxswain.close();
  assert.deepEqual(followed, all);
  const { faults, acknowledged } = await judge(store, folder.path, slots.flat());
  assert.deepEqual(faults, []);
  assert.ok(acknowledged > PROCESSES);
  return `followed ${all.length} rows, ${commits} commits, the first ${COMMITS} in ${elapsed_ms} ms`;
}

test('[AUD-5] [QUEUE-6] a reader of the log skips nothing while processes write (SQLite)', async (t) => {
  using folder = temporaryFolder();
  t.diagnostic(await follow(`sqlite:${join(folder.path, 'cox.db')}`));
});

test('[AUD-5] [QUEUE-6] a reader of the log skips nothing while processes write (PostgreSQL)', async (t) => {
  const database = await testDatabase();
  try {
    t.diagnostic(await follow(database.url));
  } finally {
    await database.drop();
  }
});
