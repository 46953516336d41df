import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { costTable } from '../../scripts/dynamodb-costs.ts';
import { tap } from '../../scripts/dynamodb-tap.ts';
import { added, itemBytes, Meter, NOTHING, type Units } from '../../scripts/dynamodb-units.ts';
import { createTable } from '../../src/stores/dynamodb/create-table.ts';
import { makeClient } from '../../src/stores/dynamodb/sdk.ts';
import { testEndpoint } from '../support/dynamodb.ts';

const TableName = `units-${process.pid}`;
let endpoint: string;
before(async () => {
  endpoint = await testEndpoint();
  await createTable(`dynamodb://${TableName}?region=local&endpoint=${endpoint}`);
});

const sizes: [string, Record<string, AttributeValue>, number][] = [
  ['a string and its name', { ab: { S: 'cde' } }, 5],
  ['UTF-8, not characters', { é: { S: '→' } }, 5],
  ['a number: a byte for two digits, and one', { n: { N: '1772000000000' } }, 1 + 2 + 1],
  ['a fraction below zero', { n: { N: '-12.5' } }, 1 + 2 + 1 + 1],
  ['zero', { n: { N: '0' } }, 2],
  ['true and null', { t: { BOOL: true }, u: { NULL: true } }, 4],
  ['bytes', { b: { B: new Uint8Array(7) } }, 8],
  ['an empty list', { l: { L: [] } }, 4],
  ['a list: a byte for each element', { l: { L: [{ S: 'ab' }, { BOOL: true }] } }, 1 + 3 + 3 + 2],
  ['a map', { m: { M: { ab: { S: 'c' } } } }, 1 + 3 + 3 + 1],
  ['a set', { s: { SS: ['ab', 'c'] } }, 4],
];

for (const [title, item, bytes] of sizes)
  test(`how large an item is: ${title}`, () => {
    assert.equal(itemBytes(item), bytes);
  });

const item = (SK: string, bytes: number) => ({ PK: { S: 'p' }, SK: { S: SK }, d: { S: 'x'.repeat(bytes) } });
const key = (SK: string) => ({ PK: { S: 'p' }, SK: { S: SK } });
const put = (SK: string, bytes: number) => ({ Put: { TableName, Item: item(SK, bytes) } });
const check = (SK: string) => ({
  ConditionCheck: { TableName, Key: key(SK), ConditionExpression: 'attribute_exists(PK)' },
});

function units(read_units: number, write_units: number): Units {
  return { requests: 1, read_units, write_units };
}

test('reading: four kilobytes each, half without consistency, the least for what is not there', () => {
  const meter = new Meter();
  const get = (bytes: number | undefined, ConsistentRead: boolean) =>
    meter.cost({
      operation: 'GetItem',
      input: { TableName, Key: key('a'), ConsistentRead },
      output: bytes === undefined ? {} : { Item: item('a', bytes) },
    });
  assert.deepEqual(get(undefined, true), units(1, 0));
  assert.deepEqual(get(100, false), units(0.5, 0));
  assert.deepEqual(get(4096, true), units(2, 0));
  const RequestItems = { [TableName]: { Keys: ['a', 'b', 'c', 'd'].map(key), ConsistentRead: true } };
  const output = {
    Responses: { [TableName]: [item('a', 1500), item('b', 6500)] },
    UnprocessedKeys: { [TableName]: { Keys: [key('c')] } },
  };
  assert.deepEqual(
    meter.cost({ operation: 'BatchGetItem', input: { RequestItems }, output }),
    units(1 + 2 + 1, 0),
  );
  const Items = Array.from({ length: 10 }, (_, at) => item(`${at}`, 500));
  assert.deepEqual(
    meter.cost({ operation: 'Query', input: { TableName, ConsistentRead: true }, output: { Items } }),
    units(2, 0),
  );
});

