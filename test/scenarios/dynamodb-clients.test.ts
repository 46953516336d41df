import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { isoTime } from '../../src/kernel/clock.ts';
import { plainClient } from '../support/dynamodb.ts';
import type { Behind } from '../support/dynamodb-behind.ts';
import { itemAt, play, replayDifferences, sortKeys, sweep, touched } from './dynamodb-stage.ts';

// A client that knows only the document: one conditional PutItem to claim, one DeleteItem to be done.

const FEATURE = 'REQ-F-AUTH-001';
const ASKED = { feature: FEATURE, edge: 'design→code' };
const SK = `CLAIM#${FEATURE}#design_code`;
const HOUR_S = 3600;

class DocumentClient {
  readonly #behind: Behind;
  readonly #agent_id: string;

  constructor(behind: Behind, agent_id: string) {
    this.#behind = behind;
    this.#agent_id = agent_id;
  }

  /** False: another agent has it. */
  async claim(now_ms = Date.now()): Promise<boolean> {
    const { table } = this.#behind;
    using client = await plainClient(table.endpoint);
    const at = isoTime(now_ms);
    const Item = {
      ...{ PK: { S: 'default' }, SK: { S: SK }, agent_id: { S: this.#agent_id } },
      ...{ agent_role: { S: 'tdd_engineer' }, claimed_at: { S: at }, last_active: { S: at } },
      ttl: { N: String(Math.floor(now_ms / 1000) + HOUR_S) },
    };
    const ConditionExpression = 'attribute_not_exists(SK)';
    try {
      await client.sdk.send(new PutItemCommand({ TableName: table.table, Item, ConditionExpression }));
      return true;
    } catch (error) {
      assert.equal((error as Error).name, 'ConditionalCheckFailedException');
      return false;
    }
  }

  async release(): Promise<void> {
    const { table } = this.#behind;
    using client = await plainClient(table.endpoint);
    const Key = { PK: { S: 'default' }, SK: { S: SK } };
    await client.sdk.send(new DeleteItemCommand({ TableName: table.table, Key }));
  }
}

test('[CLAIM-10] a client that knows only the document and ours exclude each other on one table', async () => {
  await play(async (stage) => {
    const { behind, fleet } = stage;
    const [a, other] = [fleet.agent('a'), new DocumentClient(behind, 'lambda-7')];
    assert.equal(await other.claim(), true);
    for (let tries = 0; tries < 2; tries += 1) {
      const refused = await a('claim_edge', ASKED);
      assert.deepEqual([refused.action, refused.held_by], ['claim_rejected', 'lambda-7']);
    }
    for (const operation of ['heartbeat_claim', 'converge_edge', 'release_edge'])
      assert.equal((await a(operation, ASKED)).error, 'not_holder', operation);
    assert.equal((await itemAt(behind, SK))?.agent_id?.S, 'lambda-7', 'untouched');
    await other.release();
    const granted = await a('claim_edge', ASKED);
    assert.equal(granted.success, true, JSON.stringify(granted));
    assert.equal(await other.claim(), false, 'ours is there');
    assert.equal((await a('converge_edge', { ...ASKED, evaluators: '1/1' })).action, 'convergence_escalated');
    assert.equal((await a('release_edge', ASKED)).success, true);
    assert.deepEqual(await sortKeys(behind, 'CLAIM#'), []);
    assert.equal(await other.claim(), true, 'free for it');
    assert.equal((await a('claim_edge', ASKED)).held_by, 'lambda-7');
    await other.release();
    assert.deepEqual(await replayDifferences(stage), []);
  });
});

for (const end of ['converge_edge', 'release_edge'] as const)
  test(`[CLAIM-10] ${end} deletes the item of the claim in one commit; tokens go on growing, and replay agrees`, async () => {
    await play(async (stage) => {
      const { behind, fleet } = stage;
      const [a, b] = [fleet.agent('a'), fleet.agent('b')];
      let last = 0;
      for (const agent of [a, b, a]) {
        const granted = await agent('claim_edge', { ...ASKED, agent_role: 'full_stack' });
        assert.ok(Number(granted.fencing_token) > last, `${granted.fencing_token} after ${last}`);
        last = Number(granted.fencing_token);
        assert.deepEqual(await sortKeys(behind, 'CLAIM#'), [SK]);
        behind.proxy.requests.length = 0;
        assert.equal((await agent(end, ASKED)).success, true);
        assert.equal(await itemAt(behind, SK), undefined);
        const commits = behind.proxy.requests.filter(({ body }) => body.TransactItems !== undefined);
        const about = commits.map(({ body }) => touched(body)).filter((all) => all.includes(`Delete ${SK}`));
        assert.equal(about.length, 1);
        assert.ok(about[0]?.includes(`Put FREE#claim#${FEATURE}#design_code`), about[0]?.join());
        const late = await agent('heartbeat_claim', { ...ASKED, fencing_token: last });
        assert.equal(late.success, false, 'what is over stays over');
      }
      assert.deepEqual(await replayDifferences(stage), []);
    });
  });

test('[CLAIM-10] another client’s claim ends with its ttl; of several of ours and of theirs at once one wins', async () => {
  await play(async ({ behind, fleet, another, pass }) => {
    const [a, other] = [fleet.agent('a'), new DocumentClient(behind, 'lambda-7')];
    assert.equal(await other.claim(), true);
    assert.equal((await a('claim_edge', ASKED)).success, false);
    await pass(HOUR_S + 60);
    assert.equal((await a('claim_edge', ASKED)).success, true, 'its time is up');
    assert.equal((await itemAt(behind, SK))?.agent_id?.S, 'a');
    assert.equal((await a('release_edge', ASKED)).success, true);
    const fleets = [fleet, await another(), await another()];
    for (let round = 0; round < 3; round += 1) {
      const ours = fleets.map((each, n) => each.agent(`our-${n}`)('claim_edge', ASKED));
      const theirs = Array.from({ length: 3 }, (_, n) => new DocumentClient(behind, `their-${n}`));
      const [granted, taken] = await Promise.all([
        Promise.all(ours),
        Promise.all(theirs.map((each) => each.claim(Date.now() + 24 * HOUR_S * 1000))),
      ]);
      const winners = [...granted.map(({ success }) => success), ...taken].filter((won) => won === true);
      assert.equal(winners.length, 1, JSON.stringify([granted, taken]));
      const holder = (await itemAt(behind, SK))?.agent_id?.S ?? '';
      const [, n = 0] = /^our-(\d)$/.exec(holder) ?? [];
      if (holder.startsWith('our-')) await fleets[Number(n)]?.agent(holder)('release_edge', ASKED);
      else await new DocumentClient(behind, holder).release();
    }
  });
});

test('[CLAIM-10] a free claim that an earlier version left under its own key is claimed, and its tokens go on', async () => {
  await play(async ({ behind, fleet, another }) => {
    const first = await fleet.agent('a')('claim_edge', ASKED);
    assert.equal((await fleet.agent('a')('release_edge', ASKED)).success, true);
    const FREE = `FREE#claim#${FEATURE}#design_code`;
    const item = (await itemAt(behind, FREE)) ?? {};
    await sweep(behind, FREE);
    {
      using client = await plainClient(behind.table.endpoint);
      const Item = { ...item, SK: { S: SK } } as unknown as Record<string, { S: string }>;
      await client.sdk.send(new PutItemCommand({ TableName: behind.table.table, Item }));
    }
    const again = await (await another()).agent('b')('claim_edge', ASKED);
    assert.equal(again.success, true, JSON.stringify(again));
    assert.ok(Number(again.fencing_token) > Number(first.fencing_token));
    assert.deepEqual([(await itemAt(behind, SK))?.agent_id?.S, await itemAt(behind, FREE)], ['b', undefined]);
  });
});
