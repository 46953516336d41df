import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartDynamoDb } from './dynamodb-restart.ts';

test('[STORE-3] DynamoDB stopped and restarted under load: callers hear of it, nothing is lost or doubled', async (t) => {
  const result = await restartDynamoDb(2, 2);
  t.diagnostic(result.summary);
  assert.deepEqual(result.faults, []);
  assert.equal(result.lost, 0);
  assert.equal(result.doubled, 0);
  assert.ok(result.away > 0, 'nobody noticed that the server was away');
  assert.ok(result.away_ms_max < 7000, `told after ${result.away_ms_max} ms`);
});
