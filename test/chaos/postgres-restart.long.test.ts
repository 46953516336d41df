import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartPostgres } from './postgres-restart.ts';

test('[STORE-3] PostgreSQL stopped, restarted and killed under load: callers hear of it, nothing is lost or doubled', async (t) => {
  const result = await restartPostgres(2, 2);
  t.diagnostic(result.summary);
  assert.deepEqual(result.faults, []);
  assert.equal(result.lost, 0);
  assert.equal(result.doubled, 0);
  assert.ok(result.away > 0, 'nobody noticed that the server was away');
  assert.ok(result.away_ms_max < 2500, `told after ${result.away_ms_max} ms`);
});
