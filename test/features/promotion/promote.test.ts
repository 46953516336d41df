import assert from 'node:assert/strict';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import { claimEvent } from '../../../src/features/claims/edge-claim.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { everywhere } from './ground.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

everywhere(
  '[CLAIM-8] drafts become assets, new ones and changed ones, and are drafts no more',
  async (kind) => {
    await using yard = await Yard.on(kind);
    const alice = yard.agent('alice');
    yard.write('src/app.ts', 'old\n');
    yard.ground.setExecutable('src/app.ts');
    yard.draft('alice', 'src/app.ts', 'new\n');
    yard.draft('alice', 'src/deep/er/new.ts', 'fresh\n');
    yard.draft('bob', 'src/app.ts', 'bob’s\n');
    await yard.claim('alice');
    const status = await alice('draft_status');
    assert.deepEqual(
      (status.drafts as JsonObject[]).map(({ path, status: is, target }) => [path, is, target]),
      [
        ['src/app.ts', 'changed', 'src/app.ts'],
        ['src/deep/er/new.ts', 'new', 'src/deep/er/new.ts'],
      ],
    );
    assert.deepEqual(
      [status.folder, status.scratch_folder],
      [yard.ground.shown('alice', 'drafts'), yard.ground.shown('alice', 'scratch')],
    );
    assert.deepEqual(status.edges, [{ feature: FEATURE, edge: EDGE }]);
    const promoted = await alice('promote_draft', asked);
    assert.deepEqual([promoted.success, promoted.action], [true, 'promoted'], JSON.stringify(promoted));
    assert.deepEqual(promoted.files, ['src/app.ts', 'src/deep/er/new.ts']);
    assert.deepEqual([yard.read('src/app.ts'), yard.read('src/deep/er/new.ts')], ['new\n', 'fresh\n']);
    assert.ok(yard.ground.isExecutable('src/app.ts'), 'an asset keeps its mode');
    assert.ok(!yard.ground.isExecutable('src/deep/er/new.ts'));
    const after = await alice('draft_status');
    assert.deepEqual([after.drafts, after.under_way], [[], []]);
    assert.ok(!yard.ground.hasStaged('alice'), 'nothing is left aside');
    assert.equal(yard.ground.readDraft('bob', 'src/app.ts'), 'bob’s\n');
    const again = await alice('promote_draft', asked);
    assert.equal(again.error, 'no_drafts');
  },
);

everywhere('[CLAIM-8] only the holder of the claim promotes, with the grant it has now', async (kind) => {
  await using yard = await Yard.on(kind);
  const [alice, bob] = [yard.agent('alice'), yard.agent('bob')];
  for (const name of ['alice', 'bob']) yard.draft(name, 'a.ts', `${name}\n`);
  assert.equal((await alice('promote_draft', asked)).error, 'edge_not_started');
  const token = await yard.claim('alice');
  const refused = await bob('promote_draft', asked);
  assert.deepEqual([refused.error, refused.held_by], ['not_holder', 'alice']);
  assert.equal((await alice('promote_draft', { ...asked, fencing_token: token - 1 })).error, 'superseded');
  await yard.commit(claimEvent({ feature: FEATURE, edge: EDGE }, 'edge_released', { agent_id: 'alice' }));
  assert.equal((await alice('promote_draft', asked)).error, 'edge_not_started');
  await yard.claim('bob');
  // However the edge is written.
  assert.equal((await bob('promote_draft', { ...asked, edge: 'Design_Code' })).success, true);
  assert.equal(yard.read('a.ts'), 'bob\n');
  assert.equal(yard.ground.readDraft('alice', 'a.ts'), 'alice\n', 'a refusal costs no draft');
});

everywhere(
  '[CLAIM-8] every evaluator has to have passed, and those that the rules name have to be among them',
  async (kind) => {
    await using yard = await Yard.on(kind);
    const alice = yard.agent('alice');
    yard.draft('alice', 'a.ts', 'a\n');
    await yard.claim('alice');
    const promote = async (evaluators: JsonObject['a']) => {
      const answer = await alice('promote_draft', { feature: FEATURE, edge: EDGE, evaluators });
      return answer.error ?? answer.action;
    };
    assert.equal(await promote(undefined), 'evaluators_failed', 'nothing said is not passed');
    assert.equal(await promote([]), 'evaluators_failed');
    assert.equal(await promote([...PASSED, { name: 'lint', passed: false }]), 'evaluators_failed');
    for (const text of ['2/3', '0/0', '4/3']) assert.equal(await promote(text), 'evaluators_failed', text);
    yard.rules = {
      ...DEFAULT_RULES,
      edges: { design_code: { evaluators: ['types'] } },
      isolation: { ...DEFAULT_RULES.isolation, promotion_requires: ['all_evaluators_pass', 'licence'] },
    };
    assert.equal(await promote('3/3'), 'evaluators_failed', 'named ones are reported by name');
    assert.equal(await promote([{ name: 'types', passed: true }]), 'evaluators_failed');
    assert.equal(yard.read('a.ts'), undefined);
    const both = ['types', 'licence'].map((name) => ({ name, passed: true }));
    assert.equal(await promote(both), 'promoted');
  },
);

