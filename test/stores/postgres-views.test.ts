import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CATEGORY_DEFAULTS } from '../../src/features/trust/verdict.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask, openDomain } from './postgres-support.ts';

/** The columns a user of the seed's tables finds; more are fine. */
const COLUMNS = {
  file_locks: 'file_path locked_by agent_type session_id locked_at expires_at reason metadata',
  work_queue: `id task_type description input_data claimed_by claimed_at priority depends_on status result error_message
    created_at started_at completed_at deadline attempt_count max_attempts`,
  agent_sessions: `id agent_id agent_type task_description started_at ended_at tasks_completed files_modified metadata
    capabilities status last_heartbeat current_task`,
  handoff_documents: `id agent_name session_id summary completed_work in_progress decisions next_steps relevant_files
    created_at`,
  memory_episodic: 'event_type summary details outcome lessons tags relevance_score',
  memory_working: 'session_id content',
  memory_procedural: 'name task_type success_rate',
  agent_profiles: `name agent_type trust_level allowed_operations blocked_operations max_file_modifications
    max_execution_time_seconds max_api_calls_per_hour network_policy metadata enabled`,
  agent_profile_assignments: 'agent_id agent_type profile_id',
  network_policies: 'profile_id domain_pattern action priority',
  network_access_log: 'agent_id domain allowed alert',
  operation_guardrails: 'name category pattern',
  guardrail_violations: 'agent_id operation blocked',
  changesets: 'session_id agent_id files',
  verification_results: 'changeset_id tier executor status',
  verification_policies: `name tier executor patterns exclude_patterns required_env timeout_seconds requires_approval`,
  approval_queue: 'changeset_id status decided_by decision_reason',
  audit_log: 'agent_id operation parameters result duration_ms timestamp',
  edge_claims:
    'feature edge agent_id agent_role claimed_at last_active expires_at status converged_at converged_by',
};

let database: Awaited<ReturnType<typeof testDatabase>>;

before(async () => {
  database = await testDatabase();
  await (await openDomain(database.url)).close();
});

after(() => database.drop());

/** As a later version, or a colleague of this one, will keep it. */
async function keep(kind: string, id: string, state: object): Promise<void> {
  await ask(
    database.url,
    'INSERT INTO coxswain.records (project, kind, id, version, born, state) VALUES ($1, $2, $3, 1, 1, $4)',
    ['p', kind, id, JSON.stringify(state)],
  );
}

for (const [view, columns] of Object.entries(COLUMNS))
  test(`[STORE-5] postgres: ${view} has its columns, and shows what its reader may see`, async () => {
    const wanted = columns.trim().split(/\s+/);
    const rows = await ask<{ name: string; options: string[] | null }>(
      database.url,
      `SELECT a.attname AS name, c.reloptions AS options FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.oid = 'coxswain.${view}'::regclass AND a.attnum > 0`,
    );
    const found = rows.map(({ name }) => name);
    assert.deepEqual(
      ['project', ...wanted].filter((name) => !found.includes(name)),
      [],
    );
    assert.deepEqual(rows[0]?.options, ['security_invoker=true']);
  });

test('[STORE-5] postgres: a session is active, idle or disconnected by what the time says', async () => {
  const now_ms = Date.now();
  const state = {
    agent_id: 'ann',
    agent_type: 'test',
    session_id: 's',
    capabilities: ['review', 'docs'],
    current_task: 'reading',
    started_at_ms: now_ms - 900_000,
    last_heartbeat_ms: now_ms,
    last_active_ms: now_ms,
  };
  await keep('session', 'here', state);
  await keep('session', 'quiet', { ...state, last_active_ms: now_ms - 301_000 });
  await keep('session', 'gone', { ...state, ended_at_ms: now_ms, metadata: { n: 1 } });
  const rows = await ask(database.url, 'SELECT * FROM coxswain.agent_sessions ORDER BY id');
  assert.deepEqual(
    rows.map(({ id, status }) => [id, status]),
    [
      ['gone', 'disconnected'],
      ['here', 'active'],
      ['quiet', 'idle'],
    ],
  );
  assert.deepEqual(rows[1]?.capabilities, ['review', 'docs']);
  assert.equal(rows[1]?.started_at.getTime(), state.started_at_ms);
  assert.equal(rows[1]?.ended_at, null);
  assert.equal(rows[1]?.current_task, 'reading');
  assert.deepEqual(rows[0]?.metadata, { n: 1 });
});

