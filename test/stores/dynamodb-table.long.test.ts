import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { Clock } from '../../src/kernel/clock.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { createTable, type TableReport } from '../../src/stores/dynamodb/create-table.ts';
import { makeClient } from '../../src/stores/dynamodb/sdk.ts';
import { checkTable } from '../../src/transports/cli/doctor/check-dynamodb.ts';
import { testEndpoint } from '../support/dynamodb.ts';
import { freePort } from '../support/watched-server.ts';
import { cox, scratch } from '../transports/support.ts';
import { type Answer, type Asked, awsError, standIn } from './dynamodb-stand-in.ts';

let endpoint: string;
let tables = 0;
before(async () => {
  endpoint = await testEndpoint();
});

function fresh() {
  tables += 1;
  const table = `table-${process.pid}-${tables}`;
  const address = { table, region: 'local', endpoint };
  return {
    table,
    url: `dynamodb://${table}?region=local&endpoint=${endpoint}`,
    client: makeClient(address),
  };
}

test('[STORE-1] a table is made as the store needs it, and again changes nothing', async () => {
  const { table: TableName, url, client } = fresh();
  const report = {
    table: TableName,
    created: true,
    billing: 'on_demand',
    ttl: 'enabled',
    point_in_time_recovery: 'unsupported',
  };
  assert.deepEqual(await createTable(url), report);
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  assert.deepEqual(
    Table?.KeySchema?.map(({ AttributeName, KeyType }) => [AttributeName, KeyType]),
    [
      ['PK', 'HASH'],
      ['SK', 'RANGE'],
    ],
  );
  assert.equal(Table?.GlobalSecondaryIndexes, undefined);
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  assert.equal(TimeToLiveDescription?.AttributeName, 'ttl');
  assert.deepEqual(await createTable(url), { ...report, created: false, ttl: 'already' });
  client.destroy();
});

test('[STORE-1] eight at once make one table', async () => {
  const { url, client } = fresh();
  const reports: TableReport[] = await Promise.all(Array.from({ length: 8 }, () => createTable(url)));
  assert.equal(reports.filter(({ created }) => created).length, 1);
  for (const { billing } of reports) assert.equal(billing, 'on_demand');
  client.destroy();
});

test('[STORE-1] a table without expiry gets it; one that belongs to something else is left alone', async () => {
  const { table: TableName, url, client } = fresh();
  const keys = (hash: string, type: 'S' | 'N') => ({
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      { AttributeName: hash, AttributeType: type },
      { AttributeName: 'SK', AttributeType: 'S' as const },
    ],
    KeySchema: [
      { AttributeName: hash, KeyType: 'HASH' as const },
      { AttributeName: 'SK', KeyType: 'RANGE' as const },
    ],
  });
  await client.send(new CreateTableCommand(keys('PK', 'S')));
  const { created, ttl } = await createTable(url);
  assert.deepEqual([created, ttl], [false, 'enabled']);
  for (const [hash, type] of [
    ['user_id', 'S'],
    ['PK', 'N'],
  ] as const) {
    const other = fresh();
    await client.send(new CreateTableCommand({ ...keys(hash, type), TableName: other.table }));
    await assert.rejects(
      createTable(other.url),
      (error) =>
        error instanceof StoreFailure &&
        error.refusal.error === 'store_unusable' &&
        error.message.includes(`${hash} (HASH, ${type})`),
    );
    other.client.destroy();
  }
  const expiring = fresh();
  await client.send(new CreateTableCommand({ ...keys('PK', 'S'), TableName: expiring.table }));
  const TimeToLiveSpecification = { AttributeName: 'gone_at', Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: expiring.table, TimeToLiveSpecification }));
  await assert.rejects(createTable(expiring.url), /expires items by its attribute gone_at/);
  for (const one of [client, expiring.client]) one.destroy();
});

