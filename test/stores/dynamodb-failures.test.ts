import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { createTable } from '../../src/stores/dynamodb/create-table.ts';
import { type Fault, failure, faultOf, NEEDED_ACTIONS } from '../../src/stores/dynamodb/failures.ts';
import { makeClient } from '../../src/stores/dynamodb/sdk.ts';
import type { DynamoAddress } from '../../src/stores/dynamodb/table-address.ts';
import { testEndpoint } from '../support/dynamodb.ts';
import { freePort } from '../support/watched-server.ts';
import { type Answer, awsError, standIn } from './dynamodb-stand-in.ts';

let endpoint: string;
let place: DynamoAddress;
before(async () => {
  endpoint = await testEndpoint();
  place = { table: `failures-${process.pid}`, region: 'local', endpoint };
  await createTable(`dynamodb://${place.table}?region=local&endpoint=${endpoint}`);
});

type Client = ReturnType<typeof makeClient>;

/** What the real SDK throws. */
async function thrown(address: DynamoAddress, ask: (client: Client) => Promise<unknown>): Promise<unknown> {
  const client = makeClient(address);
  try {
    await ask(client);
  } catch (error) {
    return error;
  } finally {
    client.destroy();
  }
  throw new Error('nothing was thrown');
}

const get = (TableName: string) => (client: Client) =>
  client.send(new GetItemCommand({ TableName, Key: { PK: { S: 'p' }, SK: { S: 's' } } }));

function expectFailure(error: unknown, address: DynamoAddress, fault: Fault, code: string, said: RegExp[]) {
  const { refusal, message } = failure(error, address);
  assert.deepEqual([faultOf(error), refusal.error], [fault, code], message);
  for (const part of said) assert.match(message, part);
}

