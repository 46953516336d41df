import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import type { Agent } from './doors.ts';
import type { Scenario } from './scenario.ts';

const SECRET = ['gh', 'p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYabcd'].join('');

function added(name: string, ...lines: string[]): string {
  const text = lines.map((line) => `+${line}\n`).join('');
  return `diff --git a/${name} b/${name}\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,${lines.length} @@\n${text}`;
}

async function claimed(agent: Agent, task_type: string): Promise<string> {
  const { task_id } = await agent.call('submit_work', { task_type, task_description: 'move the router' });
  assert.equal((await agent.call('get_work', { task_types: [task_type] })).task_id, task_id);
  return String(task_id);
}

function violationsOf(answer: JsonObject): unknown[] {
  const violations = answer.violations as JsonObject[];
  return violations.map(({ file, line, operation }) => [file, line, operation]);
}

/** What is dangerous in tasks and in changes. */
export const dangerousScenarios: Record<string, Scenario> = {
  '[GUARD-2] a task that contains a forced push is not accepted': async (alice, bob) => {
    const blocked = {
      success: false,
      error: 'destructive_operation_blocked',
      operation: 'force_push',
      approval_required: true,
    };
    const tasks: JsonObject[] = [
      { task_type: 'ship', task_description: 'git push --force' },
      { task_type: 'ship', task_description: 'Rebase, then run `git push --force`.' },
      { task_type: 'ship', task_description: 'ship it', input_data: { steps: [{ run: 'git push -f' }] } },
    ];
    for (const task of tasks) {
      const answer = await alice.call('submit_work', task);
      const { success, error, operation, approval_required } = answer;
      assert.deepEqual({ success, error, operation, approval_required }, blocked);
    }
    const batch = await alice.call('submit_work_batch', {
      tasks: [{ task_type: 'ship', task_description: 'd' }, ...tasks],
    });
    assert.equal(batch.error, 'destructive_operation_blocked');
    assert.equal((await bob.call('get_work', { task_types: ['ship'] })).reason, 'no_tasks_available');
    const prose = 'Explain in the docs why `git push --force` is blocked, and never run it.';
    const harmless = await alice.call('submit_work', { task_type: 'harmless', task_description: prose });
    assert.equal(harmless.success, true);
  },

  '[GUARD-4] a completion is refused with each dangerous match of its changes': async (alice) => {
    const task_id = await claimed(alice, 'guarded');
    const diff =
      added('scripts/ship.sh', 'npm ci', 'git push --force') + added('clean.sql', 'DELETE FROM users;');
    const answer = await alice.call('complete_work', { task_id, success: true, result: { diff } });
    assert.deepEqual(
      [answer.success, answer.error, answer.approval_required],
      [false, 'destructive_operation_blocked', true],
    );
    assert.deepEqual(violationsOf(answer), [
      ['scripts/ship.sh', 2, 'force_push'],
      ['clean.sql', 1, 'unscoped_delete'],
    ]);
    assert.equal((await alice.call('show_work', { task_id })).status, 'claimed');
    const items = [{ task_id, success: true, result: { diff } }];
    const batch = await alice.call('complete_work_batch', { items });
    assert.equal(batch.error, 'destructive_operation_blocked');
    const mended = added('scripts/ship.sh', 'npm ci', 'git push');
    const done = await alice.call('complete_work', { task_id, success: true, result: { diff: mended } });
    assert.deepEqual([done.success, done.status], [true, 'completed']);
  },

  '[GUARD-4] changes that nobody can read are not waved through, giving up always works': async (alice) => {
    const task_id = await claimed(alice, 'unread');
    const complete = (result: JsonObject, success = true) =>
      alice.call('complete_work', { task_id, success, result });
    const unread = await complete({ commit: '4f1c2ab' });
    assert.deepEqual(
      [unread.success, unread.error, unread.field],
      [false, 'changes_unreadable', 'result.commit'],
    );
    const nonsense = await complete({ diff: '@@ no diff @@' });
    assert.deepEqual(violationsOf(nonsense), [[undefined, 1, 'unreadable_change']]);
    assert.equal((await complete({ commit: '4f1c2ab', diff: added('x.sh', 'rm -rf /data') })).success, false);
    assert.equal((await complete({ diff: added('x.sh', 'rm -rf /data') }, false)).status, 'failed');
  },

  '[GUARD-5] credentials in a change wait for a person': async (alice) => {
    const task_id = await claimed(alice, 'credentials');
    for (const result of [
      { files: ['src/a.ts', 'config/.env'] },
      { diff: added('.env', 'PORT=1') },
      { diff: added('src/a.ts', `const token = '${SECRET}';`) },
    ]) {
      const answer = await alice.call('complete_work', { task_id, success: true, result });
      assert.deepEqual(
        [answer.success, answer.error, answer.requires],
        [false, 'credential_file_protected', 'manual_review'],
      );
      assert.ok(!JSON.stringify(answer).includes(SECRET));
    }
    const done = await alice.call('complete_work', {
      task_id,
      success: true,
      result: { files: ['.env.example'] },
    });
    assert.equal(done.success, true);
  },

  '[GUARD-4] what the session itself has said to have changed counts too': async (_alice, bob) => {
    // Alice has lost her trust by now.
    const before = { file_paths: ['old/.env'], summary: 'before' };
    await bob.call('submit_changeset', before);
    // What was said in the very millisecond of the claim counts as said under it.
    const said_ms = Date.now();
    await until(async () => Date.now() > said_ms + 1);
    const task_id = await claimed(bob, 'session');
    await bob.call('submit_changeset', { file_paths: ['src/a.ts', 'deploy/credentials.json'] });
    const answer = await bob.call('complete_work', { task_id, success: true });
    assert.equal(answer.error, 'credential_file_protected');
    assert.deepEqual(violationsOf(answer), [['deploy/credentials.json', undefined, 'credential_modify']]);
    const given = await bob.call('complete_work', {
      task_id,
      success: true,
      result: { files: ['src/a.ts'] },
    });
    assert.equal(given.success, true);
  },
};
