import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { readLog } from '../chaos/log-check.ts';
import { type Call, TestFleet } from '../support/fleet.ts';
import { until } from '../support/until.ts';
import { boardRaceCases } from './board-races.ts';
import type { Scene } from './suite.ts';

const PROJECT = 'board';

/** The board of one project, seen through as many connections to its store as a race needs. */
export class BoardTable {
  readonly #coxswain: Coxswain;
  readonly #fleets: readonly TestFleet[];

  constructor(coxswains: readonly [Coxswain, ...Coxswain[]]) {
    this.#coxswain = coxswains[0];
    this.#fleets = coxswains.map((coxswain) => new TestFleet(coxswain));
  }

  /** Each agent through one of the connections, in turn. */
  agent(agent_id: string, turn = 0, session_id?: string): Call {
    return this.#fleet(turn).agent(agent_id, session_id);
  }

  person(): Call {
    return this.#fleet(0).person();
  }

  #fleet(turn: number): TestFleet {
    const fleet = this.#fleets[turn % this.#fleets.length];
    if (fleet === undefined) throw new Error('no connection');
    return fleet;
  }

  /** These and no others take part: by name what they always bid, `undefined` if they are asked. */
  async configure(
    agents: Readonly<Record<string, string | undefined>>,
    rules: JsonObject = {},
  ): Promise<void> {
    const members = Object.entries(agents).map(([agent_id, bidding]) => ({
      agent_id,
      role: `role of ${agent_id}`,
      ...(bidding === undefined ? {} : { bidding }),
    }));
    const answer = await this.agent('operator')('configure_board', { ...rules, agents: members });
    assert.equal(answer.success, true, JSON.stringify(answer));
  }

  /** A goal on the board; the claim that opened with it. */
  async publish(by = 'ann', more: JsonObject = {}): Promise<string> {
    const input = { type: 'GoalDefined', payload: 'a page that shows all locks', ...more };
    return String((await this.agent(by)('publish_artefact', input)).claim_id);
  }

  async claim(claim_id: string): Promise<JsonObject> {
    return (await this.agent('looker')('board_status', { claim_id })).claim as JsonObject;
  }

  /** What the log says happened to the claim, in order. */
  async story(claim_id: string): Promise<string[]> {
    const rows = await readLog(this.#coxswain.store, PROJECT);
    return rows.flatMap(({ events }) => events.filter(({ id }) => id === claim_id).map(({ type }) => type));
  }

  /** So often does it say so. */
  async times(claim_id: string, type: string): Promise<number> {
    return (await this.story(claim_id)).filter((each) => each === type).length;
  }

  async differences() {
    const { store } = this.#coxswain;
    return await compareWithLive(store, entities, PROJECT, await replay(store, entities, PROJECT));
  }
}

/** The one thing that an agent was granted. */
export async function grantOf(call: Call): Promise<JsonObject> {
  const [grant, ...more] = (await call('my_grants', {})).grants as JsonObject[];
  assert.ok(grant, 'nothing was granted');
  assert.deepEqual(more, []);
  return grant;
}

/** Artefacts, bids and phases, on a project of their own. */
export function boardCases(scene: Scene): void {
  const at = scene.engine;
  let table: BoardTable;
  before(async () => {
    const { url } = scene.fixture();
    const first = await scene.fixture().open({ project: PROJECT });
    // In memory there is no second way to the same store.
    const others = url === undefined ? [] : [await scene.fixture().open({ project: PROJECT })];
    table = new BoardTable([first, ...others]);
  });
  wayCases(at, () => table);
  boardRaceCases(at, () => table);

  test(`[AUD-5] ${at}: every claim and artefact on the board follows from the log`, async () => {
    assert.deepEqual(await table.differences(), []);
  });
}

