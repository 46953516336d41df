import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { systemClock } from '../../src/kernel/clock.ts';
import { faultOf } from '../../src/stores/dynamodb/failures.ts';
import { makeClient, observe, type Seen } from '../../src/stores/dynamodb/sdk.ts';
import { type Answer, type Asked, awsError, standIn } from './dynamodb-stand-in.ts';

const HOUR_MS = 3_600_000;
const OK: Answer = { status: 200, body: '{}' };

const get = new GetItemCommand({ TableName: 'cox', Key: { PK: { S: 'p' }, SK: { S: 's' } } });

function stamp(time_ms: number): string {
  return new Date(time_ms).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** AWS with another clock than ours: it refuses what was not signed within five minutes of it. */
function withClock(ahead_ms: number, answer: Answer): (asked: Asked) => Answer {
  return ({ headers }) => {
    const now_ms = Date.now() + ahead_ms;
    const date = { date: new Date(now_ms).toUTCString() };
    const [, signed = ''] = /^(\d{8}T\d{6}Z)$/.exec(String(headers['x-amz-date'])) ?? [];
    const iso = signed.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z');
    if (Math.abs(Date.parse(iso) - now_ms) <= 300_000) return { ...answer, headers: date };
    const said = `Signature expired: ${signed} is now earlier than ${stamp(now_ms - 300_000)} (${stamp(now_ms)} - 5 min.)`;
    return { ...awsError('com.amazon.coral.service#InvalidSignatureException', said), headers: date };
  };
}

for (const hours of [1, -1])
  test(`[STORE-1] a clock ${hours} hour off: the first request is refused and may be repeated, the next is signed right`, async () => {
    const server = await standIn(withClock(hours * HOUR_MS, OK));
    const client = makeClient({ table: 'cox', region: 'eu-central-1', endpoint: server.endpoint });
    const seen: Seen[] = [];
    observe(client, (one) => seen.push(one), systemClock);
    try {
      await assert.rejects(client.send(get), (error) => faultOf(error) === 'again');
      await client.send(get);
      await client.send(get);
      assert.equal(seen.length, 3);
      for (const { sent_ms, received_ms, date_ms } of seen) {
        assert.ok(sent_ms <= received_ms);
        assert.ok(Math.abs(date_ms - Date.now() - hours * HOUR_MS) < 10_000, 'the date of the refusal, too');
      }
    } finally {
      client.destroy();
      await server.stop();
    }
  });

test('[STORE-1] beside a wrong clock every other error stays what it is', async () => {
  const denied = awsError(
    'com.amazon.coral.service#AccessDeniedException',
    'not authorized to perform: dynamodb:GetItem',
  );
  const server = await standIn(withClock(HOUR_MS, denied));
  const client = makeClient({ table: 'cox', region: 'eu-central-1', endpoint: server.endpoint });
  try {
    await assert.rejects(client.send(get), (error) => faultOf(error) === 'again');
    await assert.rejects(client.send(get), (error) => faultOf(error) === 'final');
  } finally {
    client.destroy();
    await server.stop();
  }
});

test('[STORE-1] the SDK sends each request once: whether to repeat it is not its decision', async () => {
  let requests = 0;
  const server = await standIn(() => {
    requests += 1;
    return awsError('com.amazonaws.dynamodb.v20120810#ThrottlingException', 'Rate exceeded');
  });
  const client = makeClient({ table: 'cox', region: 'eu-central-1', endpoint: server.endpoint });
  try {
    await assert.rejects(client.send(get));
    assert.equal(requests, 1);
  } finally {
    client.destroy();
    await server.stop();
  }
});

test('[STORE-1] an answer without a date, or with a strange one, is not taken for a time', async () => {
  const dates = ['', 'yesterday'];
  const server = await standIn(() => ({ ...OK, headers: { date: dates.shift() ?? '' } }));
  const client = makeClient({ table: 'cox', region: 'eu-central-1', endpoint: server.endpoint });
  const seen: Seen[] = [];
  observe(client, (one) => seen.push(one), systemClock);
  try {
    await client.send(get);
    await client.send(get);
    assert.deepEqual(seen, []);
  } finally {
    client.destroy();
    await server.stop();
  }
});

test('[STORE-1] region and endpoint by the conventions of the SDK, unless the address says otherwise', async () => {
  const kept = { ...process.env };
  Object.assign(process.env, { AWS_REGION: 'ap-south-1', AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' });
  const regions: string[] = [];
  const server = await standIn(({ headers }) => {
    regions.push(/\/([a-z0-9-]+)\/dynamodb\//.exec(String(headers.authorization))?.[1] ?? '');
    return OK;
  });
  try {
    for (const region of ['eu-central-1', undefined]) {
      const client = makeClient({ table: 'cox', region, endpoint: server.endpoint });
      await client.send(get);
      client.destroy();
    }
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.endpoint;
    const client = makeClient({ table: 'cox', region: undefined, endpoint: undefined });
    await client.send(get);
    client.destroy();
    assert.deepEqual(regions, ['eu-central-1', 'ap-south-1', 'ap-south-1']);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
    Object.assign(process.env, kept);
    await server.stop();
  }
});
