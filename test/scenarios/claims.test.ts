import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { canonical, replay, rowsOf } from '../../src/ledger/replay.ts';
import { stateAt } from '../../src/ledger/time-travel/travel.ts';
import { entities } from '../../src/runtime/entities.ts';
import { decide, type TestFleet } from '../support/fleet.ts';
import { MINUTE_MS, play, SECOND_MS, type Stage } from './stage.ts';

// The decisions of the design that claims come from, each as the story it tells.

const FEATURE = 'REQ-F-AUTH-001';
const EDGE = 'design→code';
const ASKED = { feature: FEATURE, edge: EDGE };

const holders = async (fleet: TestFleet) => {
  const { claims } = await fleet.agent('looker')('claims_status', {});
  return (claims as JsonObject[]).map(({ feature, edge, agent_id }) => `${feature} ${edge}: ${agent_id}`);
};

test('[CLAIM-1] an unclaimed edge is granted: the proposal becomes edge_started', async () => {
  await play(async ({ fleet }) => {
    await fleet.agent('a-01')('claim_edge', { ...ASKED, agent_role: 'architect' });
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started']);
    assert.deepEqual(await holders(fleet), [`${FEATURE} ${EDGE}: a-01`]);
  });
});

test('[CLAIM-1] of two who propose the same the first has it, and the second is told by whom and what else', async () => {
  await play(async ({ fleet, time }) => {
    await fleet.agent('a-01')('claim_edge', { ...ASKED, agent_role: 'architect' });
    time.pass(MINUTE_MS);
    const refused = await fleet.agent('b-01')('claim_edge', { ...ASKED, agent_role: 'architect' });
    const { success, action, reason, held_by, held_role, claimed_at, last_active } = refused;
    assert.deepEqual(
      { success, action, reason, held_by, held_role, claimed_at, last_active },
      {
        success: false,
        action: 'claim_rejected',
        reason: 'already claimed by a-01',
        held_by: 'a-01',
        held_role: 'architect',
        claimed_at: '2026-02-21T12:00:00.000Z',
        last_active: '2026-02-21T12:00:00.000Z',
      },
    );
    assert.ok('suggestion' in refused && refused.remedy);
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'claim_rejected']);
  });
});

test('[CLAIM-11] its holder claims again and goes on', async () => {
  await play(async ({ fleet, time }) => {
    const a = fleet.agent('a-01');
    const first = await a('claim_edge', ASKED);
    time.pass(29 * MINUTE_MS);
    const again = await a('claim_edge', ASKED);
    assert.deepEqual([again.renewed, again.fencing_token], [true, first.fencing_token]);
    time.pass(29 * MINUTE_MS);
    assert.deepEqual((await a('claims_status', {})).stale, [], 'the second claim was a sign');
  });
});

test('[CLAIM-3] one converges and another claims in the same pass, at the same moment: granted', async () => {
  await play(async ({ fleet }) => {
    const [a, b] = [fleet.agent('a-01'), fleet.agent('b-01')];
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    const [done, next] = await Promise.all([
      a('converge_edge', { ...ASKED, evaluators: '3/3' }),
      // Proposed at once; on this store the calls are decided in the order in which they came.
      b('claim_edge', { ...ASKED, agent_role: 'architect' }),
    ]);
    assert.equal(done.action, 'edge_converged');
    const story = await fleet.story(FEATURE);
    if (next.success !== true) await b('claim_edge', { ...ASKED, agent_role: 'architect' });
    assert.deepEqual(await holders(fleet), [`${FEATURE} ${EDGE}: b-01`], story.join());
    const rows = await fleet.rows(FEATURE);
    assert.equal(new Set(rows.map(({ at_ms }) => at_ms)).size, 1, 'no time has passed');
  });
});

test('[CLAIM-3] given up, it is free for the next', async () => {
  await play(async ({ fleet }) => {
    await fleet.agent('a-01')('claim_edge', ASKED);
    await fleet.agent('a-01')('release_edge', { ...ASKED, reason: 'needs the schema first' });
    assert.equal((await fleet.agent('b-01')('claim_edge', ASKED)).success, true);
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'edge_released', 'edge_started']);
  });
});

