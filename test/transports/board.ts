import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Agent } from './doors.ts';
import type { Scenario } from './scenario.ts';

/** How long something is open depends on the machine; that part is no part of the story. */
async function statusOf(agent: Agent, claim_id: string): Promise<JsonObject> {
  return (await (agent.aside ?? agent).call('board_status', { claim_id })).claim as JsonObject;
}

const NO_CLAIM = '0192f0c8-1111-7222-8333-444455556666';

export const boardScenarios: Record<string, Scenario> = {
  '[BID-1] [BID-4] [PHASE-1] [PHASE-2] [PHASE-9] agents join, are woken, bid, take, deliver; a rejection comes back as version 2':
    async (alice, bob) => {
      const joined = await alice.call('join_board', {
        role: 'Reviewer',
        bidding: 'review',
        files: ['docs/'],
      });
      assert.deepEqual([joined.success, joined.role], [true, 'Reviewer']);
      await bob.call('join_board', { role: 'Writer' });
      const waiting = bob.call('my_grants', { wait_seconds: 60 });
      const goal = { type: 'GoalDefined', payload: 'a page that shows all locks' };
      const published = await (bob.aside ?? bob).call('publish_artefact', goal);
      const [open] = (await waiting).open_bids as JsonObject[];
      const claim_id = String(open?.claim_id);
      assert.deepEqual([claim_id, open?.produced_by_role], [published.claim_id, 'Writer']);
      const bid = await bob.call('place_bid', { claim_id, bid: 'exclusive' });
      assert.deepEqual([bid.bid, bid.phase, bid.granted], ['exclusive', 'review', false]);

      const taken = await alice.call('take_grant', { claim_id });
      assert.deepEqual([taken.phase, taken.claim_type, taken.attempt], ['review', 'review', 1]);
      assert.equal((taken.target_artefact as JsonObject).payload, goal.payload);
      const review = { claim_id, type: 'Review', payload: '{"title":"too long"}' };
      const said = await alice.call('deliver_artefact', { ...review, operation_id: 'board-review' });
      assert.deepEqual([said.rework, said.author], ['assigned', 'bob']);
      const { status, termination_reason } = await statusOf(bob, claim_id);
      assert.deepEqual([status, termination_reason], ['terminated', 'review_rejected']);

      const [mine] = (await bob.call('my_grants', {})).grants as JsonObject[];
      const again = await bob.call('take_grant', { claim_id: String(mine?.claim_id) });
      assert.deepEqual(
        (again.context_chain as JsonObject[]).map(({ structural_type, payload }) => [
          structural_type,
          payload,
        ]),
        [['Review', '{"title":"too long"}']],
      );
      const work = { claim_id: String(mine?.claim_id), type: 'GoalDefined', payload: 'a page of locks' };
      const second = await bob.call('deliver_artefact', work);
      assert.deepEqual([second.version, second.logical_id], [2, published.artefact_id]);
      const next = String((second.opened as JsonObject).claim_id);
      await bob.call('place_bid', { claim_id: next, bid: 'claim', files: ['docs/a.md'] });
      await alice.call('deliver_artefact', { claim_id: next, type: 'Review', payload: '{}' });
      const part = { claim_id: next, type: 'Page', payload: 'done', structural_type: 'Terminal' };
      const done = await bob.call('deliver_artefact', part);
      assert.deepEqual([done.late, (done.claim as JsonObject).status], [false, 'complete']);

      const newest = await alice.call('get_artefact', {
        artefact_id: published.artefact_id,
        latest: true,
      } as JsonObject);
      assert.equal((newest.artefact as JsonObject).version, 2);
      const lineage = await (alice.aside ?? alice).call('artefact_lineage', {
        artefact_id: second.artefact_id,
      } as JsonObject);
      assert.deepEqual((lineage.descendants as JsonObject[]).map(({ type }) => type).sort(), [
        'Page',
        'Review',
      ]);
      const listed = await alice.call('list_artefacts', { type: 'Goal*', agent: 'bob' });
      assert.deepEqual(
        (listed.artefacts as JsonObject[]).map(({ version }) => version),
        [2, 1],
      );
      const board = await bob.call('board_status', {});
      assert.deepEqual(board.claims, [], 'nothing is left over');
      for (const agent of [alice, bob]) await agent.call('leave_board', {});
    },

  '[BID-1] [BID-3] [PHASE-3] [PHASE-5] what the board refuses, it refuses at every door, and says what to do':
    async (alice, bob) => {
      await alice.call('join_board', { role: 'Coder' });
      const twice = await bob.call('join_board', { role: 'Coder' });
      assert.deepEqual([twice.error, twice.agents], ['duplicate_role', ['alice', 'bob']]);
      assert.match(
        String(twice.message),
        /^duplicate agent role 'Coder' found \(agents 'alice' and 'bob'\): all agents/,
      );
      const { claim_id } = (await bob.call('publish_artefact', { type: 'Goal', payload: 'x' })) as {
        claim_id: string;
      };
      const refusals: readonly [Agent, string, JsonObject, string][] = [
        [bob, 'place_bid', { claim_id, bid: 'claim' }, 'not_a_bidder'],
        [bob, 'leave_board', {}, 'not_a_bidder'],
        [alice, 'place_bid', { claim_id: NO_CLAIM, bid: 'claim' }, 'unknown_claim'],
        [alice, 'take_grant', { claim_id }, 'not_granted'],
        [alice, 'deliver_artefact', { claim_id, type: 'X', payload: 'early' }, 'not_granted'],
        [alice, 'get_artefact', { artefact_id: NO_CLAIM }, 'unknown_artefact'],
        [alice, 'artefact_lineage', { artefact_id: NO_CLAIM }, 'unknown_artefact'],
        [
          alice,
          'publish_artefact',
          { type: 'X', payload: '', source_artefacts: [NO_CLAIM] },
          'unknown_artefact',
        ],
        [alice, 'board_status', { claim_id: NO_CLAIM }, 'unknown_claim'],
        [alice, 'place_bid', { claim_id: 'not an id', bid: 'claim' }, 'invalid_input'],
      ];
      for (const [agent, operation, input, code] of refusals) {
        const answer = await agent.call(operation, input);
        assert.deepEqual(
          [answer.success, answer.error],
          [false, code],
          `${operation} ${JSON.stringify(input)}`,
        );
        assert.ok(String(answer.remedy).length > 0);
      }
      const odd = await alice.call('place_bid', { claim_id, bid: 'gladly' });
      assert.deepEqual([odd.bid, odd.warning], ['ignore', '"gladly" is no bid: it counts as ignore.']);
      const late = await alice.call('place_bid', { claim_id, bid: 'exclusive' });
      assert.equal(late.error, 'bidding_over');
      assert.equal((await statusOf(bob, claim_id)).status, 'complete', 'nobody wanted it');
      await alice.call('leave_board', {});
    },

  '[PHASE-4] [PHASE-5] a part is given back, taken again and failed at; what comes after that is kept as late':
    async (alice) => {
      await alice.call('join_board', { role: 'Coder' });
      const own = (await alice.call('publish_artefact', {
        type: 'Note',
        payload: 'y',
      })) as { claim_id: string };
      await alice.call('place_bid', { claim_id: own.claim_id, bid: 'exclusive' });
      assert.equal((await alice.call('return_grant', { claim_id: own.claim_id })).error, 'not_held');
      await alice.call('take_grant', { claim_id: own.claim_id });
      assert.equal((await alice.call('return_grant', { claim_id: own.claim_id })).returned, true);
      const failed = {
        claim_id: own.claim_id,
        type: 'ToolExecutionFailure',
        payload: 'no',
        structural_type: 'Failure',
      };
      await alice.call('deliver_artefact', failed);
      const after = await alice.call('deliver_artefact', {
        claim_id: own.claim_id,
        type: 'X',
        payload: 'after all',
      });
      assert.deepEqual([after.late, (after.claim as JsonObject).status], [true, 'terminated']);
      await alice.call('leave_board', {});
    },
};
