import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimRules } from '../../src/features/claims/claim-rules.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { SEED_RULES, TestFleet } from '../support/fleet.ts';
import { type Pace, paced } from '../support/paced.ts';
import { until, WAIT_MS_MAX } from '../support/until.ts';
import type { Scene } from './suite.ts';

const EDGE = 'design→code';
const STALE_MS = 300;
/** Where something has to happen before the time is up, at first; on a slow machine more of it. */
const FIRST_MS = 400;

const staleOf = (status: JsonObject) => (status.stale as JsonObject[]).map(({ feature }) => feature);

/** What silence does to a claim, by the store's clock; and the mode in which no agent claims. */
export function claimTimeCases(scene: Scene): void {
  const at = scene.engine;
  /** Every case has its project, so that one's silence is not another's. */
  const open = (project: string) => scene.fixture().open({ project, presence: { touch_ms: 60_000 } });
  const fleetOf = async (project: string, rules: Partial<ClaimRules> = {}) =>
    new TestFleet(await open(project), { ...SEED_RULES, ...rules });
  const inTime = (
    name: string,
    rules: (limit_ms: number) => Partial<ClaimRules>,
    attempt: (fleet: TestFleet, pace: Pace) => Promise<void>,
  ) =>
    paced(FIRST_MS, async (pace) =>
      attempt(await fleetOf(`${name}-${pace.attempt}`, rules(pace.limit_ms)), pace),
    );
  const staleAfter = (stale_ms: number) => ({ stale_ms });
  const endsAfter = (ttl_ms: number) => ({ ttl_ms });
  /** The test looks until it is said; at the very moment it is due, it may be shown before it is said. */
  const becomesStale = (fleet: TestFleet, feature: string, times = 1) =>
    until(
      async () => {
        const shown = staleOf(await fleet.agent('looker')('claims_status', {}));
        const said = (await fleet.story(feature)).filter((type) => type === 'claim_expired');
        return shown.includes(feature) && said.length === times;
      },
      2 * fleet.rules.stale_ms + WAIT_MS_MAX,
    );

  test(`[CLAIM-4] ${at}: a silent claim is said to be stale once, and stays`, async () => {
    const fleet = await fleetOf('claims-stale', { stale_ms: STALE_MS });
    const [a, b] = [fleet.agent('a'), fleet.agent('b')];
    await a('claim_edge', { feature: 'S', edge: EDGE });
    await becomesStale(fleet, 'S');
    for (let look = 0; look < 3; look += 1) await b('claims_status', {});
    const refused = await b('claim_edge', { feature: 'S', edge: EDGE });
    assert.deepEqual([refused.action, refused.held_by, refused.stale], ['claim_rejected', 'a', true]);
    const story = await fleet.story('S');
    assert.deepEqual(story, ['edge_started', 'claim_expired', 'claim_rejected'], 'once per silence');
    const row = (await fleet.rows('S'))[1];
    const expired = row?.events.find(({ type }) => type === 'claim_expired');
    assert.deepEqual(
      [row?.agent_id, expired?.data.held_by, expired?.data.source],
      ['coxswain', 'a', 'coordinator'],
    );
    assert.ok(Number.isInteger(expired?.data.seconds_idle));
    assert.ok(
      row?.events.some(({ type }) => type === 'notice_raised'),
      'people are told',
    );
  });

  test(`[CLAIM-4] ${at}: our own signal is no sign of its holder, and a sign ends the silence`, async () => {
    await inTime('claims-signal', staleAfter, async (fleet, pace) => {
      const a = fleet.agent('a');
      const claimed = await a('claim_edge', { feature: 'S', edge: EDGE });
      await becomesStale(fleet, 'S');
      const [stale] = (await a('claims_status', {})).stale as JsonObject[];
      assert.equal(
        stale?.last_active,
        claimed.claimed_at,
        'looking at it renews nothing, nor does the signal',
      );
      const renewed = await pace.within(async () => {
        await a('heartbeat_claim', { feature: 'S', edge: EDGE });
        return await a('claims_status', {});
      });
      assert.deepEqual(staleOf(renewed), []);
      await becomesStale(fleet, 'S', 2);
      assert.deepEqual(await fleet.story('S'), [
        'edge_started',
        'claim_expired',
        'claim_renewed',
        'claim_expired',
      ]);
    });
  });

  test(`[CLAIM-4] ${at}: silence counts by claim: work on one keeps no other alive`, async () => {
    await inTime('claims-apart', staleAfter, async (fleet, pace) => {
      const a = fleet.agent('a');
      const beat = pace.beating();
      await a('claim_edge', { feature: 'quiet', edge: EDGE });
      await beat(() => a('claim_edge', { feature: 'busy', edge: EDGE }));
      await pace.until(() =>
        beat(async () => {
          await a('heartbeat_claim', { feature: 'busy', edge: EDGE });
          return staleOf(await a('claims_status', {})).includes('quiet');
        }),
      );
      assert.ok(!(await fleet.story('busy')).includes('claim_expired'));
    });
  });

  test(`[CLAIM-4] ${at}: eight lookers at once say it once`, async () => {
    const { store, project } = await open('claims-lookers');
    const fleet = await fleetOf(project, { stale_ms: STALE_MS });
    for (let n = 0; n < 4; n += 1) await fleet.agent('a')('claim_edge', { feature: `S${n}`, edge: EDGE });
    const last = await fleet.agent('a')('claim_edge', { feature: 'S4', edge: EDGE });
    const due_ms = Date.parse(last.claimed_at as string) + STALE_MS;
    await until(async () => (await store.find(project, {})).now_ms > due_ms);
    await Promise.all(Array.from({ length: 8 }, (_, n) => fleet.agent(`looker-${n}`)('claims_status', {})));
    for (let n = 0; n < 5; n += 1)
      assert.deepEqual(await fleet.story(`S${n}`), ['edge_started', 'claim_expired']);
  });

  test(`[CLAIM-4] ${at}: a person decides what becomes of a stale claim, and nobody else`, async () => {
    await inTime('claims-resolve', staleAfter, async (fleet, pace) => {
      const [a, b, ann] = [fleet.agent('a'), fleet.agent('b'), fleet.person()];
      const asked = { feature: 'S', edge: 'design_code' };
      const fresh = await pace.within(async () => {
        await a('claim_edge', { feature: 'S', edge: EDGE });
        return await ann('resolve_stale_claim', { feature: 'S', edge: EDGE, decision: 'release' });
      });
      assert.equal(fresh.success, false, 'it is not stale');
      await becomesStale(fleet, 'S');
      const agents = await b('resolve_stale_claim', { ...asked, decision: 'release' });
      assert.equal(agents.error, 'person_required');
      assert.equal((await ann('resolve_stale_claim', { ...asked, decision: 'keep' })).success, true);
      const kept = await b('claims_status', {});
      assert.deepEqual(staleOf(kept), [], 'seen, and all right');
      assert.equal((kept.claims as JsonObject[])[0]?.kept_by, 'person:ann');
      assert.equal((await b('claim_edge', asked)).held_by, 'a');
      const freed = await ann('resolve_stale_claim', { ...asked, decision: 'release', reason: 'a is gone' });
      assert.equal(freed.success, true, JSON.stringify(freed));
      const last = (await fleet.events('S')).at(-1);
      assert.deepEqual(
        [last?.type, last?.data.agent_id, last?.data.released_by, last?.data.cause, last?.data.reason],
        ['edge_released', 'a', 'person:ann', 'person', 'a is gone'],
      );
      assert.equal((await b('claim_edge', asked)).action, 'edge_started');
      // Back from its silence it finds that it has nothing.
      for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge'])
        assert.equal((await a(operation, asked)).error, 'superseded', operation);
    });
  });

  test(`[CLAIM-4] ${at}: released by itself only where the rules say so`, async () => {
    const fleet = await fleetOf('claims-auto', { stale_ms: STALE_MS, stale_action: 'auto_release' });
    await fleet.agent('a')('claim_edge', { feature: 'S', edge: EDGE });
    await until(
      async () => (await fleet.agent('b')('claim_edge', { feature: 'S', edge: EDGE })).success === true,
    );
    const events = (await fleet.events('S')).filter(({ type }) => type !== 'claim_rejected');
    assert.deepEqual(
      events.map(({ type, data }) => `${type} ${data.cause ?? ''}`.trim()),
      ['edge_started', 'claim_expired', 'edge_released stale', 'edge_started'],
    );
  });

  test(`[CLAIM-4] ${at}: a hard end frees by itself, and the log says why`, async () => {
    await inTime('claims-ttl', endsAfter, async (fleet, pace) => {
      const [a, b] = [fleet.agent('a'), fleet.agent('b')];
      const asked = { feature: 'S', edge: EDGE };
      const got = await a('claim_edge', asked);
      assert.equal(
        Date.parse(got.expires_at as string) - Date.parse(got.claimed_at as string),
        pace.limit_ms,
      );
      const beat = pace.beating();
      const next = await pace.until(async () => {
        const answer = await beat(() => b('claim_edge', asked));
        return answer.success === true && answer;
      });
      assert.ok(Date.parse(next.claimed_at as string) >= Date.parse(got.expires_at as string), 'not before');
      // While it is the new holder's; its time runs, too.
      await beat(async () => {
        const late = await a('converge_edge', asked);
        assert.equal(late.error, 'superseded', 'the old holder’s work is not taken');
        assert.equal((await b('heartbeat_claim', asked)).success, true);
      });
      const row = (await fleet.rows('S')).find(({ events }) =>
        events.some(({ type }) => type === 'edge_released'),
      );
      const mine = row?.events.filter(({ kind }) => kind === 'claim') ?? [];
      assert.deepEqual(
        mine.map(({ type, data }) => `${type} ${data.cause ?? ''}`.trim()),
        ['edge_released ttl', 'edge_started'],
        'in one commit',
      );
      assert.equal(mine[0]?.data.agent_id, 'a');
    });
  });

  test(`[CLAIM-11] ${at}: a heartbeat moves the hard end; an active claim never ends`, async () => {
    await inTime('claims-alive', endsAfter, async (fleet, pace) => {
      const [a, b] = [fleet.agent('a'), fleet.agent('b')];
      const asked = { feature: 'S', edge: EDGE };
      const start_ms = performance.now();
      const beat = pace.beating();
      await beat(() => a('claim_edge', asked));
      await pace.until(() =>
        beat(async () => {
          const sign = await a('heartbeat_claim', asked);
          assert.equal(sign.success, true, JSON.stringify(sign));
          assert.equal(
            Date.parse(sign.expires_at as string) - Date.parse(sign.last_active as string),
            pace.limit_ms,
          );
          assert.equal((await b('claim_edge', asked)).action, 'claim_rejected');
          return performance.now() - start_ms > 1.5 * pace.limit_ms;
        }),
      );
    });
  });

  singleCases(at, fleetOf);
}

