import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BucketGround } from './ground.ts';
import { EDGE, PASSED, Yard } from './support.ts';

for (const before of ['old\n', undefined])
  test(`[CLAIM-8] who was stopped at the write itself and wakes up late overwrites nothing in a bucket (${before === undefined ? 'new' : 'changed'} asset)`, async () => {
    await using yard = await Yard.on('s3');
    const { s3 } = yard.ground as BucketGround;
    if (before !== undefined) yard.write('a.ts', before);
    for (const name of ['alice', 'carol']) {
      yard.draft(name, 'a.ts', `${name}\n`);
      await yard.claim(name, name);
    }
    const promote = (name: string) =>
      yard.agent(name)('promote_draft', { feature: name, edge: EDGE, evaluators: PASSED });
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    s3.watcher = async ({ method, key }) => {
      if (method !== 'PUT' || key !== 'fleet/assets/a.ts') return undefined;
      s3.watcher = undefined;
      stop();
      await woken;
      return undefined;
    };
    const late = promote('alice');
    await stopped;
    assert.deepEqual((await yard.agent('bob')('draft_status')).under_way, [], 'bob has finished it');
    assert.equal(yard.read('a.ts'), 'alice\n');
    assert.equal((await promote('carol')).success, true);
    wake();
    const answer = await late;
    assert.equal(yard.read('a.ts'), 'carol\n');
    assert.equal(answer.action, 'promoted', `it was, before carol’s: ${JSON.stringify(answer)}`);
  });

test('[CLAIM-8] from another machine, without a folder in common, what was begun is finished', async () => {
  await using yard = await Yard.on('s3');
  await using other = await Yard.open();
  const { s3 } = yard.ground as BucketGround;
  yard.draft('alice', 'a.ts', 'new\n');
  await yard.claim('alice', 'F');
  s3.watcher = ({ method, key }) =>
    method === 'PUT' && key.startsWith('fleet/assets/') ? { status: 403, code: 'AccessDenied' } : undefined;
  const asked = { feature: 'F', edge: EDGE, evaluators: PASSED };
  const refused = await yard.agent('alice')('promote_draft', asked);
  assert.equal(refused.error, 'promotion_unfinished');
  assert.match(String(refused.message), /access denied/);
  s3.watcher = undefined;
  const [ownStore, ownGround] = [other.store, other.ground];
  [other.store, other.ground] = [yard.store, yard.ground];
  assert.deepEqual((await other.agent('bob')('draft_status')).under_way, []);
  [other.store, other.ground] = [ownStore, ownGround];
  assert.equal(yard.read('a.ts'), 'new\n');
});
