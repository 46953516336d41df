import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetService } from '../../src/features/claims/fleet/fleet.ts';
import { lookAround } from '../../src/features/overview/take-overview.ts';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { signalStaleClaims } from '../../src/runtime/background-maintenance.ts';
import { housekeeperOf } from '../../src/runtime/housekeeper.ts';
import { operationsByName } from '../../src/runtime/operation-list.ts';
import { agent } from '../conformance/engine.ts';
import { until } from '../support/until.ts';

const STALE_MS = 1800 * 1000;
const EDGE = { feature: 'F-1', edge: 'design_code' };

/** A store in memory whose time can be set forward. */
async function place() {
  const clock = { ...systemClock, forward_ms: 0, now_ms: () => systemClock.now_ms() + clock.forward_ms };
  let news = 0;
  const announce = () => {
    news += 1;
  };
  const coxswain = await open({ store: 'memory:', clock, announce, presence: 'off' });
  const events = async (type: string) => {
    const { entries } = await coxswain.store.read(coxswain.project, 0, 1000);
    return entries
      .flatMap((row) => row.events.map((event) => ({ ...event, by: row.agent_id })))
      .filter((each) => each.type === type);
  };
  return { clock, coxswain, events, news: () => news };
}

test('[CLAIM-4] whoever is rejected by a silent holder says that it is, once, and people are told', async () => {
  const { clock, coxswain, events, news } = await place();
  const [ann, ben] = [agent(coxswain, 'ann'), agent(coxswain, 'ben')];
  await ann('claim_edge', EDGE);
  assert.equal((await ben('claim_edge', EDGE)).stale, false);
  assert.deepEqual([(await events('claim_expired')).length, news()], [0, 0]);
  clock.forward_ms += STALE_MS;
  for (let time = 0; time < 2; time += 1) assert.equal((await ben('claim_edge', EDGE)).stale, true);
  const [expired, ...more] = await events('claim_expired');
  assert.deepEqual([expired?.by, expired?.data.held_by, more.length, news()], ['coxswain', 'ann', 0, 1]);
  assert.equal(((await ben('claims_status', {})).stale as JsonObject[])[0]?.held_by, 'ann');
  assert.equal((await events('claim_rejected')).length, 3);
});

test('[CLAIM-4] many that fell silent together are all told, by whoever looks or tends', async () => {
  for (const way of ['status', 'tending'] as const) {
    const { clock, coxswain, events } = await place();
    const ann = agent(coxswain, 'ann');
    for (let index = 0; index < 70; index += 1) await ann('claim_edge', { ...EDGE, feature: `F-${index}` });
    clock.forward_ms += STALE_MS;
    const look = () =>
      way === 'status' ? ann('claims_status', {}) : signalStaleClaims(coxswain, housekeeperOf(coxswain));
    await Promise.all([look(), look()]);
    await look();
    const expired = await events('claim_expired');
    assert.deepEqual([expired.length, new Set(expired.map(({ id }) => id)).size], [70, 70], way);
  }
});

test('[CLAIM-1] waiting: whoever waits gets it when it is free, and leaves no rejection behind', async () => {
  const { coxswain, events } = await place();
  const [ann, ben] = [agent(coxswain, 'ann'), agent(coxswain, 'ben')];
  for (const free of ['release_edge', 'converge_edge']) {
    await ann('claim_edge', { ...EDGE, agent_role: 'full_stack' });
    const waiting = ben('claim_edge', { ...EDGE, wait_seconds: 60 });
    await until(async () => (await ann('claims_status', {})).success === true);
    await ann(free, EDGE);
    assert.equal((await waiting).action, 'edge_started', free);
    await ben('release_edge', EDGE);
  }
  assert.deepEqual(await events('claim_rejected'), []);
  await ann('claim_edge', EDGE);
  const inVain = await ben('claim_edge', { ...EDGE, wait_seconds: 0.05, operation_id: 'in-vain' });
  assert.deepEqual([inVain.action, inVain.held_by, inVain.suggestion], ['claim_rejected', 'ann', null]);
  assert.equal((await events('claim_rejected')).length, 1);
});

