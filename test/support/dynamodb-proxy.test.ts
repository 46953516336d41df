import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { plainClient, type TestTable, testTable } from './dynamodb.ts';
import type { Fault } from './dynamodb-faults.ts';
import { type DynamoProxy, type HowOften, startProxy } from './dynamodb-proxy.ts';
import { injectStorm } from './dynamodb-storm.ts';
import { until } from './until.ts';

let table: TestTable;
let proxy: DynamoProxy;
let client: DynamoDBClient;
let TableName: string;
const undo: (() => void)[] = [];

before(async () => {
  table = await testTable();
  TableName = table.table;
  proxy = await startProxy(table.endpoint);
  client = (await plainClient(proxy.endpoint)).sdk;
});

after(async () => {
  client.destroy();
  await proxy.close();
  await table.drop();
});

afterEach(() => {
  for (const takeBack of undo.splice(0)) takeBack();
  proxy.requests.length = 0;
});

function inject(fault: Fault, howOften: HowOften = { times: 1 }): void {
  undo.push(proxy.inject(() => fault, howOften));
}

const key = (name: string) => ({ PK: { S: name }, SK: { S: 'x' } });

const put = (name: string) => client.send(new PutItemCommand({ TableName, Item: key(name) }));

const write = (...names: string[]) =>
  client.send(
    new TransactWriteItemsCommand({
      TransactItems: names.map((name) => ({ Put: { TableName, Item: key(name) } })),
    }),
  );

async function isThere(name: string, ConsistentRead = true): Promise<boolean> {
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: key(name), ConsistentRead }));
  return Item !== undefined;
}

test('without a rule everything passes, and is counted', async () => {
  await write('plain', 'plain-2');
  assert.ok(await isThere('plain'));
  assert.deepEqual(proxy.counts(), { TransactWriteItems: 1, GetItem: 1 });
  assert.deepEqual(
    proxy.requests.map(({ faults }) => faults),
    [[], []],
  );
});

test('a cancelled transaction has a reason for each action, and nothing is applied', async () => {
  inject({ is: 'cancelled', reasons: { 1: 'TransactionConflict', 2: 'ThrottlingError' } });
  await assert.rejects(write('c1', 'c2', 'c3'), (error) => {
    assert.ok(error instanceof TransactionCanceledException);
    const codes = error.CancellationReasons?.map(({ Code }) => Code);
    assert.deepEqual(codes, ['None', 'TransactionConflict', 'ThrottlingError']);
    assert.match(error.message, /\[None, TransactionConflict, ThrottlingError\]/);
    return true;
  });
  for (const name of ['c1', 'c2', 'c3']) assert.ok(!(await isThere(name)));
  await write('c1', 'c2', 'c3');
  assert.ok(await isThere('c1'));
});

test('a single write meets a transaction as a whole', async () => {
  inject({ is: 'cancelled' });
  await assert.rejects(put('single'), { name: 'TransactionConflictException' });
  assert.ok(!(await isThere('single')));
});

for (const as of [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
] as const)
  test(`${as}: nothing is applied`, async () => {
    inject({ is: 'throttled', as });
    await assert.rejects(write(as), { name: as });
    assert.ok(!(await isThere(as)));
  });

for (const applied of [false, true]) {
  const when = applied ? 'after' : 'before';
  const cases: [Fault, string | RegExp][] = [
    [{ is: 'server_error', applied }, 'InternalServerError'],
    [{ is: 'in_progress', applied }, 'TransactionInProgressException'],
    [{ is: 'reset', applied }, /ECONNRESET|TimeoutError/],
  ];
  for (const [fault, error] of cases)
    test(`${fault.is} ${when} it was applied`, async () => {
      const name = `${fault.is}-${when}`;
      inject(fault);
      await assert.rejects(write(name), typeof error === 'string' ? { name: error } : error);
      assert.deepEqual(proxy.requests[0]?.faults, [fault.is]);
      assert.equal(await isThere(name), applied);
    });
}

test('a late request is carried out although its sender has gone; a late answer comes', async () => {
  inject({ is: 'late', by_ms: 80, what: 'request' });
  const sender = new AbortController();
  const sent = client.send(new PutItemCommand({ TableName, Item: key('late') }), {
    abortSignal: sender.signal,
  });
  const gone = assert.rejects(sent, { name: 'AbortError' });
  await until(async () => proxy.requests.length > 0);
  sender.abort();
  await gone;
  await until(() => isThere('late'));
  inject({ is: 'late', by_ms: 80, what: 'answer' });
  const start_ms = performance.now();
  assert.ok(await isThere('late'));
  assert.ok(performance.now() - start_ms >= 79);
});

