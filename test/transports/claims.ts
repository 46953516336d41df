import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

const ASKED = { feature: 'REQ-F-AUTH-001', edge: 'design→code' };

/** Two agents of a fleet without a file of roles: only full_stack converges by itself. */
export const claimScenarios: Record<string, Scenario> = {
  '[CLAIM-1] [CLAIM-3] [CLAIM-11] an edge is claimed, refused to another, worked on, converged and claimed again':
    async (alice, bob) => {
      const got = await alice.call('claim_edge', { ...ASKED, agent_role: 'full_stack' });
      assert.deepEqual([got.success, got.action, got.agent_role], [true, 'edge_started', 'full_stack']);
      const refused = await bob.call('claim_edge', { ...ASKED, edge: 'Design -> Code' });
      assert.deepEqual([refused.action, refused.held_by], ['claim_rejected', 'alice']);
      assert.match(String(refused.message), /already claimed by alice/);
      assert.equal((await bob.call('heartbeat_claim', ASKED)).error, 'not_holder');
      assert.equal((await bob.call('release_edge', ASKED)).error, 'not_holder');
      assert.equal((await bob.call('converge_edge', ASKED)).error, 'not_holder');
      const beat = await alice.call('heartbeat_claim', { ...ASKED, iteration: 2, note: 'one test red' });
      assert.deepEqual([beat.success, beat.expires_at], [true, null]);
      const early = await alice.call('converge_edge', { ...ASKED, evaluators: '2/3' });
      assert.equal(early.error, 'evaluators_failed');
      const evaluators = [{ name: 'unit', passed: true }];
      const done = await alice.call('converge_edge', { ...ASKED, iteration: 3, evaluators });
      assert.deepEqual([done.action, done.evaluators], ['edge_converged', '1/1']);
      const next = await bob.call('claim_edge', ASKED);
      assert.equal(next.action, 'edge_started');
      const released = await bob.call('release_edge', { ...ASKED, reason: 'it is done' });
      assert.equal(released.success, true);
      assert.equal((await bob.call('converge_edge', ASKED)).error, 'edge_not_started');
    },

  '[CLAIM-5] [CLAIM-12] a convergence outside the role waits for a person, and status says so': async (
    alice,
    bob,
  ) => {
    const asked = { feature: 'F-escalated', edge: 'code↔unit_tests' };
    await alice.call('claim_edge', { ...asked, agent_role: 'tdd_engineer' });
    const answer = await alice.call('converge_edge', asked);
    assert.deepEqual([answer.success, answer.action], [false, 'convergence_escalated']);
    const named = await alice.call('converge_edge', { ...asked, agent_role: 'full_stack' });
    assert.equal(named.error, 'role_mismatch');
    const status = await bob.call('claims_status', { feature: 'F-escalated' });
    assert.deepEqual([status.success, status.mode], [true, 'many']);
    const [waiting] = status.escalations as JsonObject[];
    assert.deepEqual([waiting?.approval_id, waiting?.agent_id], [answer.approval_id, 'alice']);
    assert.deepEqual(
      (status.claims as JsonObject[]).map(({ agent_id, agent_role }) => [agent_id, agent_role]),
      [['alice', 'tdd_engineer']],
    );
    const { claims } = await bob.call('claims_status', { agent_id: 'bob' });
    assert.deepEqual(claims, []);
    await alice.call('release_edge', asked);
  },

  '[CLAIM-1] a claim that is put wrong says what is wrong, and nothing happens': async (alice) => {
    for (const [input, field] of [
      [{ feature: 'F', edge: '→' }, 'edge'],
      [{ feature: 'F', edge: 'x'.repeat(101) }, 'edge'],
      [{ feature: 'F\u0007', edge: 'design_code' }, 'feature'],
    ] as const) {
      const refused = await alice.call('claim_edge', { ...input });
      assert.deepEqual([refused.error, refused.field], ['invalid_input', field]);
    }
    const { claims } = await alice.call('claims_status', { feature: 'F' });
    assert.deepEqual(claims, []);
  },
};
