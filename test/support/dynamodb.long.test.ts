import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { DescribeTableCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { type DynamoServer, plainClient, startDynamoDb, tableOn, testTable } from './dynamodb.ts';
import { until } from './until.ts';

let server: DynamoServer;

before(async () => {
  server = await startDynamoDb({ persistent: true });
});

after(() => server.stop());

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const key = (name: string) => ({ PK: { S: name }, SK: { S: 'x' } });

test('a restart and a crash keep what was answered', async () => {
  const { table } = await tableOn(server.endpoint);
  const before_pid = server.pid();
  for (const [name, signal] of [
    ['stopped', 'SIGINT'],
    ['killed', 'SIGKILL'],
  ] as const) {
    using client = await plainClient(server.endpoint);
    await client.sdk.send(new PutItemCommand({ TableName: table, Item: key(name) }));
    await server.kill(signal);
    assert.equal(server.pid(), null);
    await server.restart();
  }
  assert.notEqual(server.pid(), before_pid);
  using client = await plainClient(server.endpoint);
  for (const name of ['stopped', 'killed']) {
    const { Item } = await client.sdk.send(new GetItemCommand({ TableName: table, Key: key(name) }));
    assert.deepEqual(Item, key(name));
  }
});

test('stop leaves neither a process nor data', async () => {
  const pid = server.pid();
  assert.ok(pid !== null && runs(pid));
  await server.stop();
  assert.ok(!runs(pid));
  assert.ok(!existsSync(server.directory));
});

test('a test process killed with -9 takes its server with it', { timeout: 60_000 }, async () => {
  const script = `
    const { startDynamoDb } = await import(${JSON.stringify(new URL('./dynamodb.ts', import.meta.url).href)});
    const server = await startDynamoDb();
    console.log(JSON.stringify({ pid: server.pid(), directory: server.directory }));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { pid, directory } = JSON.parse(String(line));
  assert.ok(runs(pid));
  child.kill('SIGKILL');
  await until(async () => !runs(pid) && !existsSync(directory));
  assert.ok(!runs(pid));
});

test('testTable gives a table of our shape and takes it back', async () => {
  const { url, endpoint, table, drop } = await testTable();
  const address = new URL(url);
  assert.deepEqual([address.host, address.searchParams.get('endpoint')], [table, endpoint]);
  using client = await plainClient(endpoint);
  const describe = new DescribeTableCommand({ TableName: table });
  const { Table } = await client.sdk.send(describe);
  assert.deepEqual(
    Table?.KeySchema?.map(({ AttributeName }) => AttributeName),
    ['PK', 'SK'],
  );
  await drop();
  await drop();
  await assert.rejects(client.sdk.send(describe), { name: 'ResourceNotFoundException' });
});
