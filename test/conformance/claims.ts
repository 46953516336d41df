import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, replay, rowsOf } from '../../src/ledger/replay.ts';
import { stateAt } from '../../src/ledger/time-travel/travel.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { TestFleet } from '../support/fleet.ts';
import { convergenceCases } from './claims-roles.ts';
import { claimTimeCases } from './claims-time.ts';
import type { Scene } from './suite.ts';

const EDGE = 'design→code';

const claimOf = (status: JsonObject) =>
  (status.claims as JsonObject[]).map(({ feature, edge, agent_id }) => `${agent_id} ${feature} ${edge}`);

/** Who holds which feature and edge, on a project of its own. */
export function claimCases(scene: Scene): void {
  let fleet: TestFleet;
  let coxswain: Coxswain;
  before(async () => {
    coxswain = await scene.fixture().open({ project: 'claims' });
    fleet = new TestFleet(coxswain);
  });
  holdingCases(scene.engine, () => fleet);
  convergenceCases(scene.engine, () => fleet);
  claimTimeCases(scene);

  test(`[AUD-5] ${scene.engine}: every assignment follows from the log, at the end and at each moment before`, async () => {
    const { store, project } = coxswain;
    const now = await replay(store, entities, project);
    assert.ok([...now.state.keys()].filter((key) => key.startsWith('claim/')).length >= 10);
    assert.deepEqual(await compareWithLive(store, entities, project, now), []);
    for (const row of await fleet.rows('C-convergence')) {
      const then = await stateAt(rowsOf(store, project), entities, { position: row.position - 1 });
      assert.ok(then.position < row.position, 'the past knows nothing of what came later');
    }
  });
}

