import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storyOf } from '../../../src/features/board/runner/artefact-story.ts';
import { restOf } from '../../../src/features/board/runner/at-rest.ts';
import { descentOf } from '../../../src/features/board/runner/descent.ts';
import { open } from '../../../src/index.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Connection } from '../../../src/runtime/coordinator.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';

interface Played extends AsyncDisposable {
  readonly coxswain: Coxswain;
  as(agent: string, name: string, input?: JsonObject): Promise<JsonObject>;
  person(name: string, input: JsonObject): Promise<JsonObject>;
  /** Publishes, and answers artefact and claim. */
  publish(agent: string, type: string, more?: JsonObject): Promise<{ id: string; claim: string }>;
  deliver(
    agent: string,
    claim: string,
    type: string,
    payload: string,
    more?: JsonObject,
  ): Promise<JsonObject>;
}

/** A writer of drafts and a reviewer of them, who take part by themselves; one round of rework. */
async function played(): Promise<Played> {
  const coxswain = await open({ store: 'memory:' });
  const connections = new Map<string, Connection>();
  const perform = async (connection: Connection, name: string, input: JsonObject) => {
    const operation = operationsByName.get(name);
    assert.ok(operation, name);
    return await connection.perform(operation, input);
  };
  const as: Played['as'] = async (agent_id, name, input = {}) => {
    const connection = connections.get(agent_id) ?? coxswain.connect({ agent_id, agent_type: 'test' });
    connections.set(agent_id, connection);
    return await perform(connection, name, input);
  };
  await as('boss', 'configure_board', { max_review_iterations: 1 });
  await as('writer', 'join_board', { role: 'Writer', bidding: 'exclusive', target_types: ['Goal'] });
  await as('reviewer', 'join_board', { role: 'Reviewer', bidding: 'review', target_types: ['Draft'] });
  return {
    coxswain,
    as,
    person: (name, input) =>
      perform(coxswain.connect({ agent_id: 'person:bob', agent_type: 'person' }, 'person'), name, input),
    async publish(agent, type, more = {}) {
      const answer = await as(agent, 'publish_artefact', { type, payload: 'p', ...more });
      return { id: String(answer.artefact_id), claim: String(answer.claim_id) };
    },
    deliver: (agent, claim_id, type, payload, more = {}) =>
      as(agent, 'deliver_artefact', { claim_id, type, payload, ...more }),
    [Symbol.asyncDispose]: () => coxswain.close(),
  };
}

const fates = async ({ coxswain }: Played, root: string) =>
  (await descentOf(coxswain, root)).claims.map(
    ({ claim, fate }) => `${claim.state.artefact_type} ${claim.state.status} ${fate.fate}`,
  );

async function rest({ coxswain }: Played) {
  const found = await restOf(coxswain, 0);
  return (
    found && { failed: found.failed.length, decisions: found.decisions.length, completed: found.completed }
  );
}

async function told({ coxswain }: Played, id: string): Promise<JsonObject & { history: JsonObject[] }> {
  const story = await storyOf(coxswain, id);
  assert.ok(story, id);
  return story as JsonObject & { history: JsonObject[] };
}

const opened = (answer: JsonObject) => (answer.opened as JsonObject).claim_id as string;

test('[PHASE-6] a rejection is no bad end: sent back, then a person is asked, then it is as the person says', async () => {
  for (const verdict of ['approve', 'deny_approval']) {
    await using play = await played();
    const goal = await play.publish('user', 'Goal');
    assert.deepEqual(await fates(play, goal.id), ['Goal pending_exclusive open']);
    assert.equal(await rest(play), undefined);
    const draft = opened(await play.deliver('writer', goal.claim, 'Draft', 'one'));
    const sent = await play.deliver('reviewer', draft, 'Review', 'more');
    assert.deepEqual(await fates(play, goal.id), [
      'Goal complete complete',
      'Draft terminated sent_back',
      'Draft pending_assignment open',
    ]);
    const second = opened(await play.deliver('writer', String(sent.rework_claim_id), 'Draft', 'two'));
    const asked = await play.deliver('reviewer', second, 'Review', 'still more');
    assert.equal((await fates(play, goal.id)).at(-1), 'Draft terminated waits_for_person');
    assert.deepEqual(await rest(play), { failed: 0, decisions: 1, completed: 2 });
    const { approval_id } = asked;
    const { approval } = await play.as('boss', 'show_approval', { approval_id: String(approval_id) });
    const { shown_hash } = approval as { shown_hash: string };
    await play.person(verdict, { approval_id: String(approval_id), shown_hash, reason: 'so be it' });
    const { claims } = await descentOf(play.coxswain, goal.id);
    const story = await told(play, claims.at(-1)?.claim.state.artefact_id ?? '');
    const steps = story.history.map(({ what, verdict: said }) => [what, said].filter(Boolean).join(' '));
    assert.deepEqual(
      steps.filter((step) => step.startsWith('person')),
      ['person_asked', verdict === 'approve' ? 'person_decided approved' : 'person_decided denied'],
    );
    if (verdict === 'approve') {
      assert.equal((await fates(play, goal.id)).at(-2), 'Draft terminated sent_back');
      assert.equal((await fates(play, goal.id)).at(-1), 'Draft pending_assignment open');
      assert.equal(story.rounds_granted, 1);
    } else {
      assert.equal((await fates(play, goal.id)).at(-1), 'Draft terminated failed');
      assert.deepEqual(await rest(play), { failed: 1, decisions: 0, completed: 2 });
    }
  }
});

test('[PHASE-6] what was said about an overtaken version ends nothing badly; without an author it does', async () => {
  await using play = await played();
  const draft = await play.publish('writer', 'Draft');
  const newer = await play.publish('writer', 'Draft', { logical_id: draft.id, source_artefacts: [draft.id] });
  await play.deliver('reviewer', draft.claim, 'Review', 'more');
  assert.deepEqual((await fates(play, draft.id)).sort(), [
    'Draft pending_review open',
    'Draft terminated sent_back',
  ]);
  await play.as('writer', 'leave_board');
  await play.deliver('reviewer', newer.claim, 'Review', 'more');
  assert.deepEqual((await fates(play, draft.id)).sort(), [
    'Draft terminated failed',
    'Draft terminated sent_back',
  ]);
});

test('[PHASE-5] a story has the attempts that failed and what came too late', async () => {
  await using play = await played();
  await play.as('boss', 'configure_board', { on_failure: 'retry', max_attempts: 2 });
  const goal = await play.publish('user', 'Goal');
  await play.deliver('writer', goal.claim, 'Oops', 'once', { structural_type: 'Failure' });
  await play.deliver('writer', goal.claim, 'Oops', 'twice', { structural_type: 'Failure' });
  await play.deliver('writer', goal.claim, 'Draft', 'after all');
  const { history } = await told(play, goal.id);
  assert.deepEqual(
    history.map(({ what, verdict, status }) => [what, verdict ?? status].filter(Boolean).join(' ')),
    ['published', 'standing_bids', 'failed', 'granted', 'delivered failed', 'ended terminated', 'late'],
  );
  assert.equal(await storyOf(play.coxswain, goal.claim), undefined, 'a claim is no artefact');
});