/** AWS, where a table takes its time and others work on it, too. */
class SlowAws {
  readonly asked: string[] = [];
  #looks = 0;
  #backups = 0;
  ttl = 'DISABLED';
  answer = ({ operation }: Asked): Answer => {
    this.asked.push(operation);
    const ok = (body: object) => ({ status: 200, body: JSON.stringify(body) });
    const fault = (name: string, message = '') =>
      awsError(`com.amazonaws.dynamodb.v20120810#${name}`, message);
    switch (operation) {
      case 'DescribeTable':
        this.#looks += 1;
        if (this.#looks === 1) return fault('ResourceNotFoundException');
        if (this.#looks === 3) return fault('ThrottlingException');
        return ok({ Table: { ...TABLE, TableStatus: this.#looks < 5 ? 'CREATING' : 'ACTIVE' } });
      case 'CreateTable':
        return fault('ResourceInUseException', 'Table already exists: cox');
      case 'DescribeTimeToLive':
        return ok({ TimeToLiveDescription: { TimeToLiveStatus: this.ttl, AttributeName: 'ttl' } });
      case 'UpdateTimeToLive':
        this.ttl = 'ENABLING';
        return fault('ValidationException', 'TimeToLive is already enabled');
      case 'DescribeContinuousBackups':
        return ok({ ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED' } });
      default:
        this.#backups += 1;
        return this.#backups < 3
          ? fault('ContinuousBackupsUnavailableException', 'Please retry later')
          : ok({});
    }
  };
}

const TABLE = {
  TableName: 'cox',
  BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
  AttributeDefinitions: ['PK', 'SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'PK', KeyType: 'HASH' },
    { AttributeName: 'SK', KeyType: 'RANGE' },
  ],
};

/** Time passes by waiting alone. */
function quickClock(): Clock {
  let elapsed_ms = 0;
  return {
    now_ms: () => elapsed_ms,
    elapsed_ms: () => elapsed_ms,
    async sleep(duration_ms) {
      elapsed_ms += duration_ms;
    },
  };
}

test('[STORE-1] somebody else creates it at the same time, AWS takes its time: both are waited for', async () => {
  const aws = new SlowAws();
  const server = await standIn(aws.answer);
  try {
    const url = `dynamodb://cox?region=eu-central-1&endpoint=${server.endpoint}`;
    assert.deepEqual(await createTable(url, { clock: quickClock() }), {
      table: 'cox',
      created: false,
      billing: 'on_demand',
      ttl: 'already',
      point_in_time_recovery: 'enabled',
    });
    assert.equal(aws.asked.filter((operation) => operation === 'UpdateContinuousBackups').length, 3);
  } finally {
    await server.stop();
  }
});

test('[STORE-1] the answer to creating it, and to switching on expiry, is lost: it was this call that did both', async () => {
  const done = new Set<string>();
  const server = await standIn(({ operation }) => {
    if (operation === 'CreateTable' || operation === 'UpdateTimeToLive') {
      done.add(operation);
      return undefined;
    }
    if (operation === 'DescribeTable' && !done.has('CreateTable'))
      return awsError('com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', '');
    const TimeToLiveStatus = done.has('UpdateTimeToLive') ? 'ENABLING' : 'DISABLED';
    const TimeToLiveDescription = { TimeToLiveStatus, AttributeName: 'ttl' };
    return {
      status: 200,
      body: JSON.stringify({ Table: { ...TABLE, TableStatus: 'ACTIVE' }, TimeToLiveDescription }),
    };
  });
  try {
    const { created, ttl } = await createTable(
      `dynamodb://cox?region=eu-central-1&endpoint=${server.endpoint}`,
      { clock: quickClock() },
    );
    assert.deepEqual([created, ttl], [true, 'enabled']);
  } finally {
    await server.stop();
  }
});

test('[STORE-1] a table that never becomes ready, and an expiry that AWS does not let be switched on, end with a sentence', async () => {
  const creating = await standIn(() => ({
    status: 200,
    body: JSON.stringify({ Table: { ...TABLE, TableStatus: 'CREATING' } }),
  }));
  const aws = new SlowAws();
  const stubborn = await standIn((asked) =>
    asked.operation === 'UpdateTimeToLive'
      ? awsError(
          'com.amazon.coral.validate#ValidationException',
          'Time to live has been modified multiple times within a fixed interval',
        )
      : aws.answer(asked),
  );
  try {
    const options = () => ({ clock: quickClock() });
    await assert.rejects(
      createTable(`dynamodb://cox?region=eu-central-1&endpoint=${creating.endpoint}`, options()),
      (error) =>
        error instanceof StoreFailure &&
        error.refusal.error === 'database_unavailable' &&
        /Run this again/.test(error.message),
    );
    await assert.rejects(
      createTable(`dynamodb://cox?region=eu-central-1&endpoint=${stubborn.endpoint}`, options()),
      (error) =>
        error instanceof StoreFailure &&
        error.refusal.error === 'store_unusable' &&
        /modified multiple times/.test(error.message),
    );
  } finally {
    await creating.stop();
    await stubborn.stop();
  }
});

test('[STORE-1] cox doctor: what a table lacks and works without, by the command that mends it', async () => {
  const { table: TableName, url, client } = fresh();
  const { created } = await createTable(url);
  assert.ok(created);
  const seen = await checkTable(url);
  assert.equal(seen.status, 'ok');
  assert.match(seen.message, /as far as can be seen/);
  const off = { AttributeName: 'ttl', Enabled: false };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: off }));
  const growing = await checkTable(url);
  assert.deepEqual([growing.status, growing.fix], ['wrong', `Run \`cox dynamodb create-table "${url}"\`.`]);
  client.destroy();
  const aws = new SlowAws();
  aws.ttl = 'ENABLED';
  const server = await standIn(aws.answer);
  try {
    const lost = await checkTable(`dynamodb://cox?region=eu-central-1&endpoint=${server.endpoint}`);
    assert.deepEqual(
      [lost.status, lost.message],
      ['idle', 'no point-in-time recovery: what is lost stays lost'],
    );
  } finally {
    await server.stop();
  }
});

test('[CLI-1] cox dynamodb create-table: by name, by --store, by COX_STORE; what is wrong is said', async () => {
  using place = scratch();
  const { url, table, client } = fresh();
  client.destroy();
  const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const run = async (args: string[], env: Record<string, string> = {}) =>
    await cox(['dynamodb', 'create-table', ...args], { cwd: place.folder, env: { ...keys, ...env } });
  const made = await run([url, '--json']);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(JSON.parse(made.out), {
    success: true,
    table,
    created: true,
    billing: 'on_demand',
    ttl: 'enabled',
    point_in_time_recovery: 'unsupported',
  });
  assert.equal(JSON.parse((await run(['--store', url, '--json'])).out).created, false);
  assert.match((await run([], { COX_STORE: url })).out, new RegExp(table));
  const nothing = await run(['--json']);
  assert.deepEqual([nothing.code, JSON.parse(nothing.out).error], [2, 'invalid_input']);
  const other = await run(['postgres://ann:hunter2secret@db/x', '--json']);
  assert.deepEqual([other.code, JSON.parse(other.out).error], [2, 'invalid_input']);
  assert.ok(!other.out.includes('hunter2secret'));
  const away = await run([
    `dynamodb://cox?region=local&endpoint=http://127.0.0.1:${await freePort()}`,
    '--json',
  ]);
  assert.deepEqual([away.code, JSON.parse(away.out).error], [4, 'database_unavailable']);
});
