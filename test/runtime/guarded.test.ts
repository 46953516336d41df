import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  announceGuarded,
  commandGuard,
  exactHash,
  guardAction,
  subjectOf,
} from '../../src/features/guardrails/guard-step.ts';
import { checkGuardrails } from '../../src/features/guardrails/operations.ts';
import { guarded } from '../../src/features/trust/commands.ts';
import type { Guard } from '../../src/features/trust/guard-operation.ts';
import { approve, showApproval } from '../../src/features/trust/operations/approval-operations.ts';
import { submitChangeset } from '../../src/features/verification/commands.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { answerOf, type Decision } from '../../src/ledger/decision.ts';
import { commands } from '../../src/runtime/commands.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import type { AnyOperation, InternalCommand } from '../../src/runtime/operation.ts';
import { FORCE_PUSH, guard as guardOf } from '../features/trust/guard-facts.ts';

const ALICE = { agent_id: 'alice', agent_type: 'codex_cloud', session_id: 's' };
const BOB = { agent_id: 'person:bob', agent_type: 'person', session_id: 'bob' };

async function approved(coxswain: Coxswain, approval_id: unknown): Promise<void> {
  const bob = coxswain.connect(BOB, 'person');
  const { approval } = await bob.perform(showApproval, { approval_id });
  const { shown_hash } = approval as JsonObject;
  assert.equal((await bob.perform(approve, { approval_id, shown_hash })).success, true);
}

async function withMemory(use: (coxswain: Coxswain, news: () => number) => Promise<void>): Promise<void> {
  let news = 0;
  const announce = () => {
    news += 1;
  };
  const coxswain = await open({ store: 'memory:', env: {}, announce });
  try {
    await use(coxswain, () => news);
  } finally {
    await coxswain.close();
  }
}

test('[APPR-2] what was asked for at one door may be done at another, once', async () => {
  await withMemory(async (coxswain, news) => {
    const command = 'git push --force origin topic';
    const asked = await coxswain.connect(ALICE).perform(checkGuardrails, { operation_text: command });
    assert.equal(news(), 1, 'people are to hear of it');
    await approved(coxswain, asked.approval_id);
    const hook = coxswain.connect(ALICE);
    const same = commandGuard(command, '', [FORCE_PUSH]);
    assert.equal(
      (await hook.performBuilt(guardAction, { ...same, hash: exactHash('command', {}) })).success,
      false,
    );
    const elsewhere = commandGuard(command, 'packages/a', [FORCE_PUSH]);
    assert.equal(
      (await hook.performBuilt(guardAction, elsewhere)).success,
      false,
      'in another folder it is another',
    );
    assert.partialDeepStrictEqual(await hook.performBuilt(guardAction, same), {
      success: true,
      approval_id: asked.approval_id,
    });
    assert.equal((await hook.performBuilt(guardAction, same)).success, false);
  });
});

/** As an operation would that has something dangerous in it. */
function dangerous(guard: Guard): InternalCommand<{ id: string }> {
  return {
    ...guardAction,
    name: 'submit_changeset',
    handle: async ({ id }, step) => {
      const answer = answerOf(
        await step.run(guarded(guard, submitChangeset(id, step.caller, { files: ['a.ts'] }))),
      );
      announceGuarded(answer, step);
      return answer;
    },
  };
}

test('what is permitted happens in the commit of what permits it, also when a neighbour decides', async () => {
  await withMemory(async (coxswain, news) => {
    const guard = guardOf([FORCE_PUSH], { kind: 'change', caller: ALICE });
    const operation = dangerous(guard);
    const alice = coxswain.connect(ALICE);
    const refused = await alice.performBuilt(operation, { id: 'c1' });
    assert.deepEqual([refused.success, news()], [false, 1]);
    await approved(coxswain, refused.approval_id);
    assert.partialDeepStrictEqual(await alice.performBuilt(operation, { id: 'c1' }), {
      success: true,
      changeset_id: 'c1',
    });
    const { entries } = await coxswain.store.read('default', 0, 100);
    const types = entries.map(({ events }) => events.map(({ type }) => type));
    assert.ok(types.some((each) => each.includes('changeset_submitted') && each.includes('approval_used')));
    assert.equal((await alice.performBuilt(operation, { id: 'c2' })).success, false);
    const decision = guarded(guard, submitChangeset('c3', ALICE, { files: [] }));
    const { name, args } = JSON.parse(JSON.stringify(decision.command)) as { name: string; args: unknown[] };
    const build = commands.get(name) as unknown as (...args: unknown[]) => Decision<JsonObject>;
    assert.deepEqual(build(...args).needs, JSON.parse(JSON.stringify(decision.needs)));
  });
});

test('nothing but a person decides, through whatever connection', async () => {
  await withMemory(async (coxswain) => {
    for (const authority of ['agent', 'operator'] as const) {
      const connection = coxswain.connect(ALICE, authority);
      const personal: AnyOperation = approve;
      const answer = await connection.perform(personal, {
        approval_id: '0'.repeat(12),
        shown_hash: '0'.repeat(64),
      });
      assert.equal(answer.error, 'person_required');
    }
    assert.equal(subjectOf(`a\n\tb ${'x'.repeat(400)}`).length, 200);
  });
});
