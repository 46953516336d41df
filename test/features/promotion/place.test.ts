import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sha256 } from '../../../src/kernel/hash.ts';
import { watchDisk } from './faults.ts';

// After the faults, so that it imports the wrapped ones.
const { FolderPlace } = await import('../../../src/storage/folder-place.ts');

const STAGING = { agent_id: 'alice', promotion_id: '0192a000-0000-7000-8000-000000000001' };
const FRESH = Buffer.from('the new contents\n');
const draft_hash = sha256(FRESH);

function prepared(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'cox-place-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const place = new FolderPlace({
    fleet: join(root, '.fleet'),
    root,
    drafts_path_template: 'agents/{agent_id}/drafts',
    scratch_path_template: 'agents/{agent_id}/scratch',
  });
  return { root, place, read: (path: string) => readFileSync(join(root, path), 'utf8') };
}

test('[CLAIM-8] an asset is replaced only while it is the one that was meant', async (t) => {
  const { root, place, read } = prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: true }]);
  const file = { path: 'a.sh', draft_hash };
  writeFileSync(join(root, 'a.sh'), 'somebody else’s\n');
  assert.equal(await place.publish(STAGING, { ...file, old_hash: null }), 'conflict');
  assert.equal(await place.publish(STAGING, { ...file, old_hash: sha256('old\n') }), 'conflict');
  assert.equal(read('a.sh'), 'somebody else’s\n');
  rmSync(join(root, 'a.sh'));
  assert.equal(
    await place.publish(STAGING, { ...file, old_hash: sha256('old\n') }),
    'conflict',
    'it is gone',
  );
  assert.equal(existsSync(join(root, 'a.sh')), false);
  assert.equal(await place.publish(STAGING, { ...file, old_hash: null }), 'published');
  assert.equal(statSync(join(root, 'a.sh')).mode & 0o777, 0o755, 'a new asset has its draft’s mode');
  await place.unstage(STAGING);
  assert.equal(await place.isStaged(STAGING), false);
  assert.equal(await place.publish(STAGING, { ...file, old_hash: null }), 'published', 'and stays it');
  assert.equal(await place.publish(STAGING, { path: 'b.sh', draft_hash, old_hash: null }), 'lost');
  writeFileSync(join(root, 'old'), 'old\n');
  assert.equal(await place.publish(STAGING, { path: 'old', draft_hash, old_hash: sha256('old\n') }), 'lost');
  assert.deepEqual(readdirSync(root).sort(), ['.fleet', 'a.sh', 'old']);
});

test('[CLAIM-8] what appears at the last moment, also a link on the way, is not replaced or followed', async (t) => {
  const { root, place, read } = prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  const appears = (then: () => void) =>
    watchDisk(async (step) => {
      if (step !== 'link') return;
      watchDisk(undefined);
      then();
    });
  appears(() => writeFileSync(join(root, 'a.ts'), 'quicker\n'));
  assert.equal(await place.publish(STAGING, { path: 'a.ts', draft_hash, old_hash: null }), 'conflict');
  assert.equal(read('a.ts'), 'quicker\n');
  mkdirSync(join(root, 'elsewhere'));
  symlinkSync(join(root, 'elsewhere'), join(root, 'sub'));
  await assert.rejects(
    place.publish(STAGING, { path: 'sub/a.ts', draft_hash, old_hash: null }),
    /symlink|file/,
  );
  assert.deepEqual(readdirSync(join(root, 'elsewhere')), []);
  for (const path of ['../out.ts', 'a/../../out.ts', '/etc/out.ts', 'a//b', ''])
    await assert.rejects(place.publish(STAGING, { path, draft_hash, old_hash: null }), /no path/);
});

test('[CLAIM-8] staged contents that are not what was decided are not published', async (t) => {
  const { root, place } = prepared(t);
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  writeFileSync(join(root, '.fleet/agents/alice/promoting', STAGING.promotion_id, draft_hash), 'swapped\n');
  assert.equal(await place.publish(STAGING, { path: 'a.ts', draft_hash, old_hash: null }), 'lost');
  assert.equal(existsSync(join(root, 'a.ts')), false);
});

test('[CLAIM-8] one who is only halfway through writing does not spoil what another puts in place', async (t) => {
  const { root, place, read } = prepared(t);
  writeFileSync(join(root, 'a.ts'), 'old\n');
  await place.stage(STAGING, [{ bytes: FRESH, executable: false }]);
  const publish = () => place.publish(STAGING, { path: 'a.ts', draft_hash, old_hash: sha256('old\n') });
  const { promise: half, resolve: halfway } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let renames = 0;
  let second: Promise<string> | undefined;
  watchDisk(async (step, cut) => {
    if (step === 'rename') renames += 1;
    if (step === 'rename' && renames === 2) {
      // The first is about to put it in place; now the second begins, and gets halfway.
      second = publish();
      await half;
    } else if (step === 'write' && second !== undefined) {
      await cut();
      halfway();
      await over;
    }
  });
  assert.equal(await publish(), 'published');
  assert.equal(read('a.ts'), FRESH.toString());
  watchDisk(undefined);
  end();
  assert.equal(await second, 'published');
  assert.equal(read('a.ts'), FRESH.toString());
  await place.settle(STAGING, ['a.ts']);
  assert.deepEqual(readdirSync(root).sort(), ['.fleet', 'a.ts']);
});
