import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { agentFolder } from '../../../src/storage/agent-folder.ts';
import { everywhere, type PlaceKind } from './ground.ts';
import { EDGE, FEATURE, PASSED, Yard } from './support.ts';

const asked = { feature: FEATURE, edge: EDGE, evaluators: PASSED };

async function stage(kind: PlaceKind = 'folder') {
  const yard = await Yard.on(kind);
  await yard.claim('alice');
  return { yard, alice: yard.agent('alice') };
}

const unusable = (answer: JsonObject) =>
  (answer.problems as JsonObject[] | undefined)?.map(({ path }) => path);

everywhere(
  '[CLAIM-8] no draft leads to git’s files, to the fleet’s own or to Coxswain’s, whatever it is called',
  async (kind) => {
    const { yard, alice } = await stage(kind);
    await using _ = yard;
    mkdirSync(join(yard.root, '.git'));
    for (const path of [
      '.git/hooks/pre-commit',
      'sub/.GIT/config',
      '.ai-workspace/events/events.jsonl',
      '.ai-workspace/agents/bob/drafts/a.ts',
      '.ai-workspace/agent_roles.yml',
      '.ai-workspace/features/AUTH-1.yml',
      '.coxswain/cox.db',
      'back\\slash.ts',
      'line\nbreak.ts',
    ]) {
      yard.draft('alice', path, 'hostile');
      const refused = await alice('promote_draft', asked);
      assert.deepEqual([refused.error, unusable(refused)], ['draft_unusable', [path]], path);
      const status = await alice('draft_status');
      assert.equal((status.drafts as JsonObject[])[0]?.status, 'unusable');
      assert.equal((await alice('discard_drafts')).success, true);
    }
    assert.deepEqual(readdirSync(join(yard.root, '.git')), []);
  },
);

test('[CLAIM-8] assets may be kept in the fleet’s folder, but nothing of the coordination is one', async () => {
  const { yard, alice } = await stage();
  await using _ = yard;
  const kept = (assets_path: string) => ({
    ...DEFAULT_RULES,
    isolation: { ...DEFAULT_RULES.isolation, assets_path },
  });
  yard.draft('alice', 'a.md', 'x\n');
  for (const path of ['.ai-workspace', '.ai-workspace/events', '.ai-workspace/agents/bob/drafts']) {
    yard.rules = kept(path);
    assert.equal((await alice('promote_draft', asked)).error, 'draft_unusable', path);
  }
  for (const path of ['../elsewhere', '/etc', 's3://bucket/assets', 'C:\\x']) {
    yard.rules = kept(path);
    assert.equal((await alice('promote_draft', asked)).error, 'config_unusable', path);
  }
  yard.rules = kept('.ai-workspace/assets');
  assert.deepEqual((await alice('promote_draft', asked)).files, ['.ai-workspace/assets/a.md']);
  for (const drafts_path_template of ['drafts', '../{agent_id}', '/tmp/{agent_id}']) {
    yard.rules = { ...DEFAULT_RULES, isolation: { ...DEFAULT_RULES.isolation, drafts_path_template } };
    assert.equal((await alice('draft_status')).error, 'config_unusable', drafts_path_template);
  }
});

