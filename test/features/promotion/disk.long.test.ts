import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { watchDisk } from './faults.ts';

// After the faults, so that it imports the wrapped ones.
const { EDGE, FEATURE, PASSED, Yard } = await import('./support.ts');
const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

async function prepared() {
  const yard = await Yard.open();
  yard.write('a.ts', 'old\n');
  for (const path of ['a.ts', 'sub/b.ts']) yard.draft('alice', path, 'new\n');
  await yard.claim('alice');
  return yard;
}

for (const code of ['ENOSPC', 'EROFS', 'EACCES'])
  test(`[CLAIM-8] ${code} from any step on: nothing half, said so, and finished once it is mended`, async () => {
    const said = new Set<unknown>();
    for (let from = 1; ; from += 1) {
      await using yard = await prepared();
      const alice = yard.agent('alice');
      let count = 0;
      watchDisk(async (step, cut) => {
        count += 1;
        if (count < from) return;
        if (step === 'write') await cut();
        throw Object.assign(new Error(`${code}: ${yard.root}`), { code, syscall: step });
      });
      const answer = await alice('promote_draft', asked);
      watchDisk(undefined);
      said.add(answer.error ?? answer.action);
      assert.ok(!JSON.stringify(answer).includes(yard.root), 'the answer names no folder of this machine');
      for (const path of ['a.ts', 'sub/b.ts'])
        assert.ok(['old\n', 'new\n', undefined].includes(yard.read(path)), `${from}: ${path}`);
      const status = await yard.agent('bob')('draft_status', { agent_id: 'alice' });
      assert.deepEqual(status.under_way, []);
      const [a, b] = [yard.read('a.ts'), yard.read('sub/b.ts')];
      assert.ok((a === 'new\n' && b === 'new\n') || (a === 'old\n' && b === undefined), `${from}: ${a} ${b}`);
      const again = await alice('promote_draft', asked);
      assert.ok(again.success === true || again.error === 'no_drafts', JSON.stringify(again));
      if (count < from) break;
    }
    const before = code === 'ENOSPC' ? 'disk_full' : 'state_unavailable';
    assert.deepEqual([...said].sort(), ['promoted', 'promotion_unfinished', before].sort());
  });

test('[CLAIM-8] while the disk is away its promotion is shown as under way, and blocks only its own assets', async () => {
  await using yard = await prepared();
  const [alice, bob] = [yard.agent('alice'), yard.agent('bob')];
  const away = async (step: string) => {
    if (step === 'rename' || step === 'link') throw Object.assign(new Error('EROFS'), { code: 'EROFS' });
  };
  watchDisk(away);
  assert.equal((await alice('promote_draft', asked)).error, 'promotion_unfinished');
  const [left] = (await bob('draft_status')).under_way as JsonObject[];
  assert.deepEqual([left?.agent_id, left?.status, left?.files], ['alice', 'started', ['a.ts', 'sub/b.ts']]);
  assert.match(String(left?.problem), /EROFS/);
  yard.draft('bob', 'a.ts', 'bob’s\n');
  await yard.claim('bob', 'OTHER');
  const busy = await bob('promote_draft', { ...asked, feature: 'OTHER' });
  assert.deepEqual([busy.error, busy.promotion_id], ['promotion_under_way', left?.promotion_id]);
  watchDisk(undefined);
  assert.equal((await bob('promote_draft', { ...asked, feature: 'OTHER' })).success, true);
  assert.deepEqual(
    [yard.read('a.ts'), yard.read('sub/b.ts')],
    ['bob’s\n', 'new\n'],
    'alice’s first, then bob’s',
  );
});

test('[CLAIM-8] a promotion whose contents are gone stays open for whoever has them, and ends when nobody came', async () => {
  await using yard = await prepared();
  const alice = yard.agent('alice');
  watchDisk(async (step) => {
    if (step === 'link' || step === 'rename')
      rmSync(join(yard.fleet, 'agents/alice/promoting'), { recursive: true, force: true });
    if (step === 'rename') throw Object.assign(new Error('EIO'), { code: 'EIO' });
  });
  assert.equal((await alice('promote_draft', asked)).error, 'promotion_unfinished');
  watchDisk(undefined);
  const [left] = (await alice('draft_status')).under_way as JsonObject[];
  assert.equal(left?.status, 'started', 'another work tree may have them: nobody ends it at once');
  yard.ahead_ms = limits.promotion_lost_ms + 1000;
  assert.deepEqual((await alice('draft_status')).under_way, []);
  assert.deepEqual([yard.read('a.ts'), yard.read('sub/b.ts')], ['old\n', undefined]);
  yard.ahead_ms = 0;
  assert.equal((await alice('promote_draft', asked)).success, true, 'the drafts are still there');
});

test('[CLAIM-8] what was put aside by somebody who died before the decision is swept up', async () => {
  await using yard = await prepared();
  const alice = yard.agent('alice');
  yard.write('.ai-workspace/agents/alice/promoting/0192a000-0000-7000-8000-000000000001/left', 'x');
  await alice('draft_status');
  const left = '.ai-workspace/agents/alice/promoting/0192a000-0000-7000-8000-000000000001/left';
  assert.equal(yard.read(left), 'x', 'it may be about to be decided');
  yard.ahead_ms = limits.promotion_lost_ms + 1000;
  await alice('draft_status');
  assert.equal(yard.read(left), undefined);
});