test('[CLAIM-5] who converges outside its authority is held for a person, who lets it pass', async () => {
  await play(async ({ fleet, time }) => {
    const a = fleet.agent('a-01');
    await a('claim_edge', { ...ASKED, agent_role: 'tdd_engineer' });
    const { approval_id, action } = await a('converge_edge', ASKED);
    assert.equal(action, 'convergence_escalated');
    assert.deepEqual(await holders(fleet), [`${FEATURE} ${EDGE}: a-01`]);
    time.pass(10 * MINUTE_MS);
    const { health } = await a('claims_status', {});
    assert.deepEqual((health as JsonObject).escalations, 1);
    await decide(fleet.person('ann'), String(approval_id), 'approve');
    assert.deepEqual(await holders(fleet), []);
    assert.deepEqual(await fleet.story(FEATURE), [
      'edge_started',
      'convergence_escalated',
      'review_completed',
      'edge_converged',
    ]);
    assert.equal((await fleet.events(FEATURE)).at(-1)?.data.approved_by, 'person:ann');
  });
});

test('[CLAIM-5] without a file only full_stack converges among many', async () => {
  await play(
    async ({ fleet }) => {
      for (const [agent_id, agent_role, outcome] of [
        ['a-01', 'architect', 'convergence_escalated'],
        ['b-01', 'full_stack', 'edge_converged'],
        ['c-01', undefined, 'convergence_escalated'],
      ] as const) {
        const asked = { feature: `F-${agent_id}`, edge: EDGE };
        await fleet.agent(agent_id)('claim_edge', { ...asked, agent_role });
        assert.equal((await fleet.agent(agent_id)('converge_edge', asked)).action, outcome, agent_id);
      }
    },
    { file: undefined, roles: { full_stack: { converge_edges: ['all'] } } },
  );
});

test('[CLAIM-4] half an hour without a sign on a claim: said once, told to people, and it stays', async () => {
  await play(async ({ fleet, time }) => {
    const [a, b] = [fleet.agent('a-01'), fleet.agent('b-01')];
    await a('claim_edge', ASKED);
    time.pass(30 * MINUTE_MS - 1);
    assert.deepEqual((await b('claims_status', {})).stale, [], 'not a millisecond early');
    time.pass(1);
    const [stale] = (await b('claims_status', {})).stale as JsonObject[];
    assert.deepEqual([stale?.held_by, stale?.seconds_idle], ['a-01', 1800]);
    assert.ok(String(stale?.command).startsWith('cox claim resolve'), 'and what to type');
    for (let hour = 0; hour < 5; hour += 1) {
      time.pass(60 * MINUTE_MS);
      await b('claims_status', {});
      assert.equal((await b('claim_edge', ASKED)).stale, true);
    }
    const said = (await fleet.events(FEATURE)).filter(({ type }) => type === 'claim_expired');
    assert.deepEqual(
      said.map(({ data }) => [data.held_by, data.seconds_idle, data.source]),
      [['a-01', 1800, 'coordinator']],
    );
    assert.deepEqual(await holders(fleet), [`${FEATURE} ${EDGE}: a-01`], 'a person decides');
  });
});

test('[CLAIM-4] a crashed agent’s claim survives the end of its session, until a person frees it', async () => {
  await play(async ({ fleet, time }) => {
    const [a, b] = [fleet.agent('a-01'), fleet.agent('b-01')];
    await a('claim_edge', ASKED);
    time.pass(40 * MINUTE_MS);
    await b('cleanup_dead_agents', {});
    assert.equal((await b('claim_edge', ASKED)).held_by, 'a-01');
    const freed = await fleet.person()('resolve_stale_claim', { ...ASKED, decision: 'release' });
    assert.equal(freed.success, true, JSON.stringify(freed));
    assert.equal((await b('claim_edge', ASKED)).success, true);
    assert.equal((await a('converge_edge', ASKED)).error, 'superseded', 'back from the dead');
  });
});

