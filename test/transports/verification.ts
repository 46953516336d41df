import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Agent } from './doors.ts';
import type { Scenario } from './scenario.ts';

const COMMIT = 'c0ffee'.padEnd(40, '0');

const OTHER = 'decade'.padEnd(40, '0');

async function idOf(agent: Agent, changeset: JsonObject): Promise<JsonObject> {
  const { changeset_id } = await agent.call('submit_changeset', changeset);
  return { changeset_id };
}

const brief = (runs: unknown) =>
  (runs as JsonObject[]).map(({ policy, tier, executor, status }) => [policy, tier, executor, status]);

/** What agents see of the gateway; who runs what has tests of its own (test/features/verification). */
export const verificationScenarios: Record<string, Scenario> = {
  '[VER-2] [VER-9] a changeset is planned, routed by its files, and its status can be asked for': async (
    alice,
    bob,
  ) => {
    const submitted = await alice.call('submit_changeset', {
      file_paths: ['src/app.ts', 'db/migrations/001.sql', 'src/auth/login.ts'],
      commit_sha: COMMIT,
      base: 'b'.repeat(40),
      diff: '+password = "correct horse battery"',
      summary: 'log in',
    });
    const expected = [
      ['static-analysis', 0, 'inline', 'queued'],
      ['unit-tests', 1, 'github', 'queued'],
      ['database-migrations', 3, 'ntm', 'queued'],
      ['security-sensitive', 4, 'human', 'waiting_for_person'],
    ];
    assert.deepEqual(brief(submitted.plan), expected);
    const { changeset_id } = submitted;
    const before = await bob.call('verification_status', { changeset_id });
    assert.deepEqual([before.status, before.runs], ['not_routed', []]);
    const routed = await alice.call('verify_changeset', { changeset_id });
    assert.deepEqual([routed.success, routed.queued, routed.status], [true, 4, 'waiting_for_person']);
    assert.deepEqual(brief(routed.runs), expected);
    const again = await bob.call('verify_changeset', { changeset_id });
    assert.deepEqual([again.queued, again.runs], [0, routed.runs]);
    const status = await bob.call('verification_status', { commit_sha: COMMIT.slice(0, 10) });
    assert.deepEqual([status.commit_sha, brief(status.runs)], [COMMIT, expected]);
    const audit = await alice.call('query_audit', { agent_id: 'alice', operation: 'submit_changeset' });
    assert.doesNotMatch(JSON.stringify(audit), /correct horse/, 'a diff stands in no log');
  },

  '[VER-1] what can’t be verified or changed says why': async (alice) => {
    const made = { file_paths: ['a.ts'], commit_sha: OTHER };
    await alice.call('verify_changeset', { ...(await idOf(alice, made)) });
    const { changeset_id } = await idOf(alice, { file_paths: ['a.ts'] });
    const bare = await alice.call('verify_changeset', { changeset_id });
    assert.deepEqual([bare.error, bare.field], ['invalid_input', 'commit_sha']);
    const short = await alice.call('verify_changeset', { changeset_id, commit_sha: 'c0ffee0' });
    assert.equal(short.field, 'commit_sha');
    const unknown = await alice.call('verify_changeset', {
      changeset_id: '0192a000-0000-7000-8000-000000000001',
    });
    assert.equal(unknown.error, 'unknown_changeset');
    const forced = await alice.call('verify_changeset', { changeset_id, commit_sha: COMMIT, force: true });
    assert.equal(forced.error, 'forbidden');
    const { policies } = await alice.call('list_verification_policies');
    assert.deepEqual(
      (policies as JsonObject[]).map(({ name, tier, source }) => [name, tier, source]),
      [
        ['static-analysis', 0, 'shipped'],
        ['unit-tests', 1, 'shipped'],
        ['integration-tests', 2, 'shipped'],
        ['database-migrations', 3, 'shipped'],
        ['security-sensitive', 4, 'shipped'],
      ],
    );
    const policy = { name: 'none', tier: 0, executor: 'inline', patterns: ['**'], command: 'true' };
    const set = await alice.call('set_verification_policy', policy);
    assert.deepEqual([set.error, set.required_trust_level], ['insufficient_trust_level', 4]);
    const removed = await alice.call('remove_verification_policy', { name: 'security-sensitive' });
    assert.equal(removed.error, 'insufficient_trust_level');
    const own = { run_id: `${OTHER}#unit-tests`, status: 'passed' };
    assert.equal((await alice.call('record_verification', own)).error, 'forbidden');
    const taken = await alice.call('start_verification', { run_id: own.run_id });
    assert.equal(taken.error, 'insufficient_trust_level', 'nobody says of its own change that it has passed');
    const guessed = await alice.call('record_verification', { ...own, secret: 'guessed' });
    assert.equal(guessed.error, 'forbidden');
  },
};
