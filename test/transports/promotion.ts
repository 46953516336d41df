import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

const on = { feature: 'AUTH-1', edge: 'design→code' };
const evaluators = [{ name: 'unit', passed: true }];

/** Drafts through every door; what may go wrong with them has tests of its own (test/features/promotion). */
export const promotionScenarios: Record<string, Scenario> = {
  '[CLAIM-8] [CLAIM-13] drafts are shown, promoted by who holds the claim, and thrown away': async (
    alice,
    bob,
    { folder },
  ) => {
    const drafts = join(folder, '.ai-workspace', 'agents', 'alice', 'drafts');
    const draft = (path: string, text: string) => {
      mkdirSync(dirname(join(drafts, path)), { recursive: true });
      writeFileSync(join(drafts, path), text);
    };
    draft('promoted/a.ts', 'a\n');
    draft('notes.md', 'later\n');
    const status = await alice.call('draft_status');
    assert.deepEqual(
      (status.drafts as JsonObject[]).map(({ path, status: is }) => [path, is]),
      [
        ['notes.md', 'new'],
        ['promoted/a.ts', 'new'],
      ],
    );
    const paths = ['promoted'];
    const unclaimed = await alice.call('promote_draft', { ...on, evaluators, paths });
    assert.equal(unclaimed.error, 'edge_not_started');
    await alice.call('claim_edge', on);
    const promoted = await alice.call('promote_draft', { ...on, evaluators, paths });
    assert.deepEqual([promoted.action, promoted.files], ['promoted', ['promoted/a.ts']]);
    assert.equal(readFileSync(join(folder, 'promoted', 'a.ts'), 'utf8'), 'a\n');
    assert.deepEqual((await alice.call('discard_drafts', { paths: ['notes.md'] })).discarded, ['notes.md']);
    assert.equal((await bob.call('rebuild_views')).success, true);
    assert.ok(existsSync(join(folder, '.ai-workspace', 'views', 'STATUS.md')));
    await alice.call('release_edge', on);
    for (const name of ['promoted', '.ai-workspace']) rmSync(join(folder, name), { recursive: true });
  },
};