test('[CLAIM-4] [CLAIM-11] the hard end, where one is set: an hour after the last sign it is over', async () => {
  await play(
    async ({ fleet, time }) => {
      const [a, b] = [fleet.agent('a-01'), fleet.agent('b-01')];
      const got = await a('claim_edge', ASKED);
      assert.equal(got.expires_at, '2026-02-21T13:00:00.000Z');
      time.pass(59 * MINUTE_MS);
      assert.equal((await a('heartbeat_claim', ASKED)).expires_at, '2026-02-21T13:59:00.000Z');
      time.pass(60 * MINUTE_MS - 1);
      assert.equal((await b('claim_edge', ASKED)).held_by, 'a-01');
      time.pass(1);
      assert.equal((await a('heartbeat_claim', ASKED)).success, false, 'too late to renew');
      assert.equal((await b('claim_edge', ASKED)).action, 'edge_started');
      const released = (await fleet.events(FEATURE)).find(({ type }) => type === 'edge_released');
      assert.deepEqual([released?.data.agent_id, released?.data.cause], ['a-01', 'ttl']);
    },
    { ttl_ms: 60 * MINUTE_MS },
  );
});

test('[CLAIM-6] alone, the same work leaves the same log, but for the claim step', async () => {
  const logs: unknown[][] = [];
  const work = async ({ fleet }: Stage, agent_id: string, claims: boolean) => {
    const call = fleet.agent(agent_id);
    if (claims) await call('claim_edge', { ...ASKED, agent_role: 'full_stack' });
    await call('heartbeat_claim', { ...ASKED, iteration: 1 });
    await call('converge_edge', { ...ASKED, iteration: 2, evaluators: '3/3' });
    const events = await fleet.events(FEATURE);
    logs.push(
      events.map(({ type, data }) => [type, Object.keys(data).sort(), data.agent_role, data.evaluators]),
    );
  };
  await play((stage) => work(stage, 'primary', true));
  await play(async (stage) => {
    await stage.fleet.person()('set_claim_mode', { mode: 'single' });
    await work(stage, 'primary', false);
  });
  assert.deepEqual(logs[0], logs[1]);
  assert.equal(logs[0]?.length, 3);
});

test('[AUD-5] assignments are replayed to any point of the past', async () => {
  await play(async ({ fleet, time, coxswain }) => {
    const moments: { at_ms: number; seen: string }[] = [];
    const step = async (call: Promise<JsonObject>) => {
      await call;
      const { state } = await replay(coxswain.store, entities, coxswain.project);
      const live = [...state].filter(([key]) => key.startsWith('claim/'));
      moments.push({ at_ms: time.now_ms(), seen: canonical(Object.fromEntries(live)) });
      time.pass(SECOND_MS);
    };
    const [a, b, ann] = [fleet.agent('a-01'), fleet.agent('b-01'), fleet.person()];
    await step(a('claim_edge', { ...ASKED, agent_role: 'architect' }));
    await step(b('claim_edge', ASKED));
    await step(a('heartbeat_claim', { ...ASKED, iteration: 1 }));
    await step(b('claim_edge', { feature: 'F-2', edge: 'code↔unit_tests' }));
    await step(a('converge_edge', ASKED));
    await step(b('claim_edge', ASKED));
    time.pass(31 * MINUTE_MS);
    await step(a('claims_status', {}));
    await step(ann('resolve_stale_claim', { ...ASKED, decision: 'release' }));
    assert.equal(new Set(moments.map(({ seen }) => seen)).size, moments.length, 'each step is seen');
    for (const { at_ms, seen } of moments) {
      const { state } = await stateAt(rowsOf(coxswain.store, coxswain.project), entities, { at_ms });
      const then = [...state].filter(([key]) => key.startsWith('claim/'));
      assert.equal(canonical(Object.fromEntries(then)), seen);
    }
  });
});