function holdingCases(at: string, fleet: () => TestFleet): void {
  const holder = async (feature: string, edge = EDGE) => {
    const { claims } = await fleet().agent('looker')('claims_status', { feature });
    return (claims as JsonObject[]).find((claim) => claim.edge === edge)?.agent_id;
  };

  test(`[CLAIM-1] ${at}: a free feature and edge is granted, and the log says edge_started`, async () => {
    const asked = { feature: 'C-grant', edge: EDGE, agent_role: 'architect' };
    const got = await fleet().agent('a')('claim_edge', asked);
    assert.deepEqual(
      [got.success, got.action, got.feature, got.edge, got.agent_id, got.agent_role, got.expires_at],
      [true, 'edge_started', 'C-grant', EDGE, 'a', 'architect', null],
    );
    assert.ok(Number.isSafeInteger(got.fencing_token) && Date.parse(got.claimed_at as string) > 0);
    const [started, ...more] = await fleet().events('C-grant');
    assert.deepEqual(
      [started?.type, started?.data.granted_to, started?.data.agent_role, started?.data.source, more],
      ['edge_started', 'a', 'architect', 'serialiser', []],
    );
  });

  test(`[CLAIM-1] ${at}: who comes second learns who holds it and since when, and that is in the log too`, async () => {
    const asked = { feature: 'C-reject', edge: EDGE };
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const got = await a('claim_edge', { ...asked, agent_role: 'architect' });
    const refused = await b('claim_edge', { ...asked, agent_role: 'full_stack' });
    assert.deepEqual(
      [refused.success, refused.action, refused.reason, refused.held_by, refused.held_role, refused.stale],
      [false, 'claim_rejected', 'already claimed by a', 'a', 'architect', false],
    );
    assert.equal(refused.claimed_at, got.claimed_at);
    assert.ok(refused.last_active && refused.message && refused.remedy);
    assert.equal(refused.suggestion, null, 'no plan, no suggestion');
    const [, rejected, ...more] = await fleet().events('C-reject');
    const { agent_id, agent_role, reason, held_by } = rejected?.data ?? {};
    assert.deepEqual(
      [rejected?.type, agent_id, agent_role, reason, held_by, more],
      ['claim_rejected', 'b', 'full_stack', 'already claimed by a', 'a', []],
    );
    assert.equal(await holder('C-reject'), 'a');
  });

  test(`[CLAIM-1] ${at}: the proposal itself never enters the log`, async () => {
    await fleet().agent('a')('claim_edge', { feature: 'C-proposal', edge: EDGE });
    await fleet().agent('b')('claim_edge', { feature: 'C-proposal', edge: EDGE });
    assert.deepEqual(await fleet().story('C-proposal'), ['edge_started', 'claim_rejected']);
  });

  test(`[CLAIM-1] ${at}: the same question under the same operation id is answered the same, once in the log`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-again', edge: EDGE, operation_id: 'claims-again' };
    const got = await a('claim_edge', asked);
    assert.deepEqual(await a('claim_edge', asked), got, 'not renewed');
    const refused = await b('claim_edge', asked);
    assert.equal(refused.action, 'claim_rejected', 'ids belong to their agent');
    assert.equal((await b('claim_edge', asked)).action, 'claim_rejected');
    assert.deepEqual(await fleet().story('C-again'), ['edge_started', 'claim_rejected']);
  });

  test(`[CLAIM-11] ${at}: the holder claiming again keeps its grant and shows that it is there`, async () => {
    const a = fleet().agent('a');
    const asked = { feature: 'C-renew', edge: EDGE, agent_role: 'architect' };
    const first = await a('claim_edge', asked);
    const again = await a('claim_edge', asked);
    assert.deepEqual(
      [again.success, again.renewed, again.fencing_token, again.claimed_at],
      [true, true, first.fencing_token, first.claimed_at],
    );
    assert.equal(first.renewed, undefined);
    assert.deepEqual(await fleet().story('C-renew'), ['edge_started', 'claim_renewed']);
  });

  test(`[CLAIM-11] ${at}: another session of the holder takes the grant over`, async () => {
    const [old, fresh] = [fleet().agent('a', 'old'), fleet().agent('a', 'fresh')];
    const asked = { feature: 'C-sessions', edge: EDGE };
    const first = await old('claim_edge', asked);
    const again = await fresh('claim_edge', asked);
    assert.ok((again.fencing_token as number) > (first.fencing_token as number));
    assert.equal((await old('converge_edge', asked)).error, 'superseded', 'the old session works on nothing');
    assert.equal((await fresh('release_edge', asked)).success, true);
  });

  test(`[CLAIM-1] ${at}: every spelling of an edge is one claim; features keep their case`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    await a('claim_edge', { feature: 'C-spelling', edge: EDGE });
    for (const edge of ['design_code', 'Design -> Code', 'design-code', 'DESIGN  →  CODE', 'design⇒code'])
      assert.equal((await b('claim_edge', { feature: 'C-spelling', edge })).held_by, 'a', edge);
    const decomposed = 'C-spëlling'.normalize('NFD');
    await a('claim_edge', { feature: decomposed.normalize('NFC'), edge: EDGE });
    assert.equal((await b('claim_edge', { feature: decomposed, edge: EDGE })).held_by, 'a');
    assert.equal((await b('claim_edge', { feature: 'c-SPELLING', edge: EDGE })).success, true);
    assert.equal((await b('claim_edge', { feature: 'C-spelling', edge: 'design→test_cases' })).success, true);
  });

  test(`[CLAIM-2] ${at}: of twenty at once one is granted, and the others are told who`, async () => {
    const crew = Array.from({ length: 20 }, (_, n) => fleet().agent(`racer-${n}`));
    const answers = await Promise.all(
      crew.map((call) => call('claim_edge', { feature: 'C-race', edge: EDGE })),
    );
    const winner = answers.findIndex(({ success }) => success === true);
    assert.equal(answers.filter(({ success }) => success === true).length, 1);
    for (const [index, answer] of answers.entries())
      if (index !== winner) assert.equal(answer.held_by, `racer-${winner}`);
    const story = await fleet().story('C-race');
    assert.deepEqual([story.filter((type) => type === 'edge_started').length, story.length], [1, 20]);
  });

  test(`[CLAIM-2] ${at}: claims of other pairs are all granted at once`, async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        fleet().agent(`apart-${n}`)('claim_edge', { feature: `C-apart-${n}`, edge: EDGE }),
      ),
    );
    assert.deepEqual([...new Set(answers.map(({ action }) => action))], ['edge_started']);
  });

  test(`[CLAIM-3] ${at}: released by its holder it is free at once, and by nobody else`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-release', edge: EDGE };
    const got = await a('claim_edge', asked);
    assert.equal((await b('release_edge', asked)).error, 'not_holder');
    assert.equal(
      (await b('release_edge', { ...asked, fencing_token: got.fencing_token })).error,
      'not_holder',
    );
    assert.equal(await holder('C-release'), 'a', 'untouched');
    const released = await a('release_edge', { ...asked, reason: 'blocked by the API' });
    assert.equal(released.success, true);
    const last = (await fleet().events('C-release')).at(-1);
    const { agent_id, reason, released_by, cause } = last?.data ?? {};
    assert.deepEqual(
      [last?.type, agent_id, reason, released_by, cause],
      ['edge_released', 'a', 'blocked by the API', 'a', 'holder'],
    );
    assert.notEqual((await a('release_edge', asked)).success, true, 'never silently nothing');
    assert.equal((await b('claim_edge', asked)).action, 'edge_started');
  });

  test(`[CLAIM-3] ${at}: tokens of a claim only grow, and an older one is good for nothing`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-tokens', edge: EDGE };
    const { fencing_token: old } = await a('claim_edge', asked);
    await a('release_edge', asked);
    const { fencing_token: other } = await b('claim_edge', asked);
    assert.ok((other as number) > (old as number));
    for (const operation of ['heartbeat_claim', 'release_edge', 'converge_edge'])
      assert.equal((await a(operation, { ...asked, fencing_token: old })).error, 'superseded', operation);
    await b('release_edge', asked);
    const { fencing_token: mine } = await a('claim_edge', asked);
    assert.ok((mine as number) > (other as number));
    const stale = await a('converge_edge', { ...asked, fencing_token: old });
    assert.equal(stale.error, 'superseded', 'the same agent, with the grant it had before');
    assert.equal(await holder('C-tokens'), 'a');
  });

  test(`[CLAIM-11] ${at}: a heartbeat is the holder’s alone; with an iteration it is progress`, async () => {
    const [a, b] = [fleet().agent('a'), fleet().agent('b')];
    const asked = { feature: 'C-beat', edge: EDGE };
    assert.notEqual((await a('heartbeat_claim', asked)).success, true, 'nobody has it');
    const got = await a('claim_edge', asked);
    const beat = await a('heartbeat_claim', asked);
    assert.deepEqual([beat.success, beat.expires_at], [true, null]);
    assert.ok(Date.parse(beat.last_active as string) >= Date.parse(got.claimed_at as string));
    assert.equal((await b('heartbeat_claim', asked)).error, 'not_holder');
    await a('heartbeat_claim', { ...asked, iteration: 3, note: 'two tests left' });
    const events = await fleet().events('C-beat');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['edge_started', 'claim_renewed', 'iteration_completed'],
    );
    assert.deepEqual(
      [events[2]?.data.iteration, events[2]?.data.note, events[2]?.data.agent_id],
      [3, 'two tests left', 'a'],
    );
    const { claims } = await b('claims_status', { feature: 'C-beat' });
    assert.equal((claims as JsonObject[])[0]?.iteration, 3);
  });

  test(`[CLAIM-12] ${at}: status lists what is held, of all, of a feature and of an agent`, async () => {
    const [a, b] = [fleet().agent('lister-a'), fleet().agent('lister-b')];
    await a('claim_edge', { feature: 'C-list-1', edge: EDGE });
    await b('claim_edge', { feature: 'C-list-1', edge: 'code→unit_tests' });
    await b('claim_edge', { feature: 'C-list-2', edge: EDGE });
    const status = await a('claims_status', {});
    assert.deepEqual([status.success, status.mode], [true, 'many']);
    const mine = claimOf(status).filter((line) => line.startsWith('lister-'));
    assert.equal(mine.length, 3);
    assert.deepEqual(claimOf(await a('claims_status', { agent_id: 'lister-b' })).sort(), [
      'lister-b C-list-1 code→unit_tests',
      `lister-b C-list-2 ${EDGE}`,
    ]);
    assert.deepEqual(claimOf(await a('claims_status', { feature: 'C-list-2' })), [
      `lister-b C-list-2 ${EDGE}`,
    ]);
    assert.deepEqual(claimOf(await a('claims_status', { feature: 'C-list' })), [], 'not by its beginning');
  });

  test(`[CLAIM-1] ${at}: names of any kind stay what they are, and none reaches another’s claim`, async () => {
    const a = fleet().agent('a');
    const hostile = [
      'x#design_code',
      'ünï → ☃',
      '../../etc',
      "'; DROP TABLE claims; --",
      '{"a":1}',
      '__proto__',
    ];
    for (const feature of hostile)
      assert.equal((await a('claim_edge', { feature, edge: EDGE })).success, true);
    // A '#' parts the two in the id: an edge can't hold one, so no other pair is meant by it.
    const other = await fleet().agent('b')('claim_edge', { feature: 'x', edge: EDGE });
    assert.equal(other.action, 'edge_started');
    for (const feature of hostile)
      assert.equal((await fleet().agent('b')('claim_edge', { feature, edge: EDGE })).held_by, 'a', feature);
    for (const edge of ['', ' → ', '#', '-', 'a\u0007b'])
      assert.equal((await a('claim_edge', { feature: 'C-odd', edge })).error, 'invalid_input', edge);
  });
}
