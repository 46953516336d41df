import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { type BoardTable, grantOf } from './board.ts';

const CREW = ['a', 'b', 'c', 'd', 'e', 'f'];
const all = (bidding: string | undefined) => Object.fromEntries(CREW.map((name) => [name, bidding]));

/** Real concurrency, through two connections: whatever is last, happens once. */
export function boardRaceCases(at: string, table: () => BoardTable): void {
  test(`[BID-1] [BID-2] ${at}: everybody bids at once: the consensus grants once, to the first by name`, async () => {
    const t = table();
    await t.configure(all(undefined));
    const claims = await Promise.all([t.publish('ann'), t.publish('bob')]);
    const answers = await Promise.all(
      claims.flatMap((claim_id) =>
        CREW.map((name, turn) => t.agent(name, turn)('place_bid', { claim_id, bid: 'exclusive' })),
      ),
    );
    assert.deepEqual([...new Set(answers.map(({ success }) => success))], [true]);
    for (const claim_id of claims) {
      const story = await t.story(claim_id);
      assert.deepEqual(
        [story.filter((type) => type === 'bid_placed').length, story.at(-1), story.length],
        [CREW.length, 'phase_started', CREW.length + 2],
      );
      assert.equal((await t.claim(claim_id)).granted_exclusive_agent, 'a');
    }
    assert.equal(answers.filter(({ awaiting_bids }) => (awaiting_bids as string[]).length === 0).length, 2);
  });

  test(`[PHASE-4] ${at}: of many that take one grant one has it, and the others are told who`, async () => {
    const t = table();
    await t.configure({ emma: 'exclusive' });
    const claim_id = await t.publish();
    const answers = await Promise.all(
      CREW.map((name, turn) => t.agent('emma', turn, `runner-${name}`)('take_grant', { claim_id })),
    );
    const won = answers.filter(({ success }) => success === true);
    assert.equal(won.length, 1, JSON.stringify(answers));
    const { taken } = await grantOf(t.agent('emma'));
    const { session_id } = taken as JsonObject;
    for (const answer of answers)
      if (answer.success !== true)
        assert.deepEqual([answer.error, answer.session_id], ['grant_taken', session_id]);
    assert.equal(await t.times(claim_id, 'grant_taken'), 1);
  });

  test(`[PHASE-3] ${at}: all of a phase deliver at once: the next one starts once`, async () => {
    const t = table();
    await t.configure({ ...all('claim'), zoe: 'exclusive' });
    const claim_id = await t.publish();
    const part = (name: string) => ({ claim_id, type: 'Part', payload: name, structural_type: 'Terminal' });
    const answers = await Promise.all(
      CREW.map((name, turn) => t.agent(name, turn)('deliver_artefact', part(name))),
    );
    assert.deepEqual([...new Set(answers.map(({ late }) => late))], [false]);
    const story = await t.story(claim_id);
    assert.deepEqual(
      [story.filter((type) => type === 'work_delivered').length, story.at(-1)],
      [CREW.length, 'phase_started'],
    );
    assert.equal(await t.times(claim_id, 'phase_started'), 2);
    const moved = answers.filter(({ claim }) => (claim as JsonObject).phase === 'exclusive');
    assert.equal(moved.length, 1, 'one delivery was the last one');
  });

  test(`[BID-1] [PHASE-5] ${at}: a deadline that many look at is written down once`, async () => {
    const t = table();
    await t.configure({ ...all(undefined), zoe: 'exclusive' }, { bid_deadline_seconds: 0.05 });
    const claim_id = await t.publish();
    const look = async () => {
      const looks = CREW.map((name, turn) => t.agent(name, turn)('board_status', { claim_id }));
      const [first] = await Promise.all(looks);
      return ((first as JsonObject).claim as JsonObject).granted_exclusive_agent === 'zoe';
    };
    await until(look);
    assert.deepEqual(await t.story(claim_id), ['claim_opened', 'bids_closed', 'phase_started']);
    const { bids } = await t.claim(claim_id);
    assert.deepEqual(
      CREW.map((name) => (bids as Record<string, JsonObject>)[name]?.by),
      CREW.map(() => 'deadline'),
    );
  });
}
