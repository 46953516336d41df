import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killOrchestrators } from './board.ts';
import { temporaryFolder } from './crew.ts';

/** `node test/chaos/board.ts` does fifty and a hundred. */
const CLAIMS = 8;
const KILLS = 10;

test('[PHASE-3] [PHASE-4] orchestrators are killed amid the work: every claim completes, no phase and no agent runs twice', async (t) => {
  using folder = temporaryFolder();
  const { faults, claims, kills, adopted, summary } = await killOrchestrators(folder.path, CLAIMS, KILLS);
  t.diagnostic(summary);
  assert.deepEqual(faults, []);
  assert.equal(kills, KILLS);
  assert.ok(claims >= CLAIMS);
  assert.ok(adopted > 0, 'somebody went on with what a killed one had begun');
});