test('[CLAIM-8] symlinks are refused: as a draft, on the way to one, and on the way to the asset', async () => {
  const { yard, alice } = await stage();
  await using _ = yard;
  const outside = mkdtempSync(join(tmpdir(), 'cox-outside-'));
  try {
    writeFileSync(join(outside, 'secret'), 'secret');
    const drafts = join(yard.fleet, 'agents/alice/drafts');
    mkdirSync(drafts, { recursive: true });
    symlinkSync(join(outside, 'secret'), join(drafts, 'stolen'));
    symlinkSync(outside, join(drafts, 'folder'));
    assert.deepEqual(unusable(await alice('promote_draft', asked)), ['folder', 'stolen']);
    await alice('discard_drafts');
    assert.deepEqual(readdirSync(outside), ['secret'], 'the link goes, not what it leads to');
    symlinkSync(outside, join(yard.root, 'out'));
    symlinkSync(join(outside, 'secret'), join(yard.root, 'alias'));
    for (const path of ['out/a.ts', 'alias']) {
      yard.draft('alice', path, 'x');
      assert.deepEqual(unusable(await alice('promote_draft', asked)), [path]);
      await alice('discard_drafts');
    }
    rmSync(join(yard.fleet, 'agents/alice'), { recursive: true });
    symlinkSync(outside, join(yard.fleet, 'agents/alice'));
    assert.equal((await alice('promote_draft', asked)).error, 'draft_unusable');
    assert.equal((await alice('discard_drafts')).error, 'draft_unusable');
    assert.deepEqual(readdirSync(outside), ['secret']);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

everywhere('[CLAIM-8] two spellings of one name are one file', async (kind) => {
  const { yard, alice } = await stage(kind);
  await using _ = yard;
  yard.draft('alice', 'caf\u00e9.md', 'one');
  yard.draft('alice', 'cafe\u0301.md', 'two');
  assert.equal((await alice('promote_draft', asked)).error, 'draft_unusable');
  await alice('discard_drafts', { paths: ['caf\u00e9.md'] });
  yard.draft('alice', 'cafe\u0301.md', 'two');
  assert.deepEqual((await alice('promote_draft', asked)).files, ['caf\u00e9.md']);
});

test('[CLAIM-8] a folder is no asset', async () => {
  const { yard, alice } = await stage();
  await using _ = yard;
  yard.write('lib/a.ts', 'x');
  yard.draft('alice', 'lib', 'a file where a folder is');
  assert.equal((await alice('promote_draft', asked)).error, 'draft_unusable');
});

test('[CLAIM-8] a name that is no UTF-8 is said to be one, where the disk has such names', async (t) => {
  const { yard, alice } = await stage();
  await using _ = yard;
  yard.draft('alice', 'a.ts', 'x');
  const odd = Buffer.concat([
    Buffer.from(join(yard.fleet, 'agents/alice/drafts/')),
    Buffer.from([0x62, 0xff]),
  ]);
  try {
    writeFileSync(odd, 'x');
  } catch {
    return t.diagnostic('this disk has none');
  }
  const refused = await alice('promote_draft', asked);
  assert.deepEqual([refused.error, unusable(refused)], ['draft_unusable', ['b\u{FFFD}']]);
});

everywhere(
  '[CLAIM-8] more or larger drafts than one promotion takes are refused before anything happens',
  async (kind) => {
    const { yard, alice } = await stage(kind);
    await using _ = yard;
    for (let index = 0; index <= limits.promotion_files_max; index += 1)
      yard.draft('alice', `f/${index}.ts`, 'x');
    assert.equal((await alice('promote_draft', asked)).error, 'too_large');
    assert.equal(yard.read('f/0.ts'), undefined);
    yard.draft('alice', 'big.bin', 'x'.repeat(limits.draft_bytes_max + 1));
    assert.deepEqual(unusable(await alice('promote_draft', { ...asked, paths: ['big.bin'] })), ['big.bin']);
  },
);

test('[CLAIM-8] every agent has a folder of its own, however it is called', async () => {
  const odd = [
    'alice',
    '../bob',
    '..',
    '.',
    'a/b',
    'a%2Fb',
    'a b',
    'ü',
    'x'.repeat(128),
    `${'x'.repeat(127)}y`,
    'a.',
  ];
  const folders = odd.map(agentFolder);
  assert.equal(new Set(folders).size, odd.length);
  for (const folder of folders) {
    assert.match(folder, /^[A-Za-z0-9_@+%-][A-Za-z0-9._@+%~-]*$/);
    assert.ok(folder.length <= 120 && folder !== '..' && !folder.endsWith('.'), folder);
  }
  assert.equal(agentFolder('claude-code.1'), 'claude-code.1', 'a plain id is its own name');
});

everywhere('[CLAIM-8] an agent whose name looks like a path is shown its own folder', async (kind) => {
  const { yard } = await stage(kind);
  await using _ = yard;
  const status = await yard.agent('../bob')('draft_status');
  assert.equal(status.folder, yard.ground.shown('%2E.%2Fbob', 'drafts'));
});
