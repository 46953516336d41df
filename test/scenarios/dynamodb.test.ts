import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { claimEdge } from '../../src/features/claims/operations/claim-edge-operation.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { agent } from '../conformance/engine.ts';
import { Behind } from '../support/dynamodb-behind.ts';
import { decide } from '../support/fleet.ts';
import { itemAt, play, replayDifferences, rowsOf, sortKeys, sweep, touched } from './dynamodb-stage.ts';

// The decisions of the seed for fleets without a shared disk, each as a story.

const FEATURE = 'REQ-F-AUTH-001';
const ASKED = { feature: FEATURE, edge: 'design→code' };
const CLAIM = `CLAIM#${FEATURE}#design_code`;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const COMMIT = 'TransactWriteItems';

test('[CLAIM-10] [CLAIM-2] acquire: two agents, one conditional write each; one is granted, one rejected, nobody reads first', async () => {
  await play(async ({ behind, fleet }) => {
    const [a, b] = [await behind.agent('sf-exec-abc123'), await behind.agent('cicd-pipeline-42')];
    const answers = await Promise.all([a('claim_edge', ASKED), b('claim_edge', ASKED)]);
    const winner = answers.find(({ success }) => success === true);
    const loser = answers.find(({ success }) => success !== true);
    assert.equal(winner?.action, 'edge_started');
    assert.deepEqual([loser?.action, loser?.held_by], ['claim_rejected', winner?.agent_id]);
    // The third is the rejection, decided by what the refused write has shown; then it is told what else there is.
    const [first, second, third, ...then] = behind.asked();
    assert.deepEqual([first, second, third], [COMMIT, COMMIT, COMMIT]);
    assert.ok(
      then.every((operation) => operation === 'Query'),
      then.join(),
    );
    for (const { body } of behind.proxy.requests.slice(0, 2)) {
      const puts = (body.TransactItems as { Put?: JsonObject }[]).filter(
        ({ Put }) => (Put?.Item as JsonObject | undefined)?.state !== undefined,
      );
      const [put] = puts.map(({ Put }) => Put);
      assert.equal(puts.length, 1, 'the claim is the only record');
      assert.equal(put?.ConditionExpression, 'attribute_not_exists(PK)');
      assert.ok(touched(body).includes(`Put ${CLAIM}`));
    }
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'claim_rejected']);
  });
});

test('[CLAIM-10] the claim record has the attributes of the seed', async () => {
  await play(
    async ({ behind, fleet }) => {
      const { claimed_at } = await fleet.agent('a')('claim_edge', { ...ASKED, agent_role: 'tdd_engineer' });
      const item = await itemAt(behind, CLAIM);
      assert.deepEqual(
        [item?.PK?.S, item?.agent_id?.S, item?.agent_role?.S, item?.claimed_at?.S, item?.last_active?.S],
        ['default', 'a', 'tdd_engineer', claimed_at, claimed_at],
      );
      const end_s = Math.ceil(Date.parse(String(claimed_at)) / 1000) + HOUR_S;
      assert.equal(item?.ttl?.N, String(end_s), 'as other clients of the table write it');
    },
    { ttl_ms: HOUR_S * 1000 },
  );
});

test('[CLAIM-10] [CLAIM-4] a heartbeat is one request; convergence and abandonment free the claim in one commit with their events', async () => {
  await play(async ({ behind, fleet, another }) => {
    const [a, b] = [fleet.agent('a'), (await another()).agent('b')];
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    behind.proxy.requests.length = 0;
    assert.equal((await a('heartbeat_claim', ASKED)).success, true);
    assert.deepEqual(behind.asked(), [COMMIT]);
    assert.equal((await a('converge_edge', ASKED)).success, true);
    assert.equal((await b('claim_edge', ASKED)).success, true);
    assert.equal((await b('release_edge', { ...ASKED, reason: 'cancelled' })).success, true);
    assert.equal((await itemAt(behind, CLAIM))?.agent_id, undefined, 'nobody has it');
    assert.equal((await a('claim_edge', ASKED)).success, true);
    assert.deepEqual(await fleet.story(FEATURE), [
      ...['edge_started', 'claim_renewed', 'edge_converged'],
      ...['edge_started', 'edge_released', 'edge_started'],
    ]);
  });
});

