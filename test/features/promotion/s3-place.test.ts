import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sha256 } from '../../../src/kernel/hash.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { parseS3Address } from '../../../src/kernel/s3-address.ts';
import { s3Place } from '../../../src/storage/s3/open-bucket.ts';
import { type Fault, S3StandIn } from '../../support/s3.ts';

const STAGING = { agent_id: 'alice', promotion_id: '0192a000-0000-7000-8000-000000000001' };
const FRESH = Buffer.from('the new contents\n');
const draft_hash = sha256(FRESH);
const OLD = sha256('old\n');

async function prepared(t: TestContext) {
  const s3 = await S3StandIn.open();
  t.after(() => s3.close());
  const address = parseS3Address(s3.address('fleet'));
  assert.ok(address !== undefined);
  const place = s3Place({
    address,
    drafts_path_template: 'agents/{agent_id}/drafts',
    scratch_path_template: 'agents/{agent_id}/scratch',
  });
  const publish = (path: string, old_hash: string | null) =>
    place.publish(STAGING, { path, draft_hash, old_hash });
  return { s3, place, publish };
}

/** What happens to writes of an asset, one after the other; then nothing more. */
function writesMeet(s3: S3StandIn, ...faults: (Fault | (() => void))[]): void {
  s3.watcher = ({ method, key }) => {
    if (method !== 'PUT' || !key.startsWith('fleet/assets/')) return undefined;
    const next = faults.shift();
    if (typeof next !== 'function') return next;
    next();
    return undefined;
  };
}

const assetWrites = (s3: S3StandIn) => s3.requests.filter((each) => each.startsWith('PUT fleet/assets/'));

test('[CLAIM-8] an asset in a bucket is replaced only while it is the one that was meant', async (t) => {
  const { s3, place, publish } = await prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: true }]);
  s3.put('fleet/assets/a.sh', 'somebody else’s\n');
  assert.equal(await publish('a.sh', null), 'conflict');
  assert.equal(await publish('a.sh', OLD), 'conflict');
  assert.equal(s3.text('fleet/assets/a.sh'), 'somebody else’s\n');
  s3.objects.delete('fleet/assets/a.sh');
  assert.equal(await publish('a.sh', OLD), 'conflict', 'it is gone');
  assert.deepEqual(s3.keys('fleet/assets/'), []);
  assert.equal(await publish('a.sh', null), 'published');
  assert.deepEqual(
    s3.objects.get('fleet/assets/a.sh')?.metadata,
    { sha256: draft_hash, executable: 'true' },
    'a new asset is as executable as its draft',
  );
  await place.settle();
  await place.unstage(STAGING);
  await place.unstage(STAGING);
  assert.equal(await place.isStaged(STAGING), false);
  assert.equal(await publish('a.sh', null), 'published', 'and stays it');
  assert.equal(await publish('b.sh', null), 'lost');
  s3.put('fleet/assets/old', 'old\n');
  assert.equal(await publish('old', OLD), 'lost');
  assert.deepEqual(s3.keys(), ['fleet/assets/a.sh', 'fleet/assets/old']);
  for (const path of ['../out.ts', 'a/../../out.ts', '/etc/out.ts', 'a//b', '.', ''])
    await assert.rejects(publish(path, null), /no path/, path);
});

test('[CLAIM-8] what appears, changes or goes between the look and the write is not replaced', async (t) => {
  const { s3, place, publish } = await prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  writesMeet(s3, () => s3.put('fleet/assets/a.ts', 'quicker\n'));
  assert.equal(await publish('a.ts', null), 'conflict');
  s3.put('fleet/assets/b.ts', 'old\n');
  writesMeet(s3, () => s3.put('fleet/assets/b.ts', 'quicker\n'));
  assert.equal(await publish('b.ts', OLD), 'conflict');
  s3.put('fleet/assets/c.ts', 'old\n');
  writesMeet(s3, () => s3.objects.delete('fleet/assets/c.ts'));
  assert.equal(await publish('c.ts', OLD), 'conflict');
  assert.deepEqual(
    ['a.ts', 'b.ts', 'c.ts'].map((path) => s3.text(`fleet/assets/${path}`)),
    ['quicker\n', 'quicker\n', undefined],
  );
  writesMeet(s3, () => s3.put('fleet/assets/d.ts', FRESH));
  assert.equal(await publish('d.ts', null), 'published', 'another has finished the same promotion');
});

test('[CLAIM-8] a write whose answer is lost, that meets another or that S3 puts off is done once', async (t) => {
  const { s3, place, publish } = await prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  const met = { status: 409, code: 'ConditionalRequestConflict' };
  const slow = { status: 503, code: 'SlowDown' };
  for (const before of [null, 'old\n'])
    for (const [name, ...faults] of [
      ['lost', 'reset_after'],
      ['met', met, met],
      ['slow', slow],
      ['cut', 'reset'],
    ] as [string, ...Fault[]][]) {
      s3.requests.length = 0;
      if (before !== null) s3.put(`fleet/assets/${name}`, before);
      writesMeet(s3, ...faults);
      assert.equal(await publish(name, before === null ? null : OLD), 'published', name);
      assert.equal(s3.text(`fleet/assets/${name}`), FRESH.toString());
      const written = assetWrites(s3).length;
      assert.equal(
        written,
        name === 'lost' ? 2 : 1,
        `${name}: repeated where nobody knows, and refused then`,
      );
      s3.objects.delete(`fleet/assets/${name}`);
    }
  writesMeet(s3, ...Array.from({ length: 20 }, () => met));
  await assert.rejects(publish('a.ts', null), /changes too often/);
});

