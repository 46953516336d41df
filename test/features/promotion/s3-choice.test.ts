import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { S3Client } from '@aws-sdk/client-s3';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import { parseRoles } from '../../../src/features/claims/files/roles-file.ts';
import { parseS3Address, parseS3Template } from '../../../src/kernel/s3-address.ts';
import { Bucket } from '../../../src/storage/s3/bucket.ts';
import { patience } from '../../../src/storage/s3/open-bucket.ts';
import { placeProblem } from '../../../src/storage/s3/s3-problems.ts';
import { type Fault, S3StandIn } from '../../support/s3.ts';
import type { BucketGround } from './ground.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

const isolated = (drafts_path_template: string, scratch_path_template = 'agents/{agent_id}/scratch') => ({
  ...DEFAULT_RULES,
  isolation: { ...DEFAULT_RULES.isolation, drafts_path_template, scratch_path_template },
});

test('[CLAIM-8] an address in S3 is a bucket, a prefix and where to find them', () => {
  const nowhere = { region: undefined, endpoint: undefined };
  assert.deepEqual(parseS3Address('s3://team-bucket'), { bucket: 'team-bucket', prefix: '', ...nowhere });
  assert.deepEqual(parseS3Address('s3://team-bucket//a/b.c/'), {
    ...{ bucket: 'team-bucket', prefix: 'a/b.c/' },
    ...nowhere,
  });
  const local = { region: 'eu-west-1', endpoint: 'http://127.0.0.1:9000' };
  assert.deepEqual(parseS3Address('s3://team-bucket/?region=eu-west-1&endpoint=http://127.0.0.1:9000'), {
    ...{ bucket: 'team-bucket', prefix: '' },
    ...local,
  });
  assert.deepEqual(parseS3Template('s3://team-bucket/x/agents/{agent_id}/drafts/?region=eu-west-1'), {
    address: { bucket: 'team-bucket', prefix: 'x/', region: 'eu-west-1', endpoint: undefined },
    part: 'agents/{agent_id}/drafts',
  });
  for (const text of [
    's3://',
    's3://b',
    's3://UPPER',
    's3://key:secret@bucket',
    's3://bucket/../x',
    's3://bucket/a//b',
    's3://bucket/a\u001bb',
    's3://bucket?profile=x',
    's3://bucket?endpoint=http://me:secret@host',
    's3://bucket?endpoint=file:///etc',
    's3://bucket?region=a b',
    's3://bucket#x',
    `s3://bucket/${'x'.repeat(600)}`,
    'https://bucket',
  ])
    assert.equal(parseS3Address(text), undefined, text);
  for (const path of [
    'drafts',
    '{agent_id}',
    'agents/{agent_id}',
    'agents/{agent_id}/promoting',
    'assets/{agent_id}/x',
  ])
    assert.equal(parseS3Template(`s3://bucket/${path}`), undefined, path);
});

test('[CLAIM-8] [CLAIM-5] agent_roles.yml may name a bucket for drafts, in one form only', () => {
  const read = (path: string) => parseRoles(`work_isolation: { drafts_path_template: "${path}" }`, 'r.yml');
  const sound = read('s3://team-bucket/x/agents/{agent_id}/drafts/');
  assert.equal(
    sound.ok && sound.rules.isolation.drafts_path_template,
    's3://team-bucket/x/agents/{agent_id}/drafts',
  );
  const wrong = read('s3://team-bucket/drafts');
  assert.match(String(!wrong.ok && wrong.problems[0]?.reason), /s3:\/\/bucket/);
});

test('[CLAIM-8] the rules, COX_ASSETS, or both alike say which bucket; two different ones are refused', async () => {
  await using yard = await Yard.on('s3');
  const { s3 } = yard.ground as BucketGround;
  const [, settings] = s3.address('').split('?');
  const folders = async () => {
    const { error, folder, scratch_folder, field } = await yard.agent('alice')('draft_status');
    return error === undefined ? [folder, scratch_folder] : [error, field];
  };
  const own = `s3://${s3.bucket}/own/agents/alice`;
  const template = `s3://${s3.bucket}/own/agents/{agent_id}`;
  yard.rules = isolated(`${template}/texts?${settings}`);
  assert.deepEqual(await folders(), ['config_unusable', 'drafts_path_template'], 'another prefix');
  Object.defineProperty(yard.ground, 'assets', { value: undefined, configurable: true });
  assert.deepEqual(await folders(), [`${own}/texts/`, `${own}/scratch/`]);
  yard.rules = isolated(`${template}/texts?${settings}`, `${template}/notes?${settings}`);
  assert.deepEqual(await folders(), [`${own}/texts/`, `${own}/notes/`]);
  Object.defineProperty(yard.ground, 'assets', { value: s3.address('own/'), configurable: true });
  assert.deepEqual(await folders(), [`${own}/texts/`, `${own}/notes/`], 'both alike');
  for (const [drafts, scratch, field] of [
    [`${template}/texts`, `s3://elsewhere/agents/{agent_id}/x`, 'scratch_path_template'],
    [`${template}/texts`, 'agents/{agent_id}/texts', 'scratch_path_template'],
    [`${template}/texts`, '{agent_id}', 'scratch_path_template'],
    [`${template}/promoting`, 'agents/{agent_id}/x', 'drafts_path_template'],
    ['drafts/{agent_id}', 'agents/{agent_id}/x', 'drafts_path_template'],
  ] as const) {
    yard.rules = isolated(drafts, scratch);
    assert.deepEqual(await folders(), ['config_unusable', field], `${drafts} ${scratch}`);
  }
  yard.rules = DEFAULT_RULES;
  for (const value of ['bucket', '/tmp/x', 's3://UPPER']) {
    Object.defineProperty(yard.ground, 'assets', { value, configurable: true });
    assert.equal((await folders())[0], 'config_unusable', value);
  }
});