test('[CLAIM-10] [CLAIM-4] TTL deletes late: what has run out holds nobody up, and the end is written down with the next start', async () => {
  await play(
    async (stage) => {
      const { behind, fleet, another, pass } = stage;
      const [a, b] = [fleet.agent('a'), (await another()).agent('b')];
      const first = await a('claim_edge', ASKED);
      await pass(HOUR_S - 60);
      assert.equal((await b('claim_edge', ASKED)).held_by, 'a', 'still its own');
      await pass(120);
      assert.equal((await itemAt(behind, CLAIM))?.agent_id?.S, 'a', 'nobody has swept it yet');
      for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge'])
        assert.equal((await a(operation, ASKED)).success, false, operation);
      const second = await b('claim_edge', ASKED);
      assert.equal(second.success, true);
      assert.ok(Number(second.fencing_token) > Number(first.fencing_token));
      const last = (await fleet.rows(FEATURE)).at(-1);
      assert.deepEqual(
        last?.events.map(({ type, data }) => [type, data.cause]),
        [
          ['edge_released', 'ttl'],
          ['edge_started', undefined],
        ],
      );
      assert.deepEqual(await replayDifferences(stage), []);
    },
    { ttl_ms: HOUR_S * 1000 },
  );
});

for (const order of ['before', 'after'] as const)
  test(`[CLAIM-10] [CLAIM-3] TTL deletes what a stale holder remembers; it comes back ${order} the next one has claimed`, async () => {
    await play(
      async (stage) => {
        const { behind, fleet, another, pass } = stage;
        const [a, b] = [fleet.agent('a'), (await another()).agent('b')];
        const first = await a('claim_edge', { ...ASKED, agent_role: 'architect' });
        await pass(3 * DAY_S);
        await sweep(behind, CLAIM);
        const comesBack = async () => {
          for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge']) {
            const own = { ...ASKED, fencing_token: first.fencing_token };
            assert.equal((await a(operation, ASKED)).success, false, operation);
            assert.equal((await a(operation, own)).success, false, `${operation} with its token`);
          }
        };
        if (order === 'before') await comesBack();
        const second = await b('claim_edge', { ...ASKED, agent_role: 'architect' });
        assert.equal(second.success, true);
        assert.ok(Number(second.fencing_token) > Number(first.fencing_token), 'tokens still grow');
        await comesBack();
        assert.equal((await b('converge_edge', ASKED)).success, true);
        assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'edge_started', 'edge_converged']);
        assert.deepEqual(await replayDifferences(stage), [], 'the log says that it was made anew');
      },
      { ttl_ms: HOUR_S * 1000 },
    );
  });

test('[CLAIM-10] [CLAIM-3] a holder that remembers its claim and has lost it meanwhile ends nothing of the next one’s', async () => {
  await play(async ({ fleet, another }) => {
    const elsewhere = await another();
    const [a, b] = [fleet.agent('a'), elsewhere.agent('b')];
    await a('claim_edge', { ...ASKED, agent_role: 'architect' });
    const freed = { ...ASKED, decision: 'release', even_if_active: true };
    assert.equal((await elsewhere.person()('resolve_stale_claim', freed)).success, true);
    assert.equal((await b('claim_edge', ASKED)).success, true);
    for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge'])
      assert.equal((await a(operation, ASKED)).success, false, operation);
    assert.equal((await b('heartbeat_claim', ASKED)).success, true);
  });
});

test('[CLAIM-10] TTL deletes a claim that nobody asks for again: it is listed nowhere', async () => {
  await play(
    async ({ behind, fleet, pass }) => {
      const a = fleet.agent('a');
      await a('claim_edge', ASKED);
      await pass(3 * DAY_S);
      await sweep(behind, CLAIM);
      const { claims, stale } = await a('claims_status', {});
      assert.deepEqual([claims, stale], [[], []]);
    },
    { ttl_ms: HOUR_S * 1000 },
  );
});

test('[CLAIM-10] [CLAIM-4] stale after half an hour: said once, shown, and not released', async () => {
  await play(async ({ behind, fleet, another, pass }) => {
    const [a, b] = [fleet.agent('a'), (await another()).agent('b')];
    await a('claim_edge', ASKED);
    await pass(31 * 60);
    for (let look = 0; look < 3; look += 1) {
      const { stale } = await b('claims_status', {});
      assert.deepEqual(
        (stale as JsonObject[]).map(({ feature, held_by }) => [feature, held_by]),
        [[FEATURE, 'a']],
      );
    }
    const refused = await b('claim_edge', ASKED);
    assert.deepEqual([refused.held_by, refused.stale], ['a', true]);
    assert.equal((await itemAt(behind, CLAIM))?.agent_id?.S, 'a');
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'claim_expired', 'claim_rejected']);
  });
});

test('[CLAIM-10] [CLAIM-5] a convergence outside the role is escalated, and a person lets it pass', async () => {
  await play(async ({ fleet }) => {
    const a = fleet.agent('a');
    await a('claim_edge', { ...ASKED, agent_role: 'tdd_engineer' });
    const asked = await a('converge_edge', ASKED);
    assert.equal(asked.action, 'convergence_escalated');
    await decide(fleet.person(), String(asked.approval_id), 'approve');
    const story = await fleet.story(FEATURE);
    assert.deepEqual(story.slice(0, 2), ['edge_started', 'convergence_escalated']);
    assert.ok(story.includes('edge_converged'), story.join());
  });
});

