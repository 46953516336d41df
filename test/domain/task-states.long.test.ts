import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelWork, reprioritiseWork, retryWork } from '../../src/domain/queue/change-work.ts';
import { completeWork } from '../../src/domain/queue/complete-work.ts';
import { getWork } from '../../src/domain/queue/get-work.ts';
import { renewWork } from '../../src/domain/queue/renew-work.ts';
import { settleDue } from '../../src/domain/queue/settle-due.ts';
import { submitWork } from '../../src/domain/queue/submit-work.ts';
import type { FailurePolicy, TaskState } from '../../src/domain/queue/task.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Decision } from '../../src/ledger/decision.ts';
import { canonical } from '../../src/ledger/replay.ts';
import { anna, newTask } from './facts.ts';
import { MINUTE_MS, NOON_MS } from './spec.ts';
import { drawnIn, transitionsOf, type World } from './walk.ts';

/** So many steps reach everything; more find nothing new. */
const DEPTH = 10;

const POLICIES: readonly FailurePolicy[] = ['block', 'skip', 'run'];
const LATER = { not_before_ms: NOON_MS + 20 * MINUTE_MS };

/** Everything that can be asked for, of three tasks of which one waits for the two others. */
function moves(on_dependency_failure: FailurePolicy): Decision<JsonObject>[] {
  const child = { keyed: true, depends_on: ['parent', 'aunt'], on_dependency_failure };
  const of = (id: string) => [
    completeWork({ task_id: id, caller: anna, success: true }),
    completeWork({ task_id: id, caller: anna, success: false }),
    renewWork(id, anna, 10 * MINUTE_MS),
    cancelWork(id, 'anna', undefined),
    reprioritiseWork(id, 1),
    retryWork(id),
  ];
  return [
    submitWork(
      [newTask('parent', { keyed: true, max_attempts: 2 }), newTask('aunt', { keyed: true })],
      'anna',
    ),
    submitWork(
      [newTask('parent', { keyed: true, max_attempts: 1, ...LATER }), newTask('aunt', { keyed: true })],
      'anna',
    ),
    submitWork([newTask('child', child)], 'anna'),
    submitWork([newTask('child', { ...child, ...LATER })], 'anna'),
    submitWork(
      [newTask('grandchild', { keyed: true, depends_on: ['child'], on_dependency_failure })],
      'anna',
    ),
    getWork({ caller: anna, task_types: undefined, count: 1, lease_ms: 10 * MINUTE_MS, settled: true })
      .decision,
    settleDue(),
    completeWork({ task_id: 'aunt', caller: anna, success: true }),
    completeWork({ task_id: 'aunt', caller: anna, success: false }),
    ...of('parent'),
    ...of('child'),
  ];
}

/** Two worlds are the same to every decider if they differ in versions and past times only. */
function essence({ state, now_ms }: World): string {
  const tasks = [...state.values()].map(({ id, state: task }) => {
    const {
      status,
      attempt_count,
      releasing,
      has_dependents,
      unmet,
      failed_dependencies,
      not_before_ms,
      lease,
    } = task as unknown as TaskState;
    const due = [not_before_ms, lease?.expires_at_ms].map((time_ms) =>
      Math.sign((time_ms ?? now_ms) - now_ms),
    );
    return [id, status, attempt_count, releasing, has_dependents, unmet, failed_dependencies, due];
  });
  return canonical([tasks, now_ms > NOON_MS]);
}

test('[QUEUE-7] [QUEUE-9] the drawing in docs/task-states.md is what the deciders and evolve do, no more and no less', () => {
  const transitions = POLICIES.flatMap((policy) => [
    ...transitionsOf({
      moves: moves(policy),
      pause_ms: 11 * MINUTE_MS,
      steps_max: DEPTH,
      kind: 'task',
      status: (task) => (task as unknown as TaskState).status,
      essence,
    }),
  ]);
  assert.deepEqual([...new Set(transitions)].sort(), drawnIn('task-states.md'));
});
