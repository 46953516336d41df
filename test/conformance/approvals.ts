import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { ask } from '../support/asking.ts';
import type { Scene } from './suite.ts';

const dangerous = (n: number) => ({ operation_text: `rm -rf /raced/${n}` });

/** A proven person, beside any transport. */
function person(scene: Scene, name = 'bob') {
  const actor = { agent_id: `person:${name}`, agent_type: 'person', session_id: name };
  const connection = scene.coxswain().connect(actor, 'person');
  return (operation: string, input: JsonObject) => ask(connection, operation, input);
}

/** Asked for by an agent and permitted by a person; how many there are. */
export async function approveAll(scene: Scene, agent_id: string, count: number): Promise<void> {
  const call = scene.agent(agent_id);
  const bob = person(scene);
  for (let n = 0; n < count; n += 1) {
    const { approval_id } = await call('check_guardrails', dangerous(n));
    const { approval } = await bob('show_approval', { approval_id });
    const { shown_hash } = approval as JsonObject;
    const approved = await bob('approve', { approval_id, shown_hash });
    assert.equal(approved.status, 'approved', JSON.stringify(approved));
  }
}

export function approvalCases(scene: Scene): void {
  const at = scene.engine;

  test(`[APPR-2] ${at}: sixteen tries at once of what is approved: one goes ahead`, async () => {
    await approveAll(scene, 'eager', 3);
    const call = scene.agent('eager');
    for (let n = 0; n < 3; n += 1) {
      const tries = await Promise.all(
        Array.from({ length: 16 }, () => call('check_guardrails', dangerous(n))),
      );
      assert.equal(tries.filter(({ success }) => success === true).length, 1);
      const pending = tries.filter(({ approval_status }) => approval_status === 'pending');
      assert.equal(pending.length, 15, 'the others wait for the next approval, which is one');
    }
    const { approvals } = await call('list_approvals', { requested_by: 'eager', status: 'all' });
    assert.equal((approvals as JsonObject[]).length, 3);
  });

  test(`[APPR-1] ${at}: of two people who decide at once one does; the other learns who`, async () => {
    const { approval_id } = await scene.agent('asker')('check_guardrails', dangerous(1));
    const [ann, bob] = [person(scene, 'ann'), person(scene, 'bob')];
    const { approval } = await ann('show_approval', { approval_id });
    const { shown_hash } = approval as JsonObject;
    const decided = await Promise.all([
      ann('approve', { approval_id, shown_hash }),
      bob('deny_approval', { approval_id, reason: 'no' }),
      ann('approve', { approval_id, shown_hash }),
    ]);
    assert.equal(decided.filter(({ success }) => success === true).length, 1);
    for (const each of decided.filter(({ success }) => success === false))
      assert.deepEqual([each.error, typeof each.decided_by], ['approval_decided', 'string']);
  });

  test(`[APPR-2] ${at}: a hash that was not shown, an id that is none, an operation id used again`, async () => {
    const asked = { ...dangerous(2), operation_id: 'one-check' };
    const call = scene.agent('guesser');
    const first = await call('check_guardrails', asked);
    assert.deepEqual(await call('check_guardrails', asked), first, 'the first answer again');
    const bob = person(scene);
    const { approval_id } = first;
    const changed = await bob('approve', { approval_id, shown_hash: 'f'.repeat(64) });
    assert.equal(changed.error, 'approval_changed');
    const unknown = await bob('approve', { approval_id: 'ffffffffffff', shown_hash: 'f'.repeat(64) });
    assert.equal(unknown.error, 'unknown_approval');
    const { violations, blocked_in_all } = await call('list_violations', { agent_id: 'guesser' });
    assert.deepEqual([(violations as JsonObject[]).length, blocked_in_all], [1, 1], 'counted once');
  });

  test(`[AUD-2] ${at}: thirty violations of one agent at once are all counted, each under its own name`, async () => {
    const call = scene.agent('wild');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => call('check_guardrails', dangerous(n))),
    );
    assert.equal(new Set(answers.map(({ approval_id }) => approval_id)).size, 30);
    const { violations, blocked_in_all } = await call('list_violations', { agent_id: 'wild', limit: 200 });
    assert.deepEqual([(violations as JsonObject[]).length, blocked_in_all], [30, 30]);
    assert.deepEqual([...new Set(answers.map(({ trust_lowered_to }) => trust_lowered_to))].sort(), [
      0,
      1,
      undefined,
    ]);
  });
}
