import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killCoordinators } from './workdir.ts';

/** `node test/chaos/workdir.ts` does five hundred. */
const KILLS = 20;

test('[DIR-6] coordinators are killed amid their passes: the tree is that of one who never was', async (t) => {
  const { faults, kills, summary } = await killCoordinators(KILLS);
  t.diagnostic(summary);
  assert.deepEqual(faults, []);
  assert.equal(kills, KILLS);
});