test('[CLAIM-10] [CLAIM-6] alone: no claim step and nothing to claim; what is begun has one record, so that a second agent finds it', async () => {
  await play(async ({ behind, coxswain, fleet }) => {
    const primary = fleet.agent('a');
    assert.equal((await fleet.person()('set_claim_mode', { mode: 'single' })).success, true);
    assert.deepEqual(await sortKeys(behind, 'CLAIM#'), []);
    behind.proxy.requests.length = 0;
    assert.equal((await primary('heartbeat_claim', { ...ASKED, iteration: 1 })).success, true);
    assert.deepEqual(await fleet.story(FEATURE), ['edge_started', 'iteration_completed']);
    assert.deepEqual(await sortKeys(behind, 'CLAIM#'), [CLAIM]);
    assert.equal((await primary('converge_edge', ASKED)).success, true);
    assert.equal((await itemAt(behind, CLAIM))?.agent_id, undefined);
    assert.equal(coxswain.project, 'default');
  });
});

test('[CLAIM-6] [CLAIM-10] alone and without a name: the rows of the table say `primary`, not the process', async () => {
  await play(async ({ behind, coxswain, fleet }) => {
    assert.equal((await fleet.person()('set_claim_mode', { mode: 'single' })).success, true);
    const unnamed = coxswain.connect({ agent_type: 'cli' });
    const input = { ...ASKED, agent_role: 'full_stack' };
    assert.equal((await unnamed.perform(claimEdge, input)).success, true);
    const rows = await rowsOf(behind);
    const [started] = rows.filter((row) => row.feature_id?.S === FEATURE);
    assert.deepEqual([started?.event_type?.S, started?.agent_id?.S], ['edge_started', 'primary']);
  });
});

test('[CLAIM-10] [CLAIM-6] a change of mode and a claim can’t both win, whatever a process remembers', async () => {
  await play(async ({ fleet, another }) => {
    const [a, b] = [fleet.agent('a'), (await another()).agent('b')];
    await b('claim_edge', { ...ASKED, feature: 'F-before' });
    await b('release_edge', { ...ASKED, feature: 'F-before' });
    await a('claim_edge', ASKED);
    const alone = { mode: 'single', second_agent: 'refuse' };
    assert.equal((await fleet.person()('set_claim_mode', alone)).success, true);
    // It has seen a project of many, a moment ago.
    assert.equal((await b('claim_edge', { ...ASKED, feature: 'F-after' })).success, false);
    assert.deepEqual(await fleet.story('F-after'), []);
  });
});

test('[CLAIM-10] claims on different pairs have no item in common', async () => {
  await play(async ({ behind }) => {
    const [a, b] = [await behind.agent('a'), await behind.agent('b')];
    await Promise.all([
      a('claim_edge', ASKED),
      b('claim_edge', { feature: 'REQ-F-PAY-001', edge: 'design→code' }),
    ]);
    const [first, second, ...more] = behind.proxy.requests.map(({ body }) => touched(body));
    assert.deepEqual(more, []);
    assert.ok((first?.length ?? 0) > 2);
    assert.deepEqual(
      first?.filter((item) => second?.includes(item)),
      [],
    );
  });
});

test('[CLAIM-10] [CLAIM-4] the hard end is an hour unless the file says otherwise, and on this store alone', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'cox-hard-end-'));
  const lasts_s = ({ claimed_at, expires_at }: JsonObject) =>
    (Date.parse(String(expires_at)) - Date.parse(String(claimed_at))) / 1000;
  try {
    await using behind = await Behind.start();
    const claim = async (agent_id: string, feature: string) =>
      agent(await behind.open({ cwd }), agent_id)('claim_edge', { ...ASKED, feature });
    assert.equal(lasts_s(await claim('a', 'F-1')), HOUR_S);
    await writeFile(join(cwd, 'agent_roles.yml'), 'roles:\n  architect:\n    converge_edges: [all]\n');
    assert.equal(lasts_s(await claim('b', 'F-2')), HOUR_S, 'a file that says nothing about it');
    await writeFile(join(cwd, 'agent_roles.yml'), 'claim_protocol:\n  claim_ttl_seconds: 120\n');
    assert.equal(lasts_s(await claim('c', 'F-3')), 120);
    await rm(join(cwd, 'agent_roles.yml'));
    const other = await open({ store: 'memory:', cwd, env: {} });
    const { expires_at } = await agent(other, 'a')('claim_edge', ASKED);
    assert.equal(expires_at, null);
    await other.close();
  } finally {
    await rm(cwd, { recursive: true });
  }
});
