import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { addressText, parseAddress } from '../../src/stores/dynamodb/table-address.ts';

const places: [string, ReturnType<typeof parseAddress>][] = [
  ['dynamodb://coxswain', { table: 'coxswain', region: undefined, endpoint: undefined }],
  ['dynamodb://My_Table.v-2/', { table: 'My_Table.v-2', region: undefined, endpoint: undefined }],
  ['dynamodb://cox?region=eu-central-1', { table: 'cox', region: 'eu-central-1', endpoint: undefined }],
  [
    'dynamodb://cox?endpoint=http://127.0.0.1:8000/&region=local',
    { table: 'cox', region: 'local', endpoint: 'http://127.0.0.1:8000' },
  ],
  [
    'dynamodb://cox?endpoint=https%3A%2F%2Fvpce-1.dynamodb.eu-west-1.vpce.amazonaws.com',
    { table: 'cox', region: undefined, endpoint: 'https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com' },
  ],
];

for (const [url, address] of places)
  test(`where ${url} is`, () => {
    assert.deepEqual(parseAddress(url), address);
    assert.deepEqual(parseAddress(addressText(address)), address);
  });

const wrong: [string, string, RegExp][] = [
  ['another scheme', 'dynamo:cox', /begins with dynamodb:\/\//],
  ['no table', 'dynamodb://', /3 to 255/],
  ['a short name', 'dynamodb://ab?region=us-east-1', /3 to 255/],
  ['a long name', `dynamodb://${'a'.repeat(256)}`, /3 to 255/],
  ['a name with a path', 'dynamodb://cox/other', /3 to 255/],
  ['control characters', 'dynamodb://cox\u001b[31m', /3 to 255/],
  [
    'an ARN',
    'dynamodb://arn:aws:dynamodb:eu-west-1:123456789012:table/cox',
    /dynamodb:\/\/cox\?region=eu-west-1/,
  ],
  ['an unknown parameter', 'dynamodb://cox?regoin=eu-west-1', /"regoin" is no parameter/],
  ['a parameter twice', 'dynamodb://cox?region=eu-west-1&region=eu-west-2', /region is given twice/],
  ['an empty region', 'dynamodb://cox?region=', /looks like eu-central-1/],
  ['a region with more in it', 'dynamodb://cox?region=eu@evil.example', /looks like eu-central-1/],
  ['credentials', 'dynamodb://AKIA1:hunter2secret@cox', /Credentials do not belong/],
  [
    'credentials in the endpoint',
    'dynamodb://cox?endpoint=http://me:hunter2secret@h',
    /Credentials do not belong/,
  ],
  ['keys as parameters', 'dynamodb://cox?secretAccessKey=hunter2secret', /is no parameter/],
  [
    'an endpoint that is no web address',
    'dynamodb://cox?endpoint=file:///etc/hunter2secret',
    /http or https/,
  ],
  ['an endpoint without a scheme', 'dynamodb://cox?endpoint=127.0.0.1:8000', /http or https/],
  ['a fragment', 'dynamodb://cox#x', /no #/],
];

for (const [title, url, said] of wrong)
  test(`no address: ${title}; the answer shows how one looks, and no secret`, () => {
    assert.throws(
      () => parseAddress(url),
      (error) =>
        error instanceof StoreFailure &&
        error.refusal.error === 'invalid_input' &&
        said.test(error.message) &&
        error.message.includes('expected such as dynamodb://') &&
        !error.message.includes('hunter2secret') &&
        !error.message.includes('\u001b'),
    );
  });

test('whatever is written behind the scheme is an address that can be written again, or a clear error', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webQueryParameters().map((query) => `cox?${query}`),
      ),
      (rest) => {
        try {
          const address = parseAddress(`dynamodb://${rest}`);
          assert.deepEqual(parseAddress(addressText(address)), address);
        } catch (error) {
          assert.ok(error instanceof StoreFailure, String(error));
        }
      },
    ),
  );
});