function singleCases(at: string, fleetOf: (project: string) => Promise<TestFleet>): void {
  test(`[CLAIM-6] ${at}: alone there is no claim step, and the log is the same`, async () => {
    const fleet = await fleetOf('claims-single');
    const set = await fleet.person()('set_claim_mode', { mode: 'single', second_agent: 'refuse' });
    assert.equal(set.success, true, JSON.stringify(set));
    const primary = fleet.agent('primary');
    assert.equal((await primary('claims_status', {})).mode, 'single');
    const done = await primary('converge_edge', { feature: 'S', edge: EDGE });
    assert.equal(done.action, 'edge_converged', JSON.stringify(done));
    const [row] = await fleet.rows('S');
    assert.deepEqual(
      row?.events
        .filter(({ kind }) => kind === 'claim')
        .map(({ type, data }) => `${type} ${data.agent_role}`),
      ['edge_started full_stack', 'edge_converged full_stack'],
    );
    await primary('heartbeat_claim', { feature: 'T', edge: EDGE, iteration: 1 });
    assert.deepEqual(await fleet.story('T'), ['edge_started', 'iteration_completed']);
    const second = await fleet.agent('second')('claim_edge', { feature: 'U', edge: EDGE });
    assert.equal(second.success, false, 'a second agent is refused');
    assert.deepEqual(await fleet.story('U'), []);
    assert.equal((await primary('claims_status', {})).mode, 'single');
  });

  test(`[CLAIM-6] ${at}: a second agent turns one into many, and the log says so`, async () => {
    const fleet = await fleetOf('claims-switch');
    await fleet.person()('set_claim_mode', { mode: 'single' });
    const primary = fleet.agent('primary');
    await primary('heartbeat_claim', { feature: 'S', edge: EDGE });
    const second = await fleet.agent('second')('claim_edge', { feature: 'U', edge: EDGE });
    assert.equal(second.success, true, JSON.stringify(second));
    const row = (await fleet.rows('U')).at(-1);
    const types = row?.events.map(({ type }) => type) ?? [];
    assert.ok(types.includes('claim_mode_changed') && types.includes('edge_started'), types.join());
    assert.equal((await primary('claims_status', {})).mode, 'many');
    const now = await primary('converge_edge', { feature: 'V', edge: EDGE });
    assert.equal(now.error, 'edge_not_started', 'among many there is a claim step');
    assert.equal(
      (await fleet.agent('second')('claim_edge', { feature: 'S', edge: EDGE })).held_by,
      'primary',
    );
  });
}
