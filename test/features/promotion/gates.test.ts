import assert from 'node:assert/strict';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { everywhere, type PlaceKind } from './ground.ts';
import { type Call, EDGE, FEATURE, PASSED, Yard } from './support.ts';

const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

async function shown(person: Call, approval_id: unknown): Promise<JsonObject> {
  return (await person('show_approval', { approval_id: String(approval_id) })).approval as JsonObject;
}

async function approve(person: Call, approval_id: unknown): Promise<JsonObject> {
  const { shown_hash } = await shown(person, approval_id);
  return await person('approve', { approval_id: String(approval_id), shown_hash });
}

async function stage(kind: PlaceKind) {
  const yard = await Yard.on(kind);
  await yard.claim('alice');
  return { yard, alice: yard.agent('alice'), person: yard.agent('person:eve', 'person') };
}

const gatesOf = ({ gates }: JsonObject) => (gates as JsonObject[]).map(({ gate, path }) => [gate, path]);

everywhere(
  '[CLAIM-8] a spec change waits for a person, who sees the difference, and is promoted once approved',
  async (kind) => {
    const { yard, alice, person } = await stage(kind);
    await using _ = yard;
    yard.write('specification/auth.md', '# Auth\nold\npassword = "correct-Horse9battery"\n');
    yard.draft('alice', 'specification/auth.md', '# Auth\nnew\npassword = "correct-Horse9battery"\n');
    yard.draft('alice', 'src/app.ts', 'code\n');
    const refused = await alice('promote_draft', asked);
    assert.deepEqual([refused.error, refused.approval_status], ['approval_required', 'pending']);
    assert.deepEqual(gatesOf(refused)[0], ['spec_change', 'specification/auth.md']);
    assert.equal(yard.read('src/app.ts'), undefined, 'all or nothing');
    const approval = await shown(person, refused.approval_id);
    const { diff, files } = approval.context as JsonObject;
    assert.match(String(diff), /^-old$/m);
    assert.match(String(diff), /^\+new$/m);
    assert.doesNotMatch(String(diff), /correct-Horse/, 'secrets are masked');
    assert.deepEqual([approval.kind, files], ['promotion', ['specification/auth.md', 'src/app.ts']]);
    const again = await alice('promote_draft', asked);
    assert.equal(again.approval_id, refused.approval_id, 'asked once');
    assert.equal((await approve(person, refused.approval_id)).success, true);
    const promoted = await alice('promote_draft', asked);
    assert.deepEqual(
      [promoted.success, promoted.approved_by],
      [true, 'person:eve'],
      JSON.stringify(promoted),
    );
    assert.match(String(yard.read('specification/auth.md')), /new/);
    assert.equal((await shown(person, refused.approval_id)).status, 'used', 'and it permits no second time');
  },
);

everywhere('[CLAIM-8] a draft or an asset that changes after the approval needs a new one', async (kind) => {
  const { yard, alice, person } = await stage(kind);
  await using _ = yard;
  yard.write('spec/a.md', 'old\n');
  yard.draft('alice', 'spec/a.md', 'one\n');
  const first = await alice('promote_draft', asked);
  await approve(person, first.approval_id);
  yard.draft('alice', 'spec/a.md', 'two\n');
  const second = await alice('promote_draft', asked);
  assert.equal(second.error, 'approval_required');
  assert.notEqual(second.approval_id, first.approval_id);
  yard.draft('alice', 'spec/a.md', 'one\n');
  yard.write('spec/a.md', 'older\n');
  const third = await alice('promote_draft', asked);
  assert.equal(third.error, 'approval_required');
  assert.equal(yard.read('spec/a.md'), 'older\n');
  await person('deny_approval', { approval_id: String(third.approval_id), reason: 'not like this' });
  const denied = await alice('promote_draft', asked);
  assert.deepEqual(
    [denied.approval_status, denied.decision_reason, denied.decided_by],
    ['denied', 'not like this', 'person:eve'],
  );
});

everywhere('[CLAIM-8] an approval is the agent’s own, and the claim is still asked for', async (kind) => {
  const { yard, alice, person } = await stage(kind);
  await using _ = yard;
  for (const name of ['alice', 'bob']) yard.draft(name, 'spec/a.md', 'same\n');
  const { approval_id } = await alice('promote_draft', asked);
  await approve(person, approval_id);
  assert.equal((await yard.agent('bob')('promote_draft', asked)).error, 'not_holder');
  await yard.claim('bob', 'OTHER');
  const other = await yard.agent('bob')('promote_draft', { ...asked, feature: 'OTHER' });
  assert.equal(other.error, 'approval_required');
});

everywhere(
  '[CLAIM-8] new decision records, human_required edges, credentials and control files are for a person',
  async (kind) => {
    const { yard, alice } = await stage(kind);
    await using _ = yard;
    const gated = async (path: string, text = 'x\n') => {
      yard.draft('alice', path, text);
      const answer = await alice('promote_draft', { ...asked, paths: [path] });
      return answer.error === 'approval_required' ? gatesOf(answer) : answer.action;
    };
    assert.deepEqual(await gated('docs/adr/001.md'), [['new_adr', 'docs/adr/001.md']]);
    yard.write('docs/adr/002.md', 'old\n');
    assert.equal(await gated('docs/adr/002.md'), 'promoted', 'one that is there may be worked on');
    assert.deepEqual(await gated('SPEC/a.md'), [['spec_change', 'SPEC/a.md']], 'in any case');
    assert.deepEqual(await gated('.claude/settings.json', '{}'), [['dangerous', '.claude/settings.json']]);
    assert.deepEqual(await gated('.env', 'A=1\n'), [['dangerous', '.env']]);
    yard.rules = { ...DEFAULT_RULES, edges: { design_code: { human_required: true } } };
    assert.deepEqual(await gated('src/a.ts'), [['human_required', undefined]]);
  },
);

everywhere('[CLAIM-8] no bypass and no weaker setting lifts what is left to a person', async (kind) => {
  const { yard, alice } = await stage(kind);
  await using _ = yard;
  const weak = {
    ...DEFAULT_RULES,
    roles: { full_stack: { converge_edges: ['all'], human_review_bypass: true } },
    outside_authority_action: 'warn' as const,
    isolation: { ...DEFAULT_RULES.isolation, promotion_requires: ['human_review'] },
  };
  yard.rules = weak;
  yard.draft('alice', 'spec/a.md', 'x\n');
  yard.draft('alice', 'src/a.ts', 'x\n');
  const specs = await alice('promote_draft', { ...asked, paths: ['spec'] });
  assert.deepEqual(gatesOf(specs), [['spec_change', 'spec/a.md']]);
  const code = await alice('promote_draft', { ...asked, paths: ['src'] });
  assert.equal(code.action, 'promoted', 'the bypass spares the review that the file itself asks for');
  yard.draft('alice', 'src/a.ts', 'y\n');
  yard.rules = { ...weak, roles: DEFAULT_RULES.roles };
  const reviewed = await alice('promote_draft', { ...asked, paths: ['src'] });
  assert.deepEqual(gatesOf(reviewed), [['review', undefined]]);
});
