import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelWork, reprioritiseWork, retryWork } from '../../../src/features/queue/change-work.ts';
import { completeWork } from '../../../src/features/queue/complete-work.ts';
import { fileQueuedWork } from '../../../src/features/queue/file-work.ts';
import type { FileStatus } from '../../../src/features/queue/filed.ts';
import { getWork } from '../../../src/features/queue/get-work.ts';
import { mirrorDeleted, mirrorFile, type SeenFile } from '../../../src/features/queue/mirror-work.ts';
import { renewWork } from '../../../src/features/queue/renew-work.ts';
import { settleDue } from '../../../src/features/queue/settle-due.ts';
import type { FailurePolicy, TaskState } from '../../../src/features/queue/state.ts';
import { submitWork } from '../../../src/features/queue/submit-work.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import type { Decision } from '../../../src/ledger/decision.ts';
import { canonical } from '../../../src/ledger/replay.ts';
import { MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, newTask } from '../../support/facts.ts';
import { drawnIn, transitionsOf, type World } from '../../support/walk.ts';
import { lyingAt, seenAs } from './filed-facts.ts';

/** So many steps reach everything; more find nothing new. */
const DEPTH = 10;
const FILES_DEPTH = 5;

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

/** A task that is a file, and one of the queue that becomes one; an agent waits for it. */
function fileMoves(): Decision<JsonObject>[] {
  const file = (task_id: string, path: string, status: FileStatus) => lyingAt(path, status, { id: task_id });
  const said = (status: SeenFile['status'], words: string) => {
    if (status === 'completed') return { result: { summary: words } };
    return status === 'filed' ? {} : { error_message: words };
  };
  const seen = (task_id: string): Decision<JsonObject>[] => [
    ...(
      [
        ['filed', 'inbox/x.yaml', 'new'],
        ['filed', 'assigned/ann/x.yaml', 'in_progress'],
        ['completed', 'done/x.yaml', 'done'],
        ['completed', 'done/ann/x.yaml', 'done'],
        ['failed', 'assigned/ann/x.yaml', 'error'],
        ['failed', 'assigned/bob/x.yaml', 'error'],
        ['cancelled', 'fridge/x.yaml', 'frozen'],
        ['cancelled', 'fridge/old/x.yaml', 'frozen'],
      ] as const
    ).map(([status, path, word]) =>
      mirrorFile(seenAs(task_id, status, { file: file(task_id, path, word), ...said(status, 'so') })),
    ),
    ...(['completed', 'failed'] as const).map((status) => {
      const other = file(task_id, 'done/x.yaml', status === 'failed' ? 'error' : 'done');
      return mirrorFile(seenAs(task_id, status, { file: other, ...said(status, 'otherwise') }));
    }),
    mirrorDeleted(task_id, file(task_id, '', 'new'), 'gone'),
  ];
  const filing = { task_id: 'queued', directory: 'work', file_id: 'queued', agent: 'ann', by: 'me' };
  return [
    submitWork([newTask('queued', { keyed: true })], 'anna'),
    fileQueuedWork({ ...filing, lease_ms: MINUTE_MS }),
    submitWork(
      [newTask('after', { keyed: true, depends_on: ['own'], on_dependency_failure: 'skip' })],
      'anna',
    ),
    submitWork([newTask('later', { keyed: true, depends_on: ['own'] })], 'anna'),
    settleDue(),
    ...seen('own'),
    ...seen('queued'),
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
      file,
    } = task as unknown as TaskState;
    const due = [not_before_ms, lease?.expires_at_ms].map((time_ms) =>
      Math.sign((time_ms ?? now_ms) - now_ms),
    );
    return [
      id,
      status,
      attempt_count,
      releasing,
      has_dependents,
      unmet,
      failed_dependencies,
      due,
      file?.status,
      file?.path,
      file?.filing,
    ];
  });
  return canonical([tasks, now_ms > NOON_MS]);
}

const walked = {
  pause_ms: 11 * MINUTE_MS,
  kind: 'task',
  status: (task: JsonObject) => (task as unknown as TaskState).status,
  essence,
};

test('[QUEUE-7] [QUEUE-9] [DIR-6] the drawing in docs/task-states.md is what the deciders and evolve do, no more and no less', () => {
  const transitions = POLICIES.flatMap((policy) => [
    ...transitionsOf({ ...walked, moves: moves(policy), steps_max: DEPTH }),
  ]);
  const ofFiles = transitionsOf({ ...walked, moves: fileMoves(), steps_max: FILES_DEPTH });
  assert.deepEqual([...new Set([...transitions, ...ofFiles])].sort(), drawnIn('task-states.md'));
});