test('[CLAIM-8] what is wrong with a bucket is said in words, and nothing was changed', async () => {
  await using yard = await Yard.on('s3');
  const { s3 } = yard.ground as BucketGround;
  yard.draft('alice', 'a.ts', 'x');
  await yard.claim('alice');
  const alice = yard.agent('alice');
  for (const [fault, words] of [
    [{ status: 403, code: 'AccessDenied' }, /access denied\. It takes s3:GetObject/],
    [{ status: 404, code: 'NoSuchBucket' }, /There is no bucket team-bucket/],
    [{ status: 403, code: 'InvalidAccessKeyId' }, /credentials are not valid/],
    [{ status: 400, code: 'ExpiredToken' }, /have expired/],
    [{ status: 301, code: 'PermanentRedirect' }, /another region: set AWS_REGION/],
    [{ status: 418, code: '&#27;[31mRed' }, /an error without a name/],
  ] as [Fault, RegExp][]) {
    s3.watcher = () => fault;
    for (const operation of ['draft_status', 'promote_draft', 'discard_drafts']) {
      const { error, message } = await alice(operation, operation === 'promote_draft' ? asked : {});
      assert.equal(error, 'store_unusable', `${operation}: ${message}`);
      assert.match(String(message), words);
    }
  }
  // Listing and reading are allowed, writing is not.
  s3.watcher = ({ method }) => (method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined);
  assert.equal((await alice('promote_draft', asked)).error, 'store_unusable');
  s3.watcher = ({ method }) => (method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined);
  assert.equal((await alice('discard_drafts')).error, 'store_unusable');
  // Listing is allowed, reading is not: no draft is to blame.
  s3.watcher = ({ key }) => (key === '' ? undefined : { status: 403, code: 'AccessDenied' });
  assert.equal((await alice('draft_status')).error, 'store_unusable');
  s3.watcher = undefined;
  assert.deepEqual([yard.read('a.ts'), yard.ground.readDraft('alice', 'a.ts')], [undefined, 'x']);
  assert.equal((await alice('promote_draft', asked)).action, 'promoted', 'mended');
});

test('[CLAIM-8] the wrong region, a server that is not there and one that never answers', async (t) => {
  const s3 = await S3StandIn.open();
  t.after(() => s3.close());
  const read = async (endpoint: string, { region = s3.region, requestTimeout = 20_000 } = {}) => {
    const bucket = new Bucket(
      new S3Client({
        ...{ endpoint, region, forcePathStyle: true, maxAttempts: 2 },
        requestHandler: patience(requestTimeout),
      }),
      s3.bucket,
    );
    return await bucket.get('a', 10).then(String, (error: Error) => error.message);
  };
  assert.equal(await read(s3.endpoint), 'undefined');
  const elsewhere = await read(s3.endpoint, { region: 'us-west-2' });
  assert.match(elsewhere, /is in another region, eu-central-1: set AWS_REGION/);
  s3.put('a', 'contents');
  for (const fault of ['stall', 'stall_amid'] as const) {
    s3.watcher = () => fault;
    assert.match(await read(s3.endpoint, { requestTimeout: 100 }), /can’t be reached \(\w+\)/, fault);
  }
  const closed = createServer();
  await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done));
  const { port } = closed.address() as { port: number };
  await new Promise((done) => closed.close(done));
  assert.match(await read(`http://127.0.0.1:${port}`), /can’t be reached \(ECONNREFUSED\)/);
});

test('[CLAIM-8] what the SDK itself complains about is said in words, too', () => {
  const words = (error: object) => placeProblem(error, 'b').message;
  assert.match(words({ name: 'CredentialsProviderError' }), /no AWS credentials were found/);
  assert.match(words(new Error('Region is missing')), /no region is set/);
  assert.match(words({ name: 'RequestTimeTooSkewed' }), /its clock is wrong/);
  assert.match(words({ name: 'NotImplemented' }), /no conditional writes/);
  assert.match(words({ name: 'Unknown', $metadata: { httpStatusCode: 502 } }), /\(502\); try later/);
  assert.equal(
    placeProblem({ name: 'KeyTooLongError' }, 'b').name,
    'PlaceProblem',
    'one file, not the bucket',
  );
});

test('[CLAIM-8] COX_ASSETS of the environment is what the fleet goes by', async () => {
  const { open } = await import('../../../src/runtime/open.ts');
  await using yard = await Yard.on('s3');
  const env = { COX_ASSETS: yard.ground.assets, COX_SEAT: 'off', COX_PRESENCE: 'off' };
  const coxswain = await open({ cwd: yard.root, store: `sqlite:${yard.root}/other.db`, env });
  try {
    const { draftStatus } = await import('../../../src/features/promotion/operations.ts');
    const status = await coxswain.connect({ agent_id: 'alice' }).perform(draftStatus, {});
    assert.equal(status.folder, yard.ground.shown('alice', 'drafts'));
  } finally {
    await coxswain.close();
  }
});
