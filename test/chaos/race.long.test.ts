import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/postgres.ts';
import { inFolder, temporaryFolder } from './crew.ts';
import { race } from './race.ts';

const PROCESSES = 32;
/** 10 for the full race; a few seconds show as much in every test run. */
const SECONDS = Number(process.env.COX_TEST_CHAOS_SECONDS ?? 2);
const SECONDS_MAX = 16 * SECONDS;

/** A busy machine may let one of them run alone all the time: then the race says nothing yet, and lasts longer. */
async function raceOn(store: string, seconds = SECONDS): Promise<string> {
  const result = await race(store, PROCESSES, seconds);
  assert.equal(result.overlaps, 0, result.summary);
  assert.deepEqual(result.faults, []);
  const wasContended = result.grants > 1 && result.winners > 1 && result.refusals > 0;
  if (wasContended) return result.summary;
  assert.ok(seconds < SECONDS_MAX, `not contended: ${result.summary}`);
  return await raceOn(store, seconds * 4);
}

for (const store of ['sqlite:cox.db', 'files:.ai-workspace'])
  test(`[LOCK-5] [LOCK-8] 32 processes race for one path on ${store}: never two holders`, async (t) => {
    using folder = temporaryFolder();
    t.diagnostic(await raceOn(inFolder(store, folder.path)));
  });

test('[LOCK-5] [LOCK-8] 32 processes race for one path on PostgreSQL: never two holders', async (t) => {
  const database = await testDatabase();
  try {
    t.diagnostic(await raceOn(database.url));
  } finally {
    await database.drop();
  }
});
