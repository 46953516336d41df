import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TaskState, taskEvent } from '../../../src/features/queue/state.ts';
import type { NewTask } from '../../../src/features/queue/submit-work.ts';
import { submitWork } from '../../../src/features/queue/submit-work.ts';
import { given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, claimed, happened, newTask, submitted } from '../../support/facts.ts';

function submit(...tasks: NewTask[]) {
  return submitWork(tasks, 'anna');
}

test('[QUEUE-4] a task is submitted and its id answered', () => {
  given()
    .at(NOON_MS)
    .when(submit(newTask('t1', { input_data: { suite: 'browser' }, priority: 2 })))
    .thenCommits(
      taskEvent('t1', 'task_submitted', {
        task_type: 'test',
        description: 'do t1',
        input_data: { suite: 'browser' },
        priority: 2,
        submitted_by: 'anna',
        created_at_ms: NOON_MS,
      }),
    )
    .answering({ success: true, tasks: [{ task_id: 't1', status: 'pending' }] });
});

test('[QUEUE-5] a child waits for a parent that is not completed, and the parent learns of it', () => {
  const facts = [submitted('parent'), claimed('parent', anna)];
  const consequence = given(...facts)
    .at(NOON_MS)
    .when(submit(newTask('child', { depends_on: ['parent', 'parent'] })));
  consequence
    .thenCommits(
      taskEvent('parent', 'task_depended_on'),
      taskEvent('child', 'task_submitted', { depends_on: ['parent'], unmet: ['parent'] }),
    )
    .answering({ tasks: [{ task_id: 'child', status: 'blocked' }] });
  // A second child finds the parent marked: nothing to write there.
  given(...consequence.facts)
    .at(NOON_MS)
    .when(submit(newTask('second', { depends_on: ['parent'] })))
    .thenCommits(taskEvent('second', 'task_submitted'));
});

test('[QUEUE-5] a completed parent is a met dependency', () => {
  given(submitted('parent'), claimed('parent', anna), happened('parent', 'task_completed'))
    .at(NOON_MS)
    .when(submit(newTask('child', { depends_on: ['parent'] })))
    .thenCommits(taskEvent('child', 'task_submitted', { depends_on: ['parent'], unmet: [] }))
    .answering({ tasks: [{ status: 'pending' }] });
});

test('[QUEUE-5] an unknown dependency is refused, never counted as met', () => {
  given(submitted('parent'))
    .at(NOON_MS)
    .when(submit(newTask('child', { depends_on: ['parent', 'nobody'] })))
    .thenRefuses('unknown_dependency', { field: 'depends_on', task_id: 'nobody' });
});

test('[QUEUE-5] a parent that has failed, was cancelled or is dead is refused instead of blocking in silence', () => {
  for (const end of ['task_failed', 'task_cancelled', 'task_dead_lettered'])
    given(submitted('parent'), claimed('parent', anna), happened('parent', end))
      .at(NOON_MS)
      .when(submit(newTask('child', { depends_on: ['parent'] })))
      .thenRefuses('dependency_failed', { task_id: 'parent' });
});

test('[QUEUE-5] a cycle is refused and shown', () => {
  const a = newTask('a', { depends_on: ['c'] });
  const b = newTask('b', { depends_on: ['a'] });
  const c = newTask('c', { depends_on: ['b'] });
  given()
    .at(NOON_MS)
    .when(submit(a, b, c))
    .thenRefuses('dependency_cycle', { cycle: ['a', 'c', 'b', 'a'] });
  given()
    .at(NOON_MS)
    .when(submit(newTask('x', { depends_on: ['x'] })))
    .thenRefuses('dependency_cycle');
});

test('[QUEUE-8] a batch is submitted together, its tasks may depend on each other', () => {
  const child = newTask('child', { depends_on: ['parent'] });
  given()
    .at(NOON_MS)
    .when(submit(child, newTask('parent')))
    .thenCommits(
      taskEvent('child', 'task_submitted', { unmet: ['parent'], has_dependents: false }),
      taskEvent('parent', 'task_submitted', { unmet: [], has_dependents: true }),
    )
    .answering({
      tasks: [
        { task_id: 'child', status: 'blocked' },
        { task_id: 'parent', status: 'pending' },
      ],
    });
  given()
    .at(NOON_MS)
    .when(submit(newTask('good'), newTask('bad', { depends_on: ['nobody'] })))
    .thenRefuses('unknown_dependency');
});

test('[QUEUE-8] a delayed task has its own status until its time', () => {
  const later = newTask('t1', { not_before_ms: NOON_MS + MINUTE_MS });
  given()
    .at(NOON_MS)
    .when(submit(later))
    .answering({ tasks: [{ status: 'delayed' }] });
  given()
    .at(NOON_MS + MINUTE_MS)
    .when(submit(later))
    .answering({ tasks: [{ status: 'pending' }] });
});

test('[QUEUE-8] the same key is the same task, whatever has become of it', () => {
  const again = submit(newTask('k1', { keyed: true, description: 'another text' }));
  const existing = (status: string) => ({
    success: true,
    tasks: [{ task_id: 'k1', status, existing: true }],
  });
  given(submitted('k1')).at(NOON_MS).when(again).thenCommits().answering(existing('pending'));
  given(submitted('k1'), claimed('k1', anna))
    .at(NOON_MS)
    .when(again)
    .thenCommits()
    .answering(existing('claimed'));
  given(submitted('k1'), claimed('k1', anna), happened('k1', 'task_completed'))
    .at(NOON_MS)
    .when(again)
    .thenCommits()
    .answering(existing('completed'));
});

test('[QUEUE-8] submitting again by key asks nothing of the parents it had', () => {
  const facts = [submitted('parent', { has_dependents: true }), submitted('k1', { depends_on: ['parent'] })];
  const again = submit(newTask('k1', { keyed: true, depends_on: ['parent'] }));
  given(...facts)
    .at(NOON_MS)
    .when(again)
    .thenCommits()
    .answering({ tasks: [{ existing: true }] });
  given(...facts, happened('parent', 'task_cancelled'))
    .at(NOON_MS)
    .when(again)
    .thenCommits();
});

test('[QUEUE-8] in a batch, a keyed task that exists is a parent like any other', () => {
  const batch = submit(newTask('k1', { keyed: true }), newTask('child', { depends_on: ['k1'] }));
  const waiting = given(submitted('k1')).at(NOON_MS).when(batch);
  waiting.thenCommits(
    taskEvent('k1', 'task_depended_on'),
    taskEvent('child', 'task_submitted', { unmet: ['k1'] }),
  );
  const parent = waiting.after.get('task/k1')?.state as unknown as TaskState;
  assert.equal(parent.has_dependents, true, 'or its end would never be passed on');
  const done = [submitted('k1'), claimed('k1', anna), happened('k1', 'task_completed')];
  given(...done)
    .at(NOON_MS)
    .when(batch)
    .thenCommits(taskEvent('child', 'task_submitted', { unmet: [] }))
    .answering({ tasks: [{ existing: true }, { status: 'pending' }] });
  given(submitted('k1'), happened('k1', 'task_cancelled'))
    .at(NOON_MS)
    .when(batch)
    .thenRefuses('dependency_failed');
});
