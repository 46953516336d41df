import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalStaleClaims } from '../../src/features/claims/commands.ts';
import { claimEntity, claimEvent } from '../../src/features/claims/edge-claim.ts';
import { HOUSEKEEPER } from '../../src/ledger/log.ts';
import { MINUTE_MS, play, type Stage } from './stage.ts';

// Faults that other coordinators of claims were seen to have, each as the test that it would fail.

const FEATURE = 'F-1';
const EDGE = 'design→code';
const ASKED = { feature: FEATURE, edge: EDGE };

test('[CLAIM-3] fault: a release by somebody else frees the claim', async () => {
  await play(async ({ fleet }) => {
    await fleet.agent('a')('claim_edge', ASKED);
    assert.equal((await fleet.agent('b')('release_edge', ASKED)).error, 'not_holder');
    assert.equal((await fleet.agent('c')('claim_edge', ASKED)).held_by, 'a');
  });
});

test('[CLAIM-3] fault: an edge_converged that B writes and that names A frees A’s claim', async () => {
  await play(async ({ fleet }) => {
    const got = await fleet.agent('a')('claim_edge', { ...ASKED, agent_role: 'architect' });
    const forged = { ...ASKED, agent_role: 'architect', fencing_token: got.fencing_token };
    assert.equal((await fleet.agent('b')('converge_edge', forged)).error, 'not_holder');
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started']);
  });
  // A log that others write too: such a row is there, and ends nothing.
  const lease = {
    agent_id: 'a',
    agent_type: 't',
    session_id: 's',
    token: 7,
    granted_at_ms: 1,
    expires_at_ms: 9e15,
  };
  const started = claimEvent(ASKED, 'edge_started', { granted_to: 'a', agent_role: 'architect', lease });
  const held = claimEntity.evolve(undefined, started, 1);
  for (const type of ['edge_converged', 'edge_released', 'claim_renewed', 'iteration_completed']) {
    const after = claimEntity.evolve(held, claimEvent(ASKED, type, { agent_id: 'b' }), 2);
    assert.deepEqual(after, held, type);
  }
});

test('[CLAIM-5] fault: the role is asked at the claim and never again', async () => {
  await play(async ({ fleet }) => {
    const a = fleet.agent('a');
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    // The file has changed since: what counts is who may converge it now.
    fleet.rules = { ...fleet.rules, roles: { architect: { converge_edges: [] } } };
    assert.equal((await a('converge_edge', ASKED)).action, 'convergence_escalated');
  });
});

test('[CLAIM-4] fault: claim_expired counts as a sign of the agent that it is about', async () => {
  await play(async ({ fleet, time }) => {
    const a = fleet.agent('a');
    await a('claim_edge', ASKED);
    time.pass(30 * MINUTE_MS);
    await fleet.agent('b')('claims_status', {});
    const rows = (await fleet.rows(FEATURE)).filter(({ events }) =>
      events.some(({ type }) => type === 'claim_expired'),
    );
    assert.deepEqual(
      rows.map(({ agent_id }) => agent_id),
      [HOUSEKEEPER.agent_id],
    );
    time.pass(MINUTE_MS);
    const refused = await fleet.agent('b')('claim_edge', ASKED);
    assert.deepEqual([refused.stale, refused.last_active], [true, '2026-02-21T12:00:00.000Z']);
  });
});

test('[CLAIM-4] fault: idleness is counted by agent, so that work on one claim keeps all alive', async () => {
  await play(async ({ fleet, time }) => {
    const a = fleet.agent('a');
    await a('claim_edge', ASKED);
    await a('claim_edge', { feature: 'F-2', edge: EDGE });
    for (let beat = 0; beat < 4; beat += 1) {
      time.pass(10 * MINUTE_MS);
      await a('heartbeat_claim', { feature: 'F-2', edge: EDGE });
    }
    const { stale } = await a('claims_status', {});
    assert.deepEqual(
      (stale as { feature: string }[]).map(({ feature }) => feature),
      [FEATURE],
    );
  });
});

test('[CLAIM-3] fault: who comes back from a pause converges what another has taken over', async () => {
  await play(async ({ fleet, time }) => {
    const [paused, next] = [fleet.agent('a'), fleet.agent('b')];
    await paused('claim_edge', { ...ASKED, agent_role: 'architect' });
    time.pass(31 * MINUTE_MS);
    await fleet.person()('resolve_stale_claim', { ...ASKED, decision: 'release' });
    await next('claim_edge', { ...ASKED, agent_role: 'architect' });
    assert.equal((await paused('converge_edge', ASKED)).error, 'superseded');
    assert.equal((await next('converge_edge', ASKED)).success, true);
  });
});

test('[CLAIM-3] fault: converging twice turns what was given up into done', async () => {
  await play(async ({ fleet }) => {
    const a = fleet.agent('a');
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    await a('release_edge', ASKED);
    assert.equal((await a('converge_edge', ASKED)).error, 'edge_not_started');
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'edge_released']);
  });
});

/** What a look that has seen these claims silent at that time does about it, as late as it likes. */
async function sweep(
  { coxswain }: Stage,
  last_active_ms: number,
  stale_action: 'emit_signal' | 'auto_release',
): Promise<string> {
  const seen = [{ ...ASKED, last_active_ms }];
  sweeps += 1;
  const request = {
    project: coxswain.project,
    actor: HOUSEKEEPER,
    sequence: 0,
    operation: 'signal_stale_claims',
    parameters: {},
    operation_id: `sweep-${sweeps}`,
    input_digest: '',
    started_ms: 0,
  };
  const rules = { stale_ms: 30 * MINUTE_MS, stale_action };
  return (await coxswain.store.run(request, signalStaleClaims({ seen, rules }))).status;
}

