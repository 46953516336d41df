import assert from 'node:assert/strict';
import { test } from 'node:test';
import { damageFiles } from './damage.ts';

/** `node test/chaos/damage.ts` does a thousand. */
const DAMAGES = Number(process.env.COX_TEST_CHAOS_DAMAGES ?? 48);

test('[STORE-3] files that are damaged while they are written: no answered commit is lost in silence', async (t) => {
  const { faults, summary, lossy } = await damageFiles(DAMAGES);
  t.diagnostic(summary);
  assert.deepEqual(faults, []);
  assert.ok(lossy > DAMAGES / 10, `hardly anything was damaged: ${summary}`);
});
