import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import { systemRandom } from '../../src/kernel/ids.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import { type Decision, refused } from '../../src/ledger/decision.ts';
import { type OptimisticEngine, runOptimistically, type Seen } from '../../src/ledger/optimistic.ts';
import { entities } from '../../src/runtime/entities.ts';
import { request } from '../conformance/cells.ts';

const key = { kind: 'cell', id: 'a' };

/** Another process commits the same call while this one loads: its id is looked up before, the records are read after. */
function engineWith(seen: Seen): { engine: OptimisticEngine; loads: () => number } {
  let loads = 0;
  const engine: OptimisticEngine = {
    async load(_request, needs, into) {
      for (const each of needs.keys ?? []) into.put(each, undefined);
      loads += 1;
      return { now_ms: 1, seen: loads === 1 ? undefined : seen };
    },
    estimate_ms: () => 1,
    async commit() {
      throw new Error('nothing is to be committed');
    },
  };
  return { engine, loads: () => loads };
}

const context = { entities, clock: systemClock, random: systemRandom };
const ended: Decision<{ success: true }> = {
  needs: { keys: [key] },
  decide: () => refused(refuse('not_held', 'It has ended.')),
};

test('[AUD-5] a call that another process has just committed under the same id gets that answer, not a refusal', async () => {
  const answer = { success: true, task_id: 't1' };
  const { engine } = engineWith({ input_digest: 'digest', answer, position: 7 });
  const outcome = await runOptimistically(engine, context, request('ann', 'the end', 'digest'), ended);
  assert.deepEqual(outcome, { status: 'committed', answer, position: 7, repeated: true });
});

test('a refusal of a call without an id of its own is loaded for once', async () => {
  const { engine, loads } = engineWith({ input_digest: '', answer: {}, position: 7 });
  const outcome = await runOptimistically(engine, context, request('ann'), ended);
  assert.equal(outcome.status, 'refused');
  assert.equal(loads(), 1);
});
