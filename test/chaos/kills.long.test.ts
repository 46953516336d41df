import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inFolder, temporaryFolder } from './crew.ts';
import { killWriters } from './kills.ts';

/** `node test/chaos/kills.ts --kills 1000` is the long form. */
const KILLS = Number(process.env.COX_TEST_CHAOS_KILLS ?? 20);
const PROCESSES = 4;

for (const store of ['sqlite:cox.db', 'files:.ai-workspace'])
  test(`[AUD-5] [QUEUE-6] ${store}: writers killed with -9: nothing acknowledged is lost, nothing is doubled`, async (t) => {
    using folder = temporaryFolder();
    const result = await killWriters(inFolder(store, folder.path), KILLS, PROCESSES);
    t.diagnostic(result.summary);
    assert.deepEqual(result.faults, []);
    assert.equal(result.lost, 0);
    assert.equal(result.doubled, 0);
    assert.ok(result.acknowledged > KILLS / 4, result.summary);
  });