test('[CLAIM-8] staged contents that are not what was decided are not published', async (t) => {
  const { s3, place, publish } = await prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  const [staged = ''] = s3.keys('fleet/agents/alice/promoting/');
  assert.equal(staged, `fleet/agents/alice/promoting/${STAGING.promotion_id}/${draft_hash}`);
  s3.put(staged, 'swapped\n');
  assert.equal(await publish('a.ts', null), 'lost');
  assert.deepEqual(s3.keys('fleet/assets/'), []);
});

test('[CLAIM-8] an asset keeps its type and what else is said about it', async (t) => {
  const { s3, place, publish } = await prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  const said = { owner: 'ops', executable: 'true', sha256: 'of something else' };
  s3.put('fleet/assets/run.html', 'old\n', said, 'text/html');
  assert.equal(await publish('run.html', OLD), 'published');
  const now = s3.objects.get('fleet/assets/run.html');
  assert.deepEqual(now?.metadata, { owner: 'ops', executable: 'true', sha256: draft_hash });
  assert.equal(now?.content_type, 'text/html');
});

test('[CLAIM-8] a service that takes no notice of conditions is found out before an asset changes', async (t) => {
  const { s3, place } = await prepared(t);
  s3.knowsConditions = false;
  await assert.rejects(place.stage(STAGING, [{ bytes: FRESH, executable: false }]), {
    name: 'PlaceUnusable',
    message: /takes no notice of If-Match/,
  });
  assert.deepEqual(assetWrites(s3), []);
});

test('[CLAIM-8] a listing goes through all pages, up to its limit, and is of one agent alone', async (t) => {
  const { s3, place } = await prepared(t);
  s3.page_keys = 7;
  for (let index = 0; index < 20; index += 1) s3.put(`fleet/agents/al/drafts/f/${index}.ts`, 'x');
  s3.put('fleet/agents/alice/drafts/a.ts', 'alice’s');
  s3.put('fleet/agents/al/drafts-of-old/a.ts', 'no draft');
  for (const marker of ['', 'f/', 'empty/']) s3.put(`fleet/agents/al/drafts/${marker}`, '');
  const listed = await place.drafts('al');
  assert.deepEqual([listed.drafts.length, listed.truncated], [20, false]);
  assert.ok(listed.drafts.every(({ path, problem }) => path.startsWith('f/') && problem === undefined));
  s3.page_keys = 150;
  for (let index = 0; index < limits.drafts_listed_max; index += 1)
    s3.put(`fleet/agents/al/drafts/g/${index}`, 'x');
  const more = await place.drafts('al');
  assert.deepEqual([more.drafts.length, more.truncated], [limits.drafts_listed_max, true]);
  assert.deepEqual(await place.drafts('nobody'), { drafts: [], truncated: false });
});

test('[CLAIM-8] keys of any characters are listed, read and removed; those that are no paths are left alone', async (t) => {
  const { s3, place } = await prepared(t);
  const odd = [
    'a b+c%20.ts',
    'ü/“q”.md',
    'line\nbreak',
    'a&<b>.ts',
    '?#=&.ts',
    '\u0001',
    "it's(1)!~*.ts",
    'back\\slash',
  ];
  for (const path of odd) s3.put(`fleet/agents/alice/drafts/${path}`, path);
  const { drafts } = await place.drafts('alice');
  assert.deepEqual(drafts.map(({ path }) => path).sort(), [...odd].sort());
  for (const path of odd)
    assert.equal(Buffer.from((await place.readDraft('alice', path))?.bytes ?? []).toString(), path);
  s3.put('fleet/assets/a.ts', 'an asset');
  const leading = ['../../../assets/a.ts', 'a/../b', './c', 'd//e', 'f/', '/g'];
  for (const path of leading) s3.put(`fleet/agents/alice/drafts/${path}`, 'x');
  const listed = (await place.drafts('alice')).drafts.filter(({ problem }) => problem !== undefined);
  assert.deepEqual(listed.map(({ path }) => path).sort(), [...leading].sort());
  for (const path of leading) await assert.rejects(place.readDraft('alice', path), /no path/);
  assert.deepEqual(await place.discardDrafts('alice', [...odd, ...leading, 'never there']), odd);
  assert.equal(s3.text('fleet/assets/a.ts'), 'an asset');
  assert.equal(s3.keys('fleet/agents/').length, leading.length);
});

test('[CLAIM-8] what is too large is neither a draft nor fetched', async (t) => {
  const { s3, place } = await prepared(t);
  s3.put('fleet/agents/alice/drafts/big', Buffer.alloc(limits.draft_bytes_max + 1));
  assert.match(String((await place.drafts('alice')).drafts[0]?.problem), /larger/);
  await assert.rejects(place.readDraft('alice', 'big'), /larger/);
  const deep = `${'d/'.repeat(limits.draft_depth_max + 1)}f`;
  s3.put(`fleet/agents/bob/drafts/${deep}`, 'x');
  assert.match(String((await place.drafts('bob')).drafts[0]?.problem), /deep/);
});

test('[CLAIM-8] what was staged long ago is known by its newest part', async (t) => {
  const { s3, place } = await prepared(t);
  const folder = 'fleet/agents/alice/promoting/';
  for (const key of ['old/1', 'old/2', 'half/1', 'half/2', 'new/1', '../x']) s3.put(`${folder}${key}`, 'x');
  for (const key of ['old/1', 'old/2', 'half/1', '../x']) {
    const object = s3.objects.get(`${folder}${key}`);
    if (object !== undefined) object.modified_ms = 1_000_000;
  }
  assert.deepEqual(await place.stagedBefore('alice', 2_000_000), ['old']);
  await place.unstage({ agent_id: 'alice', promotion_id: 'old' });
  assert.deepEqual(await place.stagedBefore('alice', 2_000_000), []);
});
