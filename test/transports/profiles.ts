import assert from 'node:assert/strict';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import type { Scenario } from './scenario.ts';

/** A person's doing, which no agent's door does. */
async function asPerson(store: string, calls: readonly [string, JsonObject][]): Promise<void> {
  const coxswain = await open({ store, env: {} });
  const actor = { agent_id: 'person:ann', agent_type: 'person', session_id: 'ann' };
  const person = coxswain.connect(actor, 'person');
  for (const [name, input] of calls) {
    const operation = operationsByName.get(name);
    assert.ok(operation, name);
    assert.equal((await person.perform(operation, input)).success, true, name);
  }
  await coxswain.close();
}

/** What agents may, through every door. */
export const profileScenarios: Record<string, Scenario> = {
  '[PROF-1] an agent learns what it may, and why': async (alice) => {
    const mine = await alice.call('get_my_profile');
    const profile = mine.profile as JsonObject;
    assert.deepEqual([profile.name, mine.trust_level, mine.source], ['default', 2, 'default']);
    assert.match(String(mine.reason), /no profile is for agents of the type tester/);
    const { profiles } = await alice.call('list_profiles');
    assert.ok(
      (profiles as JsonObject[]).some(({ name, origin }) => name === 'reviewer' && origin === 'shipped'),
    );
    const shown = await alice.call('show_profile', { name: 'codex-cloud-worker' });
    const { resource_limits } = shown.profile as JsonObject;
    const limits = { max_file_modifications: 50, max_execution_time: '1h', max_file_reads: 'unlimited' };
    assert.partialDeepStrictEqual(resource_limits as JsonObject, limits);
    assert.equal((await alice.call('show_profile', { name: 'constructor' })).error, 'unknown_profile');
  },

  '[PROF-4] [PROF-7] no agent below level 4 changes the rules': async (alice) => {
    for (const [operation, input] of [
      ['set_profile', { name: 'default', trust_level: 3 }],
      ['remove_profile', { name: 'default' }],
      ['assign_profile', { profile: 'claude-code-cli', to_agent: 'alice' }],
      ['unassign_profile', { to_agent: 'alice' }],
      ['restore_trust', { agent_name: 'alice' }],
      ['apply_profiles', { document: 'settings: { default_trust: 3 }\n' }],
    ] satisfies [string, JsonObject][]) {
      const refused = await alice.call(operation, input);
      assert.deepEqual([refused.success, refused.error], [false, 'insufficient_trust_level'], operation);
    }
  },

  '[PROF-2] [PROF-3] what the profile does not have is refused, and so is what is used up': async (
    alice,
    bob,
    { store },
  ) => {
    await asPerson(store, [
      ['assign_profile', { profile: 'reviewer', to_agent: 'alice' }],
      ['set_profile', { name: 'two-files', resource_limits: { max_file_modifications: 2 } }],
      ['assign_profile', { profile: 'two-files', to_agent: 'bob' }],
    ]);
    const refused = await alice.call('submit_changeset', { file_paths: ['src/x.ts'] });
    assert.deepEqual([refused.success, refused.error], [false, 'operation_not_permitted']);
    await bob.call('end_session');
    await bob.call('submit_changeset', { file_paths: ['src/1.ts', 'src/2.ts'] });
    const over = await bob.call('submit_changeset', { file_paths: ['src/3.ts'] });
    assert.deepEqual([over.error, over.limit], ['resource_limit_exceeded', 'max_file_modifications']);
    const used = (await bob.call('report_usage', { file_reads: 3 })).used as JsonObject;
    assert.equal(used.file_modifications, 2);
    await asPerson(store, [
      ['unassign_profile', { to_agent: 'alice' }],
      ['unassign_profile', { to_agent: 'bob' }],
    ]);
    for (const agent of [alice, bob]) await agent.call('end_session');
  },

  '[PROF-5] a decision is explained': async (alice) => {
    const write = await alice.call('check_policy', { operation: 'write_file', resource: 'src/app.ts' });
    assert.deepEqual([write.allowed, write.engine], [true, 'native']);
    const push = await alice.call('check_policy', { operation: 'git_push_force_main' });
    assert.deepEqual([push.allowed, (push.diagnostics as JsonObject).rule], [false, 'blocked']);
    const unknown = await alice.call('check_policy', { operation: 'nonsense_zzz' });
    assert.deepEqual([unknown.success, unknown.error], [false, 'unknown_operation']);
    const near = await alice.call('check_policy', { operation: 'git_psh' });
    assert.match(String(near.message), /Did you mean git_push/);
    // A word that the guardrails or a profile has.
    const force = await alice.call('check_policy', { operation: 'git_force' });
    assert.equal(force.allowed, true);
    const edit = await alice.call('check_policy', { operation: 'set_profile', context: {} });
    assert.deepEqual([edit.allowed, (edit.diagnostics as JsonObject).required_trust_level], [false, 4]);
  },
};