test('a batch is worked on in part, and the rest comes back as it was asked', async () => {
  const names = ['b1', 'b2', 'b3', 'b4', 'b5'];
  const requests = names.map((name) => ({ PutRequest: { Item: key(name) } }));
  inject({ is: 'unprocessed', processed: 2 });
  const written = await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
  assert.deepEqual(written.UnprocessedItems, { [TableName]: requests.slice(2) });
  assert.deepEqual([await isThere('b2'), await isThere('b3')], [true, false]);

  inject({ is: 'unprocessed' });
  const wanted = { Keys: names.map(key), ConsistentRead: true };
  const got = await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: wanted } }));
  assert.equal(got.Responses?.[TableName]?.length, 2);
  assert.deepEqual(got.UnprocessedKeys, { [TableName]: { ...wanted, Keys: wanted.Keys.slice(2) } });

  inject({ is: 'unprocessed', processed: 0 });
  await assert.rejects(client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: wanted } })), {
    name: 'ProvisionedThroughputExceededException',
  });
});

test('the clock of the server is off, also when it refuses', async () => {
  const ask = () => fetch(proxy.endpoint, { method: 'POST', headers: { 'x-amz-target': 'X.Y' }, body: '{}' });
  const seen_s = (response: Response) => Date.parse(response.headers.get('date') ?? '') / 1000;
  inject({ is: 'clock', by_s: 3600 }, { times: 2 });
  assert.ok(Math.abs(seen_s(await ask()) - Date.now() / 1000 - 3600) < 30);
  inject({ is: 'server_error', applied: false });
  const refused = await ask();
  assert.equal(refused.status, 500);
  assert.ok(Math.abs(seen_s(refused) - Date.now() / 1000 - 3600) < 30);
  assert.ok(Math.abs(seen_s(await ask()) - Date.now() / 1000) < 30);
});

test('a read that does not ask for consistency lags behind; one that does is right', async () => {
  inject({ is: 'stale' }, {});
  await put('stale');
  assert.deepEqual([await isThere('stale'), await isThere('stale', false)], [true, false]);
  assert.ok(await isThere('stale', false));

  const query = (ConsistentRead: boolean) =>
    client.send(
      new QueryCommand({
        TableName,
        ConsistentRead,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'stale' } },
      }),
    );
  assert.deepEqual([(await query(true)).Count, (await query(false)).Count], [1, 0]);

  const batch = async (ConsistentRead?: boolean) => {
    const RequestItems = { [TableName]: { Keys: [key('stale')], ConsistentRead } };
    const { Responses } = await client.send(new BatchGetItemCommand({ RequestItems }));
    return Responses?.[TableName]?.length;
  };
  assert.deepEqual([await batch(true), await batch(), await batch()], [1, 0, 1]);
});

test('a rule is used up only by what fits it, and by chance as its seed says', async () => {
  inject({ is: 'cancelled' });
  assert.ok(!(await isThere('fits')));
  await assert.rejects(write('fits'), { name: 'TransactionCanceledException' });

  const pattern = async () => {
    proxy.requests.length = 0;
    const takeBack = proxy.inject(() => ({ is: 'clock', by_s: 1 }), { probability: 0.5, seed: 7 });
    for (let count = 0; count < 16; count += 1) await isThere('fits');
    takeBack();
    return proxy.requests.map(({ faults }) => faults.length).join('');
  };
  const first = await pattern();
  assert.match(first, /01|10/);
  assert.equal(await pattern(), first);
});

test('a storm has everything in it before long, and lets most requests through', async () => {
  const ROUNDS_MAX = 300;
  const kinds = ['cancelled', 'in_progress', 'reset', 'server_error', 'stale', 'throttled', 'unprocessed'];
  const stormy = await startProxy(table.endpoint);
  const caught = await plainClient(stormy.endpoint);
  using _ = caught;
  injectStorm(stormy);
  const RequestItems = { [TableName]: { Keys: [key('storm'), key('calm')], ConsistentRead: true } };
  const TransactItems = [{ Put: { TableName, Item: key('storm') } }];
  const seen = new Set<string>();
  let answered = 0;
  for (let round = 0; round < ROUNDS_MAX && seen.size < kinds.length; round += 1) {
    const asked = [
      caught.sdk.send(new TransactWriteItemsCommand({ TransactItems })),
      caught.sdk.send(new GetItemCommand({ TableName, Key: key('storm') })),
      caught.sdk.send(new BatchGetItemCommand({ RequestItems })),
    ];
    answered += (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length;
    for (const { faults } of stormy.requests) for (const fault of faults) seen.add(fault);
  }
  await stormy.close();
  assert.deepEqual([...seen].sort(), kinds);
  const share = answered / stormy.requests.length;
  assert.ok(share > 0.6, `${answered} of ${stormy.requests.length} were answered`);
});