test('[STORE-5] postgres: fields of a state become columns of the right type', async () => {
  const created_at_ms = 1_700_000_000_123;
  await keep('handoff', 'h1', {
    agent_name: 'ann',
    session_id: 's',
    summary: 'half done',
    completed_work: ['a'],
    in_progress: [],
    decisions: [{ what: 'x' }],
    next_steps: ['b'],
    relevant_files: ['a.ts'],
    created_at_ms,
  });
  const [handoff] = await ask(database.url, 'SELECT * FROM coxswain.handoff_documents');
  assert.deepEqual(handoff, {
    project: 'p',
    id: 'h1',
    agent_name: 'ann',
    session_id: 's',
    summary: 'half done',
    completed_work: ['a'],
    in_progress: [],
    decisions: [{ what: 'x' }],
    next_steps: ['b'],
    relevant_files: ['a.ts'],
    created_at: new Date(created_at_ms),
  });
  await keep('rulebook', 'all', {
    profiles: { reviewer: { name: 'reviewer', trust_level: 2, allowed_operations: ['read'] } },
    assignments: [{ agent_id: 'ann', profile: 'reviewer' }],
    network_policies: { docs: { allow: ['docs.example.com'], deny: ['*'] } },
  });
  const assigned = await ask(
    database.url,
    'SELECT agent_id, profile_id FROM coxswain.agent_profile_assignments',
  );
  assert.deepEqual(assigned, [{ agent_id: 'ann', profile_id: 'reviewer' }]);
  const policies = await ask(
    database.url,
    'SELECT domain_pattern, action FROM coxswain.network_policies ORDER BY priority',
  );
  assert.deepEqual(
    policies.map(({ action, domain_pattern }) => `${action} ${domain_pattern}`),
    ['deny *', 'allow docs.example.com'],
  );
  const [profile] = await ask(database.url, 'SELECT * FROM coxswain.agent_profiles');
  assert.equal(profile?.trust_level, 2);
  assert.equal(profile?.enabled, true);
  assert.deepEqual(profile?.allowed_operations, ['read']);
  assert.deepEqual(profile?.blocked_operations, []);
  assert.equal(profile?.max_file_modifications, null);
  await keep('memory', 'm1', { event_type: 'fix', lessons: ['l'], tags: [], relevance_score: 0.25 });
  const [memory] = await ask(
    database.url,
    'SELECT lessons, tags, relevance_score FROM coxswain.memory_episodic',
  );
  assert.deepEqual(memory, { lessons: ['l'], tags: [], relevance_score: 0.25 });
});

test('[STORE-5] [APPR-1] postgres: what waits for a person runs out by the time', async () => {
  const now_ms = Date.now();
  const state = {
    kind: 'command',
    operation: 'force_push',
    subject: 'git push --force',
    context: { command: 'git push --force' },
    requested_by: 'ann',
    status: 'pending',
    created_at_ms: now_ms,
    expires_at_ms: now_ms + 60_000,
  };
  await keep('approval', 'open', state);
  await keep('approval', 'late', { ...state, expires_at_ms: now_ms - 1 });
  await keep('approval', 'done', { ...state, status: 'used', expires_at_ms: now_ms - 1 });
  const rows = await ask(
    database.url,
    `SELECT id, status, requested_by, details -> 'context' ->> 'command' AS command FROM coxswain.approval_queue
     WHERE project = 'p' AND id IN ('open', 'late', 'done') ORDER BY id`,
  );
  const shown = { requested_by: 'ann', command: 'git push --force' };
  assert.deepEqual(rows, [
    { id: 'done', status: 'used', ...shown },
    { id: 'late', status: 'expired', ...shown },
    { id: 'open', status: 'pending', ...shown },
  ]);
});

test('[STORE-5] [GUARD-1] postgres: operation_guardrails has the defaults of the code', async () => {
  const rows = await ask<{ category: string; behavior: string }>(
    database.url,
    'SELECT category, behavior FROM coxswain.operation_guardrails',
  );
  assert.deepEqual(
    Object.fromEntries(rows.map(({ category, behavior }) => [category, behavior])),
    CATEGORY_DEFAULTS,
  );
});
