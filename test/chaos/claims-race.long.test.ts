import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/postgres.ts';
import { placesFor, raceForClaims } from './claims-race.ts';
import { temporaryFolder } from './crew.ts';

const PROCESSES = 16;
/** `node test/chaos/claims-race.ts` does a thousand. */
const PAIRS = 48;

test('[CLAIM-2] [AUD-5] 16 processes race for features and edges: each is granted once, and all logs fold to the same', async (t) => {
  using folder = temporaryFolder();
  const databases: Awaited<ReturnType<typeof testDatabase>>[] = [];
  const places = {
    ...placesFor(['sqlite'], folder.path),
    postgres: async () => {
      const database = await testDatabase({ migrated: true });
      databases.push(database);
      return database.url;
    },
  };
  try {
    const { races, faults, summary } = await raceForClaims(places, PROCESSES, PAIRS);
    t.diagnostic(summary);
    assert.deepEqual(faults, []);
    for (const { granted, rejected, winners, contested } of races) {
      assert.deepEqual([granted, rejected], [PAIRS, (PROCESSES - 1) * PAIRS]);
      assert.equal(winners, PROCESSES, 'each has its own of every other stretch');
      assert.ok(contested > 0, 'it was a race');
    }
  } finally {
    for (const database of databases) await database.drop();
  }
});