test('[CLAIM-3] a connection means its own grant: what came back after another had it changes nothing', async () => {
  const { coxswain } = await place();
  const [old, young] = [agent(coxswain, 'ann', 's1'), agent(coxswain, 'ann', 's2')];
  await old('claim_edge', { ...EDGE, agent_role: 'full_stack' });
  await young('claim_edge', EDGE);
  for (const end of ['converge_edge', 'release_edge', 'heartbeat_claim'])
    assert.equal((await old(end, EDGE)).error, 'superseded', end);
  assert.equal((await young('converge_edge', EDGE)).action, 'edge_converged');
  assert.equal((await young('converge_edge', EDGE)).error, 'edge_not_started');
});

test('[CLAIM-3] an answer that comes again ends only the grant that it was about', async () => {
  const { coxswain } = await place();
  const [ann, again] = [agent(coxswain, 'ann', 's1'), agent(coxswain, 'ann', 's2')];
  const first = { ...EDGE, operation_id: 'release-1' };
  await ann('claim_edge', EDGE);
  await ann('release_edge', first);
  const { fencing_token } = await ann('claim_edge', EDGE);
  assert.notEqual((await ann('release_edge', first)).fencing_token, fencing_token);
  await again('claim_edge', EDGE);
  assert.equal((await ann('heartbeat_claim', EDGE)).error, 'superseded');
});

test('[CLAIM-12] the overview names stale claims with the command that helps', async () => {
  const { clock, coxswain } = await place();
  await agent(coxswain, 'ann')('claim_edge', { ...EDGE, agent_role: 'architect' });
  const before = await lookAround(coxswain);
  assert.partialDeepStrictEqual(before.seen, {
    needs_you: [],
    edge_claims: [{ agent_id: 'ann', stale: false }],
  });
  clock.forward_ms += STALE_MS;
  const { seen } = await lookAround(coxswain);
  assert.partialDeepStrictEqual(seen.needs_you as JsonObject[], [
    { what: 'stale_claim', agent_id: 'ann', ...EDGE, command: 'cox claim resolve F-1 design_code release' },
  ]);
});

test('[CLAIM-4] only a person resolves, only whoever runs the place sets the mode', async () => {
  const { coxswain } = await place();
  const as = (authority: 'agent' | 'operator', name: string, input: JsonObject) => {
    const operation = operationsByName.get(name);
    assert.ok(operation);
    return coxswain.connect({ agent_id: 'ann' }, authority).perform(operation, input);
  };
  const resolve = { ...EDGE, decision: 'release' };
  for (const authority of ['agent', 'operator'] as const)
    assert.equal((await as(authority, 'resolve_stale_claim', resolve)).error, 'person_required');
  assert.equal((await as('agent', 'set_claim_mode', { mode: 'single' })).error, 'forbidden');
  assert.equal((await as('operator', 'set_claim_mode', { mode: 'single' })).mode, 'single');
});

test('rules with mistakes in them keep nobody from looking, and let nobody claim', async () => {
  const { coxswain } = await place();
  const ann = agent(coxswain, 'ann');
  await ann('claim_edge', EDGE);
  const fleet = coxswain.use(fleetService) as { rules: () => Promise<unknown> };
  const sound = fleet.rules;
  fleet.rules = async () => ({ success: false, error: 'team_invalid', message: 'line 3', remedy: 'mend it' });
  try {
    assert.equal((await ann('claim_edge', EDGE)).message, 'line 3');
    const status = await ann('claims_status', {});
    assert.deepEqual([status.success, (status.claims as unknown[]).length], [true, 1]);
    assert.equal((status.rules as JsonObject).message, 'line 3');
  } finally {
    fleet.rules = sound;
  }
});
