import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestTable, testTable } from '../support/dynamodb.ts';
import { placesFor, raceForClaims } from './claims-race.ts';
import { temporaryFolder } from './crew.ts';

const PROCESSES = 16;
/** `node test/chaos/claims-race.ts --stores sqlite,dynamodb` does a thousand. */
const PAIRS = 32;

test("[CLAIM-2] 16 processes race on DynamoDB: each pair is granted once, and its log folds as SQLite's does", async (t) => {
  using folder = temporaryFolder();
  const tables: TestTable[] = [];
  const dynamodb = async () => {
    const table = await testTable();
    tables.push(table);
    return table.url;
  };
  try {
    const places = placesFor(['sqlite', 'dynamodb'], folder.path, { dynamodb });
    const { races, faults, summary } = await raceForClaims(places, PROCESSES, PAIRS);
    t.diagnostic(summary);
    assert.deepEqual(faults, []);
    for (const { granted, rejected, winners, contested } of races) {
      assert.deepEqual([granted, rejected], [PAIRS, (PROCESSES - 1) * PAIRS]);
      assert.equal(winners, PROCESSES, 'each has its own of every other stretch');
      assert.ok(contested > 0, 'it was a race');
    }
  } finally {
    for (const table of tables) await table.drop();
  }
});