test('a transaction: twice for each action, condition checks and failed conditions too, a repeated token only reads', () => {
  const meter = new Meter();
  const input = { TransactItems: [put('a', 100), put('b', 1500), check('c')], ClientRequestToken: 't' };
  const transact = (error?: unknown) =>
    meter.cost({ operation: 'TransactWriteItems', input, output: {}, error });
  const cancelled = Object.assign(new Error(), { name: 'TransactionCanceledException' });
  const throttled = Object.assign(new Error(), { name: 'ThrottlingException' });
  assert.deepEqual(transact(throttled), units(0, 0));
  assert.deepEqual(transact(cancelled), units(0, 2 + 4 + 2));
  assert.deepEqual(transact(), units(0, 2 + 4 + 2));
  assert.deepEqual(transact(), units(6, 0));
  const checked = { TransactItems: [check('b'), { Delete: { TableName, Key: key('b') } }] };
  assert.deepEqual(
    meter.cost({ operation: 'TransactWriteItems', input: checked, output: {} }),
    units(0, 4 + 4),
    'a check and a deletion cost by what is there',
  );
  assert.deepEqual(meter.cost({ operation: 'DescribeTable', input: {}, output: {} }), units(0, 0));
});

test('through the tap, what DynamoDB Local counts is what we count, where it counts all', async () => {
  const meter = new Meter();
  let total = NOTHING;
  const tapped = await tap(endpoint, (exchange) => {
    total = added(total, meter.cost(exchange));
  });
  const client = makeClient({ table: TableName, region: 'local', endpoint: tapped.endpoint });
  const counted = { ReturnConsumedCapacity: 'TOTAL' as const };
  const same = async (send: () => Promise<{ ConsumedCapacity?: unknown }>) => {
    const before = total;
    const { ConsumedCapacity } = await send();
    const consumed = [ConsumedCapacity]
      .flat()
      .reduce((sum: number, one) => sum + Number((one as { CapacityUnits?: number }).CapacityUnits), 0);
    assert.equal(total.read_units - before.read_units + total.write_units - before.write_units, consumed);
    assert.equal(total.requests - before.requests, 1);
  };
  try {
    await same(() => client.send(new PutItemCommand({ TableName, Item: item('a', 3000), ...counted })));
    await same(() => client.send(new PutItemCommand({ TableName, Item: item('a', 100), ...counted })));
    await same(() =>
      client.send(new GetItemCommand({ TableName, Key: key('a'), ConsistentRead: true, ...counted })),
    );
    await same(() => client.send(new GetItemCommand({ TableName, Key: key('none'), ...counted })));
    const TransactItems = [put('b', 1500), put('c', 10), put('d', 5000)];
    await same(() => client.send(new TransactWriteItemsCommand({ TransactItems, ...counted })));
    const writes = [{ PutRequest: { Item: item('e', 2100) } }, { DeleteRequest: { Key: key('d') } }];
    await same(() =>
      client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: writes }, ...counted })),
    );
    // One that is not there costs a unit at AWS and nothing here.
    const RequestItems = { [TableName]: { Keys: ['b', 'c'].map(key), ConsistentRead: true } };
    await same(() => client.send(new BatchGetItemCommand({ RequestItems, ...counted })));
    await same(() =>
      client.send(
        new QueryCommand({
          TableName,
          KeyConditionExpression: 'PK = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
          ConsistentRead: true,
          ...counted,
        }),
      ),
    );
    await same(() => client.send(new DeleteItemCommand({ TableName, Key: key('e'), ...counted })));
    await assert.rejects(
      client.send(new TransactWriteItemsCommand({ TransactItems: [check('nobody'), put('f', 10)] })),
      { name: 'TransactionCanceledException' },
    );
  } finally {
    client.destroy();
    await tapped.close();
  }
});

test('the table of costs: each operation, and the day of a fleet in money', () => {
  const row = { requests: 1, read_units: 0, write_units: 10, per_hour: 1000 };
  const text = costTable([{ label: 'lock a file', ...row }]);
  assert.match(text, /\| lock a file \| 1 \| 0 \| 10 \| 1000 \|/);
  assert.match(text, /800,000 requests, 0 read units and\n8,000,000 write units, \*\*5\.00 USD\*\*/);
});
