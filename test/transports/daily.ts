import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import type { Agent } from './doors.ts';
import type { Scenario } from './scenario.ts';

const TEAM = `team: crew
agents:
  - { name: alice, role: author, capabilities: [typescript], description: writes }
  - { name: bob, role: reviewer, capabilities: [review], description: reads }
rules:
  reviews:
    - { of: [alice], by: [bob] }
  owns:
    - { agents: [alice], paths: [owned/] }
  at_once:
    - { role: reviewer, tasks: 1 }
`;

/** An agent's day: who is here, what was left, what is said, who may what. */
export const dailyScenarios: Record<string, Scenario> = {
  '[SESS-1] [SESS-2] [SESS-3] agents register, find each other and show that they are there': async (
    alice,
    bob,
  ) => {
    const registered = await alice.call('register_session', {
      capabilities: ['typescript', 'review'],
      current_task: 'move the router',
    });
    assert.deepEqual([registered.success, registered.session_id], [true, 'session-alice']);
    assert.match(String(registered.session_token), /^coxs_/);
    const { agents } = await bob.call('discover_agents', { capability: 'typescript' });
    const [found] = agents as JsonObject[];
    assert.deepEqual(
      [found?.agent_id, found?.agent_type, found?.capabilities, found?.status, found?.current_task],
      ['alice', 'tester', ['typescript', 'review'], 'active', 'move the router'],
    );
    assert.deepEqual((await bob.call('discover_agents', { capability: 'cobol' })).agents, []);
    assert.deepEqual((await bob.call('discover_agents', { status: 'disconnected' })).agents, []);
    const beat = await alice.call('heartbeat');
    assert.deepEqual([beat.success, beat.session_id], [true, 'session-alice']);
    const cleaned = await bob.call('cleanup_dead_agents', {});
    assert.deepEqual([cleaned.success, cleaned.agents_cleaned, cleaned.locks_released], [true, 0, 0]);
  },

  '[HAND-1] [HAND-2] [HAND-3] what one session leaves, the next one finds': async (alice, bob) => {
    assert.deepEqual((await alice.call('read_handoff', {})).handoffs, []);
    const written = await alice.call('write_handoff', {
      summary: 'the router is moved',
      completed_work: ['src/router.ts'],
      in_progress: ['tests'],
      decisions: ['no default export'],
      next_steps: ['mend the tests'],
      relevant_files: ['src/router.ts'],
    });
    assert.equal(written.success, true);
    const { handoffs } = await bob.call('read_handoff', { agent_name: 'alice' });
    const [handoff] = handoffs as JsonObject[];
    assert.deepEqual(
      [handoff?.handoff_id, handoff?.agent_name, handoff?.session_id, handoff?.next_steps],
      [written.handoff_id, 'alice', 'session-alice', ['mend the tests']],
    );
    const next = await alice.call('register_session', {});
    assert.equal((next.handoff as JsonObject).handoff_id, written.handoff_id);
  },

  '[MAIL-1] agents write to each other': async (alice, bob) => {
    const sent = await alice.call('send_message', { to: ['bob'], subject: 'hi', body: 'is it free?' });
    const { messages } = await bob.call('read_inbox', {});
    assert.deepEqual((messages as JsonObject[])[0]?.from, 'alice');
    await bob.call('send_message', { body: 'now it is', in_reply_to: sent.message_id });
    const thread = await alice.call('read_inbox', { thread_id: sent.thread_id });
    assert.equal((thread.messages as JsonObject[]).length, 2);
    const done = await bob.call('acknowledge_message', { message_ids: [sent.message_id as string] });
    assert.equal(done.acknowledged, 1);
    assert.deepEqual((await bob.call('read_inbox', {})).messages, []);
  },

  '[SESS-5] changes are tied to the session that made them': async (alice, bob) => {
    const made = {
      file_paths: ['./src/a.ts', 'src/b.ts', 'src/a.ts'],
      commit_sha: '4f1c2ab',
      summary: 'moved',
    };
    const submitted = await alice.call('submit_changeset', made);
    assert.deepEqual([submitted.success, submitted.session_id], [true, 'session-alice']);
    await bob.call('submit_changeset', { file_paths: ['src/c.ts'] });
    const of = { agent_name: 'alice', of_session: 'session-alice' };
    const { changesets } = await bob.call('list_changesets', of);
    assert.deepEqual(
      (changesets as JsonObject[]).map(({ changeset_id, files, commit_sha }) => [
        changeset_id,
        files,
        commit_sha,
      ]),
      [[submitted.changeset_id, ['src/a.ts', 'src/b.ts'], '4f1c2ab']],
    );
    const all = await alice.call('list_changesets', {});
    assert.equal((all.changesets as JsonObject[]).length, 2);
  },

  '[AUD-3] [METRIC-1] the trail tells who did what, page by page, and the metrics are counted from it':
    async (alice, bob) => {
      await alice.call('acquire_lock', { file_path: 'audited/1.ts' });
      await alice.call('acquire_lock', { file_path: 'audited/2.ts', reason: 'why' });
      const query = { agent_id: 'alice', operation: 'acquire_lock', result: 'success', limit: 1 };
      const first = await alice.call('query_audit', query);
      const [row] = first.entries as JsonObject[];
      assert.deepEqual(row?.parameters, { file_path: 'audited/2.ts', reason: 'why', ttl_minutes: 120 });
      assert.deepEqual(row?.events, [{ kind: 'lock', id: 'audited/2.ts', type: 'lock_acquired' }]);
      const second = await alice.call('query_audit', { ...query, cursor: first.next_cursor });
      const [older] = second.entries as JsonObject[];
      assert.deepEqual(older?.parameters, { file_path: 'audited/1.ts', ttl_minutes: 120 });
      assert.equal((await bob.call('query_audit', { cursor: 'made up' })).field, 'cursor');
      const none = await bob.call('get_stats', { since: '2999-01-01T00:00:00Z' });
      assert.deepEqual([none.rows, (none.metrics as JsonObject[]).length], [0, 9]);
      await alice.call('end_session');
    },

  '[SESS-1] an ended session holds nothing': async (alice, bob) => {
    await alice.call('acquire_lock', { file_path: 'ended.ts' });
    const ended = await alice.call('end_session');
    assert.deepEqual([ended.success, ended.locks_released], [true, 1]);
    assert.equal((await bob.call('acquire_lock', { file_path: 'ended.ts' })).action, 'acquired');
    await bob.call('release_lock', { file_path: 'ended.ts' });
  },

  '[TEAM-1] [TEAM-3] the rules of a team hold in locks, work and mail': async (alice, bob, { folder }) => {
    assert.equal((await alice.call('show_team')).team, null);
    writeFileSync(join(folder, 'teams.yaml'), TEAM);
    await untilRead('crew', alice, bob);
    await bob.call('end_session');
    const refused = await bob.call('acquire_lock', { file_path: 'owned/a.ts' });
    assert.deepEqual([refused.error, refused.owners], ['not_owner', ['alice']]);
    assert.equal((await alice.call('acquire_lock', { file_path: 'owned/a.ts' })).action, 'acquired');
    const review = { task_type: 'review', task_description: 'look at it', input_data: { author: 'alice' } };
    const first = await alice.call('submit_work', review);
    await alice.call('submit_work', review);
    const own = await alice.call('get_work', { task_types: ['review'] });
    assert.equal(own.reason, 'no_tasks_available', 'nobody reviews its own work');
    assert.equal((await bob.call('get_work', { task_types: ['review'] })).task_id, first.task_id);
    const more = await bob.call('get_work', { task_types: ['review'] });
    assert.deepEqual([more.error, more.at_most], ['team_limit_reached', 1]);
    const asked = await alice.call('send_message', { to: ['reviewers'], body: 'please' });
    assert.deepEqual(asked.recipients, ['bob']);
    for (const agent of [alice, bob]) await agent.call('end_session');
  },

  '[TEAM-2] a team file with mistakes is refused with all of them': async (alice, _bob, { folder }) => {
    const broken = TEAM.replace('role: author, ', '').replace('by: [bob]', 'by: [carl]');
    writeFileSync(join(folder, 'teams.yaml'), `${broken}mistake: 1\n`);
    await untilRead(undefined, alice);
    const refused = await alice.call('acquire_lock', { file_path: 'x.ts' });
    assert.equal(refused.error, 'team_invalid');
    const errors = refused.errors as JsonObject[];
    assert.deepEqual(
      errors.map(({ line, field }) => [line, field]),
      [
        [3, 'agents.0.role'],
        [12, 'mistake'],
      ],
    );
    rmSync(join(folder, 'teams.yaml'));
  },
};

/** The file is looked at once a second. */
async function untilRead(team: string | undefined, ...agents: Agent[]): Promise<void> {
  for (const agent of agents)
    await until(async () => (await (agent.aside ?? agent).call('show_team')).team === team);
}
