import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

const FORCE = { operation_text: 'git push --force origin topic' };

/** What is too dangerous, and who may see that it was tried. Only a person decides: approvals.test.ts. */
export const guardingScenarios: Record<string, Scenario> = {
  '[GUARD-1] [GUARD-2] [AUD-2] a force push is blocked, recorded, and waits for a person': async (
    alice,
    bob,
  ) => {
    const fine = await alice.call('check_guardrails', { operation_text: 'git status' });
    assert.deepEqual(fine, { success: true, safe: true, violations: [], warnings: [] });
    const asked = await alice.call('check_guardrails', { ...FORCE, dry_run: true });
    assert.deepEqual([asked.success, asked.approval_id], [false, undefined]);
    assert.deepEqual((await alice.call('list_violations', { agent_id: 'alice' })).violations, []);
    const blocked = await alice.call('check_guardrails', FORCE);
    assert.partialDeepStrictEqual(blocked, {
      success: false,
      error: 'destructive_operation_blocked',
      operation: 'force_push',
      approval_required: true,
    });
    const { violations, blocked_in_all } = await alice.call('list_violations', { agent_id: 'alice' });
    const [violation] = violations as JsonObject[];
    assert.partialDeepStrictEqual(violation, {
      agent_id: 'alice',
      operation: 'force_push',
      pattern_matched: 'git-push-force',
      blocked: true,
    });
    assert.ok(typeof violation?.timestamp === 'string' && violation.context !== undefined);
    assert.equal(blocked_in_all, 1);
    const again = await alice.call('check_guardrails', FORCE);
    assert.equal(again.approval_id, blocked.approval_id, 'the same thing is the same item');
    const other = await bob.call('check_guardrails', FORCE);
    assert.notEqual(other.approval_id, blocked.approval_id, 'of another agent it is another');
  },

  '[GUARD-5] [APPR-1] a credential file is for a person to look at, and what waits can be seen': async (
    alice,
  ) => {
    const touch = { operation_text: 'cp template .env', file_paths: ['./config/.env'] };
    const refused = await alice.call('check_guardrails', touch);
    assert.partialDeepStrictEqual(refused, {
      success: false,
      error: 'credential_file_protected',
      requires: 'manual_review',
    });
    const approval_id = refused.approval_id as string;
    const { approvals } = await alice.call('list_approvals', { requested_by: 'alice' });
    const item = (approvals as JsonObject[]).find((each) => each.approval_id === approval_id);
    assert.deepEqual([item?.status, item?.requested_by, item?.context], ['pending', 'alice', undefined]);
    const shown = await alice.call('show_approval', { approval_id });
    assert.partialDeepStrictEqual(shown.approval as JsonObject, {
      kind: 'command',
      operation: 'credential_modify',
      context: { command: 'cp template .env', file_paths: ['config/.env'] },
    });
    const unknown = await alice.call('show_approval', { approval_id: '000000000000' });
    assert.equal(unknown.error, 'unknown_approval');
  },
};