let sweeps = 0;

test('[CLAIM-4] fault: a sweep that has read stale rows ends what has been worked on since', async () => {
  await play(async (stage) => {
    const { fleet, time } = stage;
    const a = fleet.agent('a');
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    const seen_ms = time.now_ms();
    time.pass(31 * MINUTE_MS);
    await a('heartbeat_claim', ASKED);
    assert.equal(await sweep(stage, seen_ms, 'auto_release'), 'refused');
    await a('converge_edge', ASKED);
    time.pass(60 * MINUTE_MS);
    assert.equal(await sweep(stage, seen_ms, 'auto_release'), 'refused', 'what is done is not revived');
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'claim_renewed', 'edge_converged']);
  });
});

test('[CLAIM-4] fault: each who has seen the same silence says it', async () => {
  await play(async (stage) => {
    const { fleet, time } = stage;
    await fleet.agent('a')('claim_edge', ASKED);
    const seen_ms = time.now_ms();
    time.pass(31 * MINUTE_MS);
    assert.equal(await sweep(stage, seen_ms, 'emit_signal'), 'committed');
    assert.equal(await sweep(stage, seen_ms, 'emit_signal'), 'refused');
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'claim_expired']);
  });
});

test('[CLAIM-4] fault: the end of one session takes away what its agent’s others have', async () => {
  await play(async ({ fleet }) => {
    const [old, young] = [fleet.agent('a', 'old'), fleet.agent('a', 'young')];
    await old('claim_edge', { feature: 'F-old', edge: EDGE });
    await young('claim_edge', ASKED);
    await old('end_session');
    assert.equal((await young('heartbeat_claim', ASKED)).success, true);
    assert.equal((await fleet.agent('b')('claim_edge', { feature: 'F-old', edge: EDGE })).held_by, 'a');
  });
});

test('[CLAIM-2] fault: on a conflict both believe that they have it', async () => {
  await play(async ({ fleet }) => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => fleet.agent(`racer-${n}`)('claim_edge', ASKED)),
    );
    const winners = answers.filter(({ success }) => success === true);
    assert.equal(winners.length, 1);
    for (const answer of answers)
      if (answer !== winners[0])
        assert.deepEqual([answer.action, answer.fencing_token], ['claim_rejected', undefined]);
  });
});

test('[CLAIM-1] fault: design→code and design_code are two claims', async () => {
  await play(async ({ fleet }) => {
    await fleet.agent('a')('claim_edge', ASKED);
    assert.equal((await fleet.agent('b')('claim_edge', { ...ASKED, edge: 'design_code' })).held_by, 'a');
  });
});

test('[CLAIM-4] [CLAIM-5] fault: any process can speak as a person', async () => {
  await play(async ({ fleet, time }) => {
    const a = fleet.agent('a');
    await a('claim_edge', { ...ASKED, agent_role: 'tdd_engineer' });
    const { approval_id } = await a('converge_edge', ASKED);
    const { approval } = await a('show_approval', { approval_id: String(approval_id) });
    const { shown_hash } = approval as { shown_hash: string };
    const b = fleet.agent('b');
    const approved = await b('approve', { approval_id: String(approval_id), shown_hash });
    assert.equal(approved.error, 'person_required');
    time.pass(31 * MINUTE_MS);
    const freed = await b('resolve_stale_claim', { ...ASKED, decision: 'release', even_if_active: true });
    assert.equal(freed.error, 'person_required');
    assert.ok(!(await fleet.story(FEATURE)).includes('edge_converged'));
  });
});

test('[CLAIM-3] a release that is answered again is not about the grant that came after it', async () => {
  await play(async ({ fleet }) => {
    const [first, second] = [fleet.agent('a', 'first'), fleet.agent('a', 'second')];
    await first('claim_edge', ASKED);
    const once = { ...ASKED, operation_id: 'release-once' };
    await first('release_edge', once);
    await first('claim_edge', ASKED);
    // Its answer got lost, so the client asks again and hears the same once more.
    assert.equal((await first('release_edge', once)).success, true);
    await second('claim_edge', ASKED);
    for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge'])
      assert.equal((await first(operation, ASKED)).error, 'superseded', operation);
  });
});

test('[CLAIM-4] [CLAIM-5] a no gives the holder the time it had, and not more', async () => {
  await play(
    async ({ fleet, time }) => {
      const [a, ann] = [fleet.agent('a'), fleet.person()];
      await a('claim_edge', { ...ASKED, agent_role: 'tdd_engineer' });
      const { approval_id } = await a('converge_edge', ASKED);
      time.pass(300 * MINUTE_MS);
      assert.equal((await a('heartbeat_claim', ASKED)).success, true, 'its time stands still meanwhile');
      await ann('deny_approval', { approval_id: String(approval_id), reason: 'no' });
      const [claim] = (await a('claims_status', {})).claims as { expires_at: string }[];
      assert.ok(Date.parse(claim?.expires_at ?? '') - time.now_ms() <= 60 * MINUTE_MS, claim?.expires_at);
    },
    { ttl_ms: 60 * MINUTE_MS },
  );
});