everywhere(
  '[CLAIM-8] what somebody else has locked is not replaced, by its file or by a folder above',
  async (kind) => {
    await using yard = await Yard.on(kind);
    const [alice, bob] = [yard.agent('alice'), yard.agent('bob')];
    yard.draft('alice', 'src/a.ts', 'a\n');
    await yard.claim('alice');
    for (const file_path of ['src/a.ts', 'src/']) {
      await bob('acquire_lock', { file_path });
      const refused = await alice('promote_draft', asked);
      assert.deepEqual([refused.action, refused.locked_by], ['blocked', 'bob'], file_path);
      const [draft] = (await alice('draft_status')).drafts as JsonObject[];
      assert.equal(draft?.locked_by, 'bob');
      await bob('release_lock', { file_path });
    }
    await alice('acquire_lock', { file_path: 'src/a.ts' });
    assert.equal((await alice('promote_draft', asked)).success, true, 'one’s own lock is no obstacle');
  },
);

everywhere(
  '[CLAIM-8] some of the drafts are promoted when they are named, by file or by folder',
  async (kind) => {
    await using yard = await Yard.on(kind);
    const alice = yard.agent('alice');
    for (const path of ['a.ts', 'lib/b.ts', 'lib/c.ts', 'library.ts']) yard.draft('alice', path, path);
    await yard.claim('alice');
    const promoted = await alice('promote_draft', { ...asked, paths: ['lib/'] });
    assert.deepEqual(promoted.files, ['lib/b.ts', 'lib/c.ts']);
    const unknown = await alice('promote_draft', { ...asked, paths: ['b.ts'] });
    assert.deepEqual([unknown.error, unknown.path], ['draft_unusable', 'b.ts']);
    const discarded = await alice('discard_drafts', { paths: ['a.ts'] });
    assert.deepEqual(discarded.discarded, ['a.ts']);
    assert.deepEqual((await alice('discard_drafts')).discarded, ['library.ts']);
    assert.deepEqual((await alice('discard_drafts')).discarded, []);
    assert.deepEqual([yard.read('a.ts'), yard.read('lib/b.ts')], [undefined, 'lib/b.ts']);
  },
);

everywhere('[CLAIM-8] the same call twice promotes once, and answers the same', async (kind) => {
  await using yard = await Yard.on(kind);
  const alice = yard.agent('alice');
  yard.draft('alice', 'a.ts', '1\n');
  await yard.claim('alice');
  const once = await alice('promote_draft', { ...asked, operation_id: 'op-1' });
  yard.draft('alice', 'a.ts', '1\n');
  yard.write('a.ts', 'somebody else’s\n');
  const twice = await alice('promote_draft', { ...asked, operation_id: 'op-1' });
  assert.deepEqual([once.success, twice.promotion_id], [true, once.promotion_id]);
  assert.equal(yard.read('a.ts'), 'somebody else’s\n');
});

everywhere('[CLAIM-8] an asset that changes while it is promoted stays as it is', async (kind) => {
  await using yard = await Yard.on(kind);
  const alice = yard.agent('alice');
  yard.write('a.ts', 'old\n');
  yard.write('b.ts', 'old\n');
  for (const path of ['a.ts', 'b.ts']) yard.draft('alice', path, 'new\n');
  await yard.claim('alice');
  // Between the decision and the first write: the commit is what the store does last before it.
  const { store } = yard;
  const run = store.run.bind(store);
  store.run = async (request, decision) => {
    const outcome = await run(request, decision);
    if (request.operation === 'promote_draft') yard.write('b.ts', 'a person’s\n');
    return outcome;
  };
  const refused = await alice('promote_draft', asked);
  assert.deepEqual([refused.error, refused.published], ['promotion_conflicted', []]);
  assert.deepEqual([yard.read('a.ts'), yard.read('b.ts')], ['old\n', 'a person’s\n']);
  store.run = run;
  const after = await alice('draft_status');
  assert.deepEqual([after.under_way, (after.drafts as JsonObject[]).length], [[], 2]);
});

everywhere(
  '[CLAIM-8] two who promote the same asset at once: one after the other, or one is told',
  async (kind) => {
    await using yard = await Yard.on(kind);
    const crew = ['alice', 'bob', 'carol', 'dave'];
    yard.write('shared.ts', 'old\n');
    for (const name of crew) {
      yard.draft(name, 'shared.ts', `${name}\n`);
      await yard.claim(name, `F-${name}`);
    }
    const answers = await Promise.all(
      crew.map((name) => yard.agent(name)('promote_draft', { ...asked, feature: `F-${name}` })),
    );
    const won = crew.filter((_, index) => answers[index]?.success === true);
    assert.ok(won.length >= 1, JSON.stringify(answers));
    assert.ok(won.map((name) => `${name}\n`).includes(String(yard.read('shared.ts'))));
    for (const { success, error } of answers)
      if (success !== true) assert.match(String(error), /^promotion_(under_way|conflicted)$/);
    assert.deepEqual((await yard.agent('alice')('draft_status')).under_way, []);
  },
);