const AWS: [title: string, answer: Answer, fault: Fault, code: string, said: RegExp[]][] = [
  [
    'rights',
    awsError(
      'com.amazon.coral.service#AccessDeniedException',
      'User: arn:aws:iam::123456789012:user/ann is not authorized to perform: dynamodb:ConditionCheckItem on resource: arn:aws:dynamodb:eu-central-1:123456789012:table/cox because no identity-based policy allows the dynamodb:ConditionCheckItem action',
    ),
    ...(['final', 'store_unusable'] as const),
    [
      /does not permit dynamodb:ConditionCheckItem/,
      /user\/ann/,
      /needs dynamodb:GetItem, .*dynamodb:DescribeTable/,
    ],
  ],
  [
    'no such table',
    awsError('com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', 'Requested resource not found'),
    ...(['final', 'store_unusable'] as const),
    [
      /no table cox .*region eu-central-1/,
      /cox dynamodb create-table "dynamodb:\/\/cox\?region=eu-central-1&endpoint=/,
    ],
  ],
  [
    'an unknown key',
    awsError(
      'com.amazon.coral.service#UnrecognizedClientException',
      'The security token included in the request is invalid.',
    ),
    ...(['final', 'store_unusable'] as const),
    [/does not accept these credentials/, /get-caller-identity/],
  ],
  [
    'a wrong secret',
    awsError(
      'com.amazon.coral.service#InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided.',
    ),
    ...(['final', 'store_unusable'] as const),
    [/does not accept these credentials/],
  ],
  [
    'an expired session',
    awsError(
      'com.amazon.coral.service#ExpiredTokenException',
      'The security token included in the request is expired',
    ),
    ...(['final', 'store_unusable'] as const),
    [/have run out/, /aws sso login/],
  ],
  [
    'a clock behind',
    awsError(
      'com.amazon.coral.service#InvalidSignatureException',
      'Signature expired: 20260301T100000Z is now earlier than 20260301T105500Z (20260301T110000Z - 5 min.)',
    ),
    ...(['final', 'store_unusable'] as const),
    [/clock of this machine is 60 minutes behind/, /NTP/],
  ],
  [
    'a clock ahead',
    awsError(
      'com.amazon.coral.service#InvalidSignatureException',
      'Signature not yet current: 20260301T150000Z is still later than 20260301T110500Z (20260301T110000Z + 5 min.)',
    ),
    ...(['final', 'store_unusable'] as const),
    [/is 4\.0 hours ahead of/],
  ],
  [
    'throttling',
    awsError(
      'com.amazonaws.dynamodb.v20120810#ThrottlingException',
      'Throughput exceeds the current capacity of your table.',
    ),
    ...(['again', 'database_unavailable'] as const),
    [/busy \(ThrottlingException\)/],
  ],
  [
    'throughput',
    awsError(
      'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
      'The level of configured provisioned throughput was exceeded.',
    ),
    ...(['again', 'database_unavailable'] as const),
    [/busy/],
  ],
  [
    'the account’s limit',
    awsError(
      'com.amazonaws.dynamodb.v20120810#RequestLimitExceeded',
      'Throughput exceeds the current throughput limit for your account.',
    ),
    ...(['again', 'database_unavailable'] as const),
    [/busy/],
  ],
  [
    'the same token at once',
    awsError(
      'com.amazonaws.dynamodb.v20120810#TransactionInProgressException',
      'The transaction with the given request token is already in progress.',
    ),
    ...(['unsure', 'database_unavailable'] as const),
    [/TransactionInProgressException/],
  ],
  [
    'a fault of the server',
    awsError(
      'com.amazonaws.dynamodb.v20120810#InternalServerError',
      'The request processing has failed.',
      {},
      500,
    ),
    ...(['unsure', 'database_unavailable'] as const),
    [/InternalServerError/],
  ],
  [
    'a gateway’s page',
    { status: 502, body: '<html>Bad Gateway</html>', headers: { 'content-type': 'text/html' } },
    ...(['unsure', 'database_unavailable'] as const),
    [/DynamoDB/],
  ],
  [
    'conflicts alone',
    awsError(
      'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]',
      {
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
        ],
      },
    ),
    ...(['again', 'database_unavailable'] as const),
    [/Transaction is ongoing/],
  ],
  [
    'a conflict beside a failed condition',
    awsError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', 'Transaction cancelled', {
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'TransactionConflict' }],
    }),
    ...(['final', 'internal_error'] as const),
    [/TransactionCanceledException/],
  ],
  [
    'an item of a transaction too large',
    awsError('com.amazonaws.dynamodb.v20120810#TransactionCanceledException', 'Transaction cancelled', {
      CancellationReasons: [
        { Code: 'ValidationError', Message: 'Item size to update has exceeded the maximum allowed size' },
      ],
    }),
    ...(['final', 'too_large'] as const),
    [/Item size to update has exceeded/],
  ],
];

for (const [title, answer, fault, code, said] of AWS)
  test(`[STORE-1] AWS answers: ${title}: ${fault}, ${code}`, async () => {
    const server = await standIn(() => answer);
    const address = { table: 'cox', region: 'eu-central-1', endpoint: server.endpoint };
    try {
      expectFailure(await thrown(address, get('cox')), address, fault, code, said);
    } finally {
      await server.stop();
    }
  });

test('[STORE-1] the line breaks, the server falls silent, nobody is there: it is not known what was done', async () => {
  const breaking = await standIn(() => undefined);
  const silent = await standIn(() => 'silence');
  try {
    for (const endpoint of [breaking.endpoint, silent.endpoint, `http://127.0.0.1:${await freePort()}`]) {
      const address = { table: 'cox', region: 'local', endpoint };
      const error = await thrown(address, get('cox'));
      expectFailure(error, address, 'unsure', 'database_unavailable', [
        new RegExp(`not answer at ${endpoint}`),
      ]);
    }
    const nowhere = { table: 'cox', region: 'local', endpoint: 'http://no-such-host.invalid' };
    const error = await thrown(nowhere, get('cox'));
    expectFailure(error, nowhere, 'unsure', 'database_unavailable', [/no-such-host\.invalid/]);
  } finally {
    await breaking.stop();
    await silent.stop();
  }
});

