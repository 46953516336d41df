import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchDisk } from './faults.ts';

// After the faults, so that it imports the wrapped ones.
const { EDGE, PASSED, Yard } = await import('./support.ts');

for (const before of ['old\n', undefined])
  test(`[CLAIM-8] who was stopped before the last step and wakes up late overwrites nothing (${before === undefined ? 'new' : 'changed'} asset)`, async () => {
    await using yard = await Yard.open();
    if (before !== undefined) yard.write('a.ts', before);
    for (const name of ['alice', 'carol']) {
      yard.draft(name, 'a.ts', `${name}\n`);
      await yard.claim(name, name);
    }
    const promote = (name: string) =>
      yard.agent(name)('promote_draft', { feature: name, edge: EDGE, evaluators: PASSED });
    const { promise: woken, resolve: wake } = Promise.withResolvers<void>();
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    let renames = 0;
    watchDisk(async (step) => {
      // The first puts the contents aside, the second would put them in place; a new asset is linked instead.
      if (step === 'rename') renames += 1;
      if (!(step === 'link' || (before !== undefined && step === 'rename' && renames === 2))) return;
      watchDisk(undefined);
      stop();
      await woken;
    });
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
