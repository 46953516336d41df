import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { guardrailTable } from '../../../scripts/guardrail-table.ts';
import { BUILTIN } from '../../../src/features/trust/builtin.ts';
import { CATEGORIES } from '../../../src/features/trust/finding.ts';
import type { Profile } from '../../../src/features/trust/profile.ts';
import { actionFor, CATEGORY_DEFAULTS, UNNAMED_PUSH } from '../../../src/features/trust/verdict.ts';
import type { TrustLevel } from '../../../src/runtime/access.ts';
import { CREDENTIALS, FORCE_PUSH, finding, standing } from './guard-facts.ts';

const TRUSTS: TrustLevel[] = [0, 1, 2, 3, 4];
const OPEN: Partial<Profile> = { elevated_operations: [...CATEGORIES], guardrails: ['warn_destructive_git'] };
const MAIN = finding('git_force', 'force_push_main');

test('[GUARD-1] every category has a default, and the seed’s six are the seed’s', () => {
  assert.deepEqual(Object.keys(CATEGORY_DEFAULTS), [...CATEGORIES]);
  const acted = (...args: Parameters<typeof finding>) => actionFor(finding(...args), standing(2)).action;
  assert.equal(acted('git_force', 'force_push'), 'block');
  assert.equal(acted('branch_deletion', 'delete_main_branch'), 'block');
  assert.equal(acted('branch_deletion', 'delete_branch'), 'warn');
  assert.equal(acted('mass_deletion', 'recursive_delete'), 'block');
  assert.equal(acted('credential_modification', 'credential_modify'), 'review');
  assert.equal(acted('production_deployment', 'deploy'), 'block');
  assert.equal(acted('database_migration', 'migrate'), 'verify');
});

test('[GUARD-1] for cloud agents a warning is a block', () => {
  const other = finding('branch_deletion', 'delete_branch');
  for (const connection of ['http_api', 'agentcore_gateway'] as const)
    assert.equal(actionFor(other, standing(4, { connection })).action, 'block');
  assert.equal(actionFor(other, standing(2, { connection: 'mcp' })).action, 'warn');
});

test('[GUARD-5] credentials are reviewed and the rules themselves blocked, whatever the trust and the profile', () => {
  const own = { ...OPEN, elevated_operations: [...CATEGORIES, 'credential_modify', 'approve'] };
  for (const trust of TRUSTS) {
    assert.equal(actionFor(CREDENTIALS, standing(trust, own)).action, 'review');
    assert.equal(actionFor(finding('control_plane', 'approve'), standing(trust, own)).action, 'block');
  }
});

test('[GUARD-9] what nobody can read is asked about at trust 3 and blocked below', () => {
  const unread = finding('unresolved', 'unknown_command');
  const actions = TRUSTS.map((trust) => actionFor(unread, standing(trust)).action);
  assert.deepEqual(actions, ['block', 'block', 'block', 'ask', 'ask']);
});

test('[GUARD-10] warn_destructive_git and no_destructive_git turn the git categories, and no other', () => {
  const git = [FORCE_PUSH, finding('branch_deletion', 'delete_main_branch'), finding('history_rewrite', 'x')];
  for (const each of git) {
    assert.equal(actionFor(each, standing(2, { guardrails: ['warn_destructive_git'] })).action, 'warn');
    assert.equal(actionFor(each, standing(4, { guardrails: ['no_destructive_git'] })).action, 'block');
  }
  const both = standing(3, { guardrails: ['warn_destructive_git', 'no_destructive_git'] });
  assert.equal(actionFor(FORCE_PUSH, both).action, 'block', 'the stricter one counts');
  const rm = finding('mass_deletion', 'recursive_delete');
  assert.equal(actionFor(rm, standing(3, { guardrails: ['warn_destructive_git'] })).action, 'block');
});

test('[GUARD-9] what a profile blocks by name beats its guardrails and what it elevates', () => {
  const action = (word: string, each = FORCE_PUSH) =>
    actionFor(each, standing(4, { ...OPEN, blocked_operations: [word] })).action;
  for (const word of ['force_push', 'git_force', 'git_push_force', 'git_push'])
    assert.equal(action(word), 'block');
  for (const word of ['git_push_force_main', 'git_push_main', 'git_push', 'write', 'toString', '__proto__'])
    assert.equal(action(word), word === 'git_push' ? 'block' : 'pass', word);
  for (const word of ['git_push_force_main', 'git_push_main', 'git_push_force'])
    assert.equal(action(word, MAIN), 'block');
  assert.equal(action('git_push_force_main', finding('branch_deletion', 'delete_main_branch')), 'block');
});

test('[GUARD-2] [GUARD-9] a forced push that does not say where to may be one to main', () => {
  const unnamed = { ...FORCE_PUSH, pattern: UNNAMED_PUSH };
  const action = (own: Partial<Profile>, each = unnamed) => actionFor(each, standing(3, own)).action;
  const warned: Partial<Profile> = {
    guardrails: ['warn_destructive_git'],
    blocked_operations: ['git_push_force_main'],
  };
  assert.deepEqual([action(warned), action(warned, FORCE_PUSH)], ['block', 'warn']);
  const elevated = (...words: string[]) => action({ elevated_operations: words });
  assert.deepEqual(
    [elevated('force_push'), elevated('force_push_main'), elevated('git_push_force'), elevated('git_force')],
    ['block', 'block', 'pass', 'pass'],
  );
});

test('[GUARD-3] [GUARD-9] elevated operations pass from trust 3 on, flagged; below they are judged as usual', () => {
  for (const word of ['force_push', 'git_force', 'git_push_force']) {
    const judged = TRUSTS.map((trust) =>
      actionFor(FORCE_PUSH, standing(trust, { elevated_operations: [word] })),
    );
    assert.deepEqual(
      judged.map(({ action, elevated }) => [action, elevated]),
      [...Array(3).fill(['block', undefined]), ...Array(2).fill(['pass', true])],
    );
  }
  const lowered = { ...standing(4, { elevated_operations: ['git_force'] }), trust_level: 2 as const };
  assert.equal(actionFor(FORCE_PUSH, lowered).action, 'block', 'trust that was lowered elevates nothing');
});

test('[GUARD-9] the table of profile and category in the manual is what the code does', () => {
  const manual = readFileSync(new URL('../../../docs/guardrails.md', import.meta.url), 'utf8');
  assert.ok(manual.includes(guardrailTable()), 'run `node scripts/guardrail-table.ts`');
  assert.ok(BUILTIN.every(({ name }) => guardrailTable().includes(name)));
});
