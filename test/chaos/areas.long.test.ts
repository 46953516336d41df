import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../support/postgres.ts';
import { raceForAreas } from './areas.ts';
import { temporaryFolder } from './crew.ts';

const PROCESSES = 16;
const SECONDS = Number(process.env.COX_TEST_CHAOS_SECONDS ?? 2);
const SECONDS_MAX = 16 * SECONDS;

/** A busy machine may let one of them run alone all the time: then the race says nothing yet, and lasts longer. */
async function raceOn(store: string, seconds = SECONDS): Promise<string> {
  const result = await raceForAreas(store, PROCESSES, seconds);
  assert.equal(result.overlaps, 0, result.summary);
  assert.deepEqual(result.faults, []);
  const wasContended = result.grants > 1 && result.waited > 0 && result.refusals > 0;
  if (wasContended) return result.summary;
  assert.ok(seconds < SECONDS_MAX, `not contended: ${result.summary}`);
  return await raceOn(store, seconds * 4);
}

test('[LOCK-10] [LOCK-11] 16 processes lock files, folders and patterns on SQLite: no overlap, nobody overtakes', async (t) => {
  using folder = temporaryFolder();
  t.diagnostic(await raceOn(`sqlite:${join(folder.path, 'cox.db')}`));
});

test('[LOCK-10] [LOCK-11] 16 processes lock files, folders and patterns on PostgreSQL: no overlap, nobody overtakes', async (t) => {
  const database = await testDatabase();
  try {
    t.diagnostic(await raceOn(database.url));
  } finally {
    await database.drop();
  }
});
