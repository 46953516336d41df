import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { SEED_RULES, TestFleet } from '../support/fleet.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask } from './postgres-support.ts';

const EDGE = 'design→code';
/** A hard end, for one of them. */
const TTL_MS = 200;

test('[CLAIM-12] [STORE-5] postgres: edge_claims says who holds what, what is stale, what waits and what is done', async () => {
  const database = await testDatabase();
  const coxswain = await open({ store: database.url, project: 'p', env: {}, cwd: tmpdir() });
  const look = async () => {
    const rows = await ask(
      database.url,
      'SELECT * FROM coxswain.edge_claims WHERE project = $1 ORDER BY feature',
      ['p'],
    );
    return new Map(rows.map((row) => [row.feature as string, row]));
  };
  try {
    const fleet = new TestFleet(coxswain);
    const [a, b] = [fleet.agent('a'), fleet.agent('b')];
    const claim = (feature: string) => a('claim_edge', { feature, edge: EDGE, agent_role: 'architect' });
    const converge = (feature: string, more = {}) => a('converge_edge', { feature, edge: EDGE, ...more });
    const held = await claim('held');
    await claim('done');
    await converge('done', { evaluators: '3/3', iteration: 4 });
    await claim('again');
    await converge('again');
    await b('claim_edge', { feature: 'again', edge: EDGE });
    await claim('free');
    await a('release_edge', { feature: 'free', edge: EDGE });
    await a('claim_edge', { feature: 'waits', edge: 'code↔unit_tests', agent_role: 'architect' });
    const { approval_id } = await a('converge_edge', { feature: 'waits', edge: 'code↔unit_tests' });
    fleet.rules = { ...SEED_RULES, ttl_ms: TTL_MS };
    await a('claim_edge', { feature: 'asks', edge: 'code↔unit_tests', agent_role: 'architect' });
    await a('converge_edge', { feature: 'asks', edge: 'code↔unit_tests' });
    const over = await claim('over');
    await until(async () => Date.now() > Date.parse(over.expires_at as string) + 50);
    const rows = await look();
    assert.deepEqual(
      [...rows].map(([feature, row]) => [feature, row.status, row.agent_id, row.converged_by]),
      [
        ['again', 'held', 'b', null],
        ['asks', 'escalated', 'a', null],
        ['done', 'converged', null, 'a'],
        ['free', 'free', null, null],
        ['held', 'held', 'a', null],
        ['over', 'free', null, null],
        ['waits', 'escalated', 'a', null],
      ],
    );
    const row = rows.get('held');
    assert.deepEqual(
      [row?.edge, row?.agent_role, row?.expires_at, row?.session_id, Number(row?.fencing_token)],
      [EDGE, 'architect', null, 'session-a', held.fencing_token],
    );
    assert.equal(row?.claimed_at.toISOString(), held.claimed_at);
    const done = rows.get('done');
    assert.deepEqual([done?.evaluators, done?.iteration, done?.converged_role], ['3/3', 4, 'architect']);
    assert.ok(done?.converged_at >= row?.claimed_at);
    assert.equal(rows.get('waits')?.approval_id, approval_id);
    fleet.rules = { ...SEED_RULES, stale_ms: 1 };
    await b('claims_status', {});
    assert.equal((await look()).get('held')?.status, 'stale');
  } finally {
    await coxswain.close();
    await database.drop();
  }
});