const CUT: [string, Answer][] = [
  ['stops in its middle', { status: 200, body: '{"Item":', headers: { 'content-length': '1000' } }],
  ['is cut short', { status: 200, body: '{"Item":' }],
  ['is somebody else’s page', { status: 200, body: '<html>Log in</html>' }],
];

for (const [title, answer] of CUT)
  test(`[STORE-1] a good answer that ${title}: it is not known what was done`, async () => {
    const server = await standIn(() => answer);
    const address = { table: 'cox', region: 'eu-central-1', endpoint: server.endpoint };
    try {
      expectFailure(await thrown(address, get('cox')), address, 'unsure', 'database_unavailable', []);
    } finally {
      await server.stop();
    }
  });

test('[STORE-1] DynamoDB Local itself: no table, another table’s keys, too much', async () => {
  const nowhere = { ...place, table: 'not-there' };
  expectFailure(await thrown(nowhere, get('not-there')), nowhere, 'final', 'store_unusable', [
    /no table not-there/,
  ]);
  const keyless = (client: Client) =>
    client.send(new GetItemCommand({ TableName: place.table, Key: { id: { S: 'x' } } }));
  expectFailure(await thrown(place, keyless), place, 'final', 'store_unusable', [
    /belongs to something else/,
  ]);
  const key = { PK: { S: 'p' }, SK: { S: 's' } };
  const Item = { ...key, data: { S: 'x'.repeat(410_000) } };
  const large = (client: Client) => client.send(new PutItemCommand({ TableName: place.table, Item }));
  expectFailure(await thrown(place, large), place, 'final', 'too_large', [/size/i]);
  const Put = { TableName: place.table, Item };
  const inside = (client: Client) => client.send(new TransactWriteItemsCommand({ TransactItems: [{ Put }] }));
  expectFailure(await thrown(place, inside), place, 'final', 'too_large', [/size/i]);
  const many = Array.from({ length: 101 }, (_, at) => ({
    Put: { TableName: place.table, Item: { PK: { S: 'p' }, SK: { S: `${at}` } } },
  }));
  const crowded = (client: Client) => client.send(new TransactWriteItemsCommand({ TransactItems: many }));
  expectFailure(await thrown(place, crowded), place, 'final', 'too_large', [/100/]);
  const nonsense = (client: Client) =>
    client.send(new QueryCommand({ TableName: place.table, KeyConditionExpression: 'PK' }));
  expectFailure(await thrown(place, nonsense), place, 'final', 'internal_error', [/ValidationException/]);
});

test('[STORE-1] neither region nor credentials: what is looked for, and where to say it', async () => {
  const kept = { ...process.env };
  const gone = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_PROFILE',
  ];
  for (const name of gone) delete process.env[name];
  Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nowhere' });
  try {
    const unset = { table: 'cox', region: undefined, endpoint: undefined };
    expectFailure(await thrown(unset, get('cox')), unset, 'final', 'store_unusable', [
      /No AWS region/,
      /dynamodb:\/\/cox\?region=eu-central-1/,
      /AWS_REGION/,
    ]);
    const keyless = { ...unset, region: 'eu-central-1' };
    expectFailure(await thrown(keyless, get('cox')), keyless, 'final', 'store_unusable', [
      /No AWS credentials/,
      /AWS_ACCESS_KEY_ID/,
      /AWS_PROFILE/,
    ]);
    process.env.AWS_PROFILE = 'nobody';
    expectFailure(await thrown(keyless, get('cox')), keyless, 'final', 'store_unusable', [/AWS_PROFILE/]);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
    Object.assign(process.env, kept);
  }
});

test('[STORE-1] the policy in the documentation permits what the error message lists', () => {
  const text = readFileSync(new URL('../../docs/dynamodb.md', import.meta.url), 'utf8');
  const policy = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '{}');
  assert.deepEqual(policy.Statement[0].Action, NEEDED_ACTIONS);
});