function wayCases(at: string, table: () => BoardTable): void {
  test(`[PHASE-1] [PHASE-2] [PHASE-6] [PHASE-9] ${at}: a claim goes all the way, with one rejection on it`, async () => {
    const t = table();
    const crew = { walt: 'ignore', rita: 'review', paul: 'claim', pete: 'claim', emma: 'exclusive' };
    await t.configure(crew);
    const [walt, rita] = [t.agent('walt'), t.agent('rita', 1)];
    const first = await t.publish('walt');
    const said = await rita('deliver_artefact', {
      claim_id: first,
      type: 'Review',
      payload: '{"title":"no"}',
    });
    assert.equal(said.rework, 'assigned', JSON.stringify(said));
    const grant = await grantOf(walt);
    assert.deepEqual([grant.claim_id, grant.rework], [said.rework_claim_id, true]);
    const taken = await walt('take_grant', { claim_id: String(grant.claim_id) });
    assert.deepEqual(
      (taken.context_chain as JsonObject[]).map(({ payload }) => payload),
      ['{"title":"no"}'],
    );
    const work = { claim_id: taken.claim_id, type: 'GoalDefined', payload: 'a better page' };
    const again = await walt('deliver_artefact', work as JsonObject);
    assert.deepEqual([again.version, (again.claim as JsonObject).status], [2, 'complete']);
    const second = String((again.opened as JsonObject).claim_id);
    await rita('deliver_artefact', { claim_id: second, type: 'Review', payload: '{}' });
    const part = await grantOf(t.agent('paul'));
    assert.deepEqual(
      (part.co_workers as JsonObject[]).map(({ agent_id }) => agent_id),
      ['pete'],
    );
    for (const name of ['paul', 'pete', 'emma']) {
      const last = { claim_id: second, type: 'Part', payload: name, structural_type: 'Terminal' };
      assert.equal((await t.agent(name)('deliver_artefact', last)).success, true);
    }
    const { status, granted_review_agents, granted_parallel_agents, granted_exclusive_agent } =
      await t.claim(second);
    assert.deepEqual(
      [status, granted_review_agents, granted_parallel_agents, granted_exclusive_agent],
      ['complete', ['rita'], ['paul', 'pete'], 'emma'],
    );
    assert.deepEqual(await t.story(second), [
      ...['claim_opened', 'phase_started', 'work_delivered', 'phase_started', 'work_delivered'],
      ...['work_delivered', 'phase_started', 'work_delivered', 'claim_completed'],
    ]);
    const lineage = await walt('artefact_lineage', { artefact_id: String(again.artefact_id) });
    assert.deepEqual(
      (lineage.versions as JsonObject[]).map(({ version }) => version),
      [1, 2],
    );
  });

  test(`[PHASE-6] ${at}: past the last round a person is asked, and grants another`, async () => {
    const t = table();
    await t.configure({ walt: 'ignore', rita: 'review' }, { max_review_iterations: 1 });
    const rita = t.agent('rita');
    const rejected = async (claim_id: string) =>
      await rita('deliver_artefact', { claim_id, type: 'Review', payload: 'not yet' });
    const { rework_claim_id } = await rejected(await t.publish('walt'));
    const redone = { claim_id: String(rework_claim_id), type: 'GoalDefined', payload: 'again' };
    const { opened } = await t.agent('walt')('deliver_artefact', redone);
    const asked = await rejected(String((opened as JsonObject).claim_id));
    assert.equal(asked.rework, 'person_asked', JSON.stringify(asked));
    const person = t.person();
    const { approval } = await person('show_approval', { approval_id: asked.approval_id as string });
    const { shown_hash } = approval as JsonObject;
    const yes = await person('approve', {
      approval_id: asked.approval_id as string,
      shown_hash,
      reason: 'go on',
    });
    assert.equal(yes.outcome, 'assigned', JSON.stringify(yes));
    assert.equal((await grantOf(t.agent('walt'))).claim_id, yes.rework_claim_id);
  });

  test(`[BID-4] ${at}: who waits for something to do hears of it at once, from another connection`, async () => {
    const t = table();
    await t.configure({ anna: undefined });
    const waiting = t.agent('anna')('my_grants', { wait_seconds: 25 });
    const claim_id = await t.publish('ann');
    const asked = (await waiting).open_bids as JsonObject[];
    assert.deepEqual(
      asked.map((each) => each.claim_id),
      [claim_id],
    );
    await t.agent('anna', 1)('place_bid', { claim_id, bid: 'exclusive' });
    const { grants } = await t.agent('anna')('my_grants', { wait_seconds: 25 });
    assert.deepEqual(
      (grants as JsonObject[]).map(({ phase }) => phase),
      ['exclusive'],
    );
    const done = { claim_id, type: 'Part', payload: 'x', structural_type: 'Terminal' };
    await t.agent('anna')('deliver_artefact', done);
  });

  test(`[BID-1] [BID-4] ${at}: somebody who leaves completes the consensus; claims opened before anybody came are asked about`, async () => {
    const t = table();
    await t.configure({});
    const early = await t.publish();
    assert.equal((await t.claim(early)).waits_for, 'agents: nobody is on the board');
    await t.configure({ anna: undefined, bert: undefined });
    assert.equal((await t.claim(early)).waits_for, 'bids of anna, bert');
    await t.agent('anna')('place_bid', { claim_id: early, bid: 'ignore' });
    await t.agent('bert', 1)('leave_board', {});
    assert.equal((await t.claim(early)).status, 'complete');
  });

  test(`[PHASE-5] ${at}: a part that is late ends its claim with a Failure, and its result is kept`, async () => {
    const t = table();
    await t.configure({ emma: 'exclusive' }, { exclusive_seconds: 0.05 });
    const claim_id = await t.publish();
    await until(async () => (await t.claim(claim_id)).status === 'terminated');
    const { termination_reason } = await t.claim(claim_id);
    assert.equal(termination_reason, 'timeout');
    const late = await t.agent('emma')('deliver_artefact', { claim_id, type: 'Part', payload: 'at last' });
    assert.deepEqual([late.success, late.late], [true, true]);
    const { artefacts } = await t.agent('looker')('list_artefacts', { claim_id });
    assert.deepEqual((artefacts as JsonObject[]).map(({ type }) => type).sort(), ['GrantTimedOut', 'Part']);
  });

  test(`[STORE-1] ${at}: the same step of the board under the same operation id is done once`, async () => {
    const t = table();
    await t.configure({ anna: undefined, bert: undefined });
    const [anna, ann] = [t.agent('anna'), t.agent('ann')];
    const goal = { type: 'GoalDefined', payload: 'once', operation_id: 'board-publish' };
    const published = await ann('publish_artefact', goal);
    assert.deepEqual(await t.agent('ann', 1)('publish_artefact', goal), published);
    const other = await ann('publish_artefact', { ...goal, payload: 'twice' });
    assert.equal(other.error, 'operation_id_reused');
    const claim_id = String(published.claim_id);
    const bid = { claim_id, bid: 'claim', operation_id: 'board-bid' };
    const placed = await anna('place_bid', bid);
    await t.agent('bert')('place_bid', { claim_id, bid: 'ignore' });
    assert.deepEqual(await anna('place_bid', bid), placed, 'as it was then');
    const part = {
      claim_id,
      type: 'Part',
      payload: 'x',
      structural_type: 'Terminal',
      operation_id: 'board-part',
    };
    const delivered = await anna('deliver_artefact', part);
    assert.equal(delivered.late, false, JSON.stringify(delivered));
    assert.deepEqual(await t.agent('anna', 1)('deliver_artefact', part), delivered);
    assert.deepEqual(await t.story(claim_id), [
      ...['claim_opened', 'bid_placed', 'bid_placed', 'phase_started', 'work_delivered', 'claim_completed'],
    ]);
  });
}
