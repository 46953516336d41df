// A copy on DynamoDB, which sweeps claims away when their hard end is over; the source may be a store that keeps them.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import { open } from '../../src/index.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { keyOf } from '../../src/stores/dynamodb/item.ts';
import { itemsOf } from '../stores/dynamodb-support.ts';
import { plainClient, type TestTable, testTable } from '../support/dynamodb.ts';
import { SEED_RULES, TestFleet } from '../support/fleet.ts';
import { until } from '../support/until.ts';
import { assertSameRows, foldIn, rowsIn, syncInto } from './sync-support.ts';

const TTL_MS = 300;
const EDGE = { feature: 'REQ-1', edge: 'design→code' };

/** What DynamoDB does by itself, a day or more after the end. */
async function sweep(table: TestTable): Promise<void> {
  using client = await plainClient(table.endpoint);
  for (const { PK, SK } of (await itemsOf(table)).filter(({ ttl }) => ttl !== undefined)) {
    const Key = keyOf({ PK: PK?.S ?? '', SK: SK?.S ?? '' });
    await client.sdk.send(new DeleteItemCommand({ TableName: table.table, Key }));
  }
}

async function withCopy(use: (from: Coxswain, to: Coxswain, table: TestTable) => Promise<void>) {
  const table = await testTable();
  const options = { project: 'p', env: {}, cwd: tmpdir(), presence: 'off' } as const;
  const from = await open({ ...options, store: 'memory:' });
  const to = await open({ ...options, store: table.url });
  try {
    await use(from, to, table);
  } finally {
    await from.close();
    await to.close();
    await table.drop();
  }
}

test('[AUD-5] [STORE-1] what DynamoDB has swept from a copy is no difference, and the copy goes on behind it', async () => {
  await withCopy(async (from, to, table) => {
    const fleet = new TestFleet(from);
    fleet.rules = { ...SEED_RULES, ttl_ms: TTL_MS };
    const [anna, bert] = [fleet.agent('anna'), fleet.agent('bert')];
    const taken = await anna('claim_edge', { ...EDGE, agent_role: 'architect' });
    await syncInto(from, to);
    await until(async () => Date.now() > Date.parse(taken.expires_at as string) + 1500);
    await sweep(table);
    const later = await syncInto(from, to);
    assert.deepEqual([later.copied, later.differences], [0, []], 'swept, with nothing new at the source');

    const next = await bert('claim_edge', { ...EDGE, agent_role: 'architect' });
    assert.equal(next.action, 'edge_started');
    const done = await syncInto(from, to);
    assert.deepEqual([done.copied, done.differences], [done.missing, []], 'gone on with at the source');
    assertSameRows(await rowsIn(to, 'p'), await rowsIn(from, 'p'), 'the copy');
    assert.equal(await foldIn(to, 'p'), await foldIn(from, 'p'));
  });
});
