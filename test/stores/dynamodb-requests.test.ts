import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BatchGetItemCommandInput, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { RequestSeen } from '../../src/stores/dynamodb/table-client.ts';
import { agent, type Call } from '../conformance/engine.ts';
import { type TestTable, testTable } from '../support/dynamodb.ts';
import { requestsOf, touched } from './dynamodb-support.ts';

let table: TestTable;
const opened: Coxswain[] = [];
let ann: Call;
let bob: Call;
const EDGE = 'design_code';
const everything: RequestSeen[] = [];

/** Two agents in processes of their own, as it were: neither has seen what the other has seen. */
before(async () => {
  table = await testTable();
  for (let each = 0; each < 2; each += 1) opened.push(await open({ store: table.url }));
  const [first, second] = opened as [Coxswain, Coxswain];
  [ann, bob] = [agent(first, 'ann'), agent(second, 'bob')];
  await ann('heartbeat');
  await bob('heartbeat');
});

after(async () => {
  for (const each of opened) await each.close();
  await table.drop();
});

/** The rules of the project are looked at now and then, and audit rows written together: neither is part of a call. */
function isAside({ operation, input }: RequestSeen): boolean {
  if (operation === 'TransactWriteItems')
    return (
      (input as TransactWriteItemsCommandInput).TransactItems?.every(
        ({ Put }) => Put?.Item?.SK?.S?.startsWith('OUT#') === true,
      ) === true
    );
  const keys = Object.values((input as BatchGetItemCommandInput).RequestItems ?? {}).flatMap(
    ({ Keys }) => Keys,
  );
  return operation === 'BatchGetItem' && keys.length === 1 && JSON.stringify(keys).includes('RULEBOOK#');
}

/** The requests of one call up to its commit, by name; a search for suggestions comes after it. */
async function asked(call: () => Promise<JsonObject>, success = true): Promise<string[]> {
  const seen = await requestsOf(async () => assert.equal((await call()).success, success));
  everything.push(...seen);
  return seen
    .filter((request) => !isAside(request) && request.operation !== 'Query')
    .map(({ operation }) => operation);
}

const ONE = ['TransactWriteItems'];

test('[CLAIM-10] a first lock is one request, and so is refreshing or releasing it', async () => {
  const x = { file_path: 'x.ts' };
  assert.deepEqual(await asked(() => ann('acquire_lock', x)), ONE);
  assert.deepEqual(await asked(() => ann('acquire_lock', x)), ONE);
  assert.deepEqual(await asked(() => ann('release_lock', x)), ONE);
});

test('[CLAIM-10] a first claim is one request, its heartbeat one, claiming it again one', async () => {
  const claim = { feature: 'F-1', edge: EDGE };
  assert.deepEqual(await asked(() => ann('claim_edge', claim)), ONE);
  assert.deepEqual(await asked(() => ann('heartbeat_claim', claim)), ONE);
  assert.deepEqual(await asked(() => ann('claim_edge', claim)), ONE);
  assert.deepEqual(await asked(() => ann('heartbeat')), ONE);
});

test('[CLAIM-10] what another holds is refused after at most two requests', async () => {
  assert.deepEqual(await asked(() => ann('acquire_lock', { file_path: 'held.ts' })), ONE);
  // No call is refused by what a failed transaction left unsaid: the second one reads all of it.
  assert.deepEqual(await asked(() => bob('acquire_lock', { file_path: 'held.ts' }), false), [
    ...ONE,
    'BatchGetItem',
  ]);
  const claim = { feature: 'F-2', edge: EDGE };
  assert.deepEqual(await asked(() => ann('claim_edge', claim)), ONE);
  // The second one records the rejection.
  assert.deepEqual(await asked(() => bob('claim_edge', claim), false), [...ONE, ...ONE]);
  assert.ok(
    (await asked(() => ann('heartbeat_claim', claim))).length <= 2,
    'the rejection has changed the record',
  );
});

test('[CLAIM-10] claims and locks of different agents on different things share no item at all', async () => {
  const seen = await requestsOf(async () => {
    for (let n = 0; n < 3; n += 1) {
      await Promise.all([
        ann('claim_edge', { feature: `A-${n}`, edge: EDGE }),
        bob('claim_edge', { feature: `B-${n}`, edge: EDGE }),
        ann('acquire_lock', { file_path: `a-${n}.ts` }),
        bob('acquire_lock', { file_path: `b-${n}.ts` }),
      ]);
    }
  });
  everything.push(...seen);
  const all = touched(seen.filter((request) => !isAside(request)));
  assert.equal(all.length, 12, 'none was tried twice');
  const isAnns = (keys: string[]) => keys.some((key) => /^(CLAIM#A-|LOCK#a-)/.test(key));
  const anns = new Set(all.filter(isAnns).flat());
  const bobs = all.filter((keys) => !isAnns(keys)).flat();
  assert.ok(anns.size > 0 && bobs.length > 0);
  assert.deepEqual(
    bobs.filter((key) => anns.has(key)),
    [],
  );
});

test('[CLAIM-10] no scan, no index of DynamoDB’s, and every read is strongly consistent', () => {
  assert.ok(everything.length > 20);
  for (const { operation, input } of everything) {
    assert.match(operation, /^(GetItem|BatchGetItem|Query|TransactWriteItems|BatchWriteItem)$/);
    const { ConsistentRead, IndexName, RequestItems } = input as {
      ConsistentRead?: boolean;
      IndexName?: string;
      RequestItems?: Record<string, { ConsistentRead?: boolean }>;
    };
    assert.equal(IndexName, undefined);
    if (operation === 'GetItem' || operation === 'Query') assert.equal(ConsistentRead, true);
    if (operation === 'BatchGetItem')
      for (const each of Object.values(RequestItems ?? {})) assert.equal(each.ConsistentRead, true);
  }
});
