import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelWork, reprioritiseWork, retryWork } from '../../../src/features/queue/change-work.ts';
import { completeWork, completeWorkBatch } from '../../../src/features/queue/complete-work.ts';
import { settleDue } from '../../../src/features/queue/settle-due.ts';
import { type TaskState, taskEvent } from '../../../src/features/queue/state.ts';
import { limits } from '../../../src/kernel/limits.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { type Fact, folded, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, bert, claimed, happened, submitted } from '../../support/facts.ts';

const EXPIRY_MS = NOON_MS + 30 * MINUTE_MS;

function complete(caller: Caller, success = true) {
  return completeWork({ task_id: 't1', caller, success, result: { tests: 12 }, error_message: 'red' });
}

function stateOf(facts: readonly Fact[], id: string): TaskState {
  return folded(facts).get(`task/${id}`)?.state as unknown as TaskState;
}

test('[QUEUE-3] the holder completes the task, or says that it failed', () => {
  const facts = [submitted('t1'), claimed('t1', anna)];
  given(...facts)
    .at(NOON_MS)
    .when(complete(anna))
    .thenCommits(
      taskEvent('t1', 'task_completed', { agent_id: 'anna', token: NOON_MS, result: { tests: 12 } }),
    )
    .answering({ success: true, status: 'completed', task_id: 't1' })
    .notAfter(EXPIRY_MS);
  given(...facts)
    .at(NOON_MS)
    .when(complete(anna, false))
    .thenCommits(taskEvent('t1', 'task_failed', { error_message: 'red' }))
    .answering({ success: true, status: 'failed' });
});

test('[QUEUE-3] a task is ended once: neither completed twice nor flipped from failed to completed', () => {
  for (const end of ['task_completed', 'task_failed', 'task_cancelled', 'task_dead_lettered']) {
    const facts = [submitted('t1'), claimed('t1', anna), happened('t1', end)];
    const { status } = stateOf(facts, 't1');
    given(...facts)
      .at(NOON_MS)
      .when(complete(anna))
      .thenRefuses('not_held', { status });
    given(...facts)
      .at(NOON_MS)
      .when(complete({ ...anna, token: NOON_MS }, false))
      .thenRefuses('not_held', { status });
  }
});

test('[QUEUE-3] nobody completes what it has not claimed', () => {
  given(submitted('t1')).at(NOON_MS).when(complete(anna)).thenRefuses('not_held', { status: 'pending' });
  given(submitted('t1'), claimed('t1', anna)).at(NOON_MS).when(complete(bert)).thenRefuses('not_holder');
  given().at(NOON_MS).when(complete(anna)).thenRefuses('unknown_task', { task_id: 't1' });
});

const family = (ended: string): Fact[] => [
  submitted('t1', { has_dependents: true }),
  submitted('other', { has_dependents: true }),
  submitted('child', { depends_on: ['t1'] }),
  submitted('grown', { depends_on: ['t1', 'other'] }),
  claimed('t1', anna),
  happened('t1', ended),
];

test('[QUEUE-3] dependents become claimable, in a commit that any later one resumes', () => {
  const done = family('task_completed');
  assert.equal(stateOf(done, 't1').releasing, true);
  const settled = given(...done)
    .at(NOON_MS)
    .when(settleDue());
  settled.thenCommits(
    taskEvent('child', 'dependency_met', { task_id: 't1' }),
    taskEvent('grown', 'dependency_met', { task_id: 't1' }),
    taskEvent('t1', 'dependents_released'),
  );
  assert.equal(stateOf(settled.facts, 'child').status, 'pending');
  assert.equal(stateOf(settled.facts, 'grown').status, 'blocked', 'it still waits for the other one');
  assert.deepEqual(stateOf(settled.facts, 'grown').unmet, ['other']);
  given(...settled.facts)
    .at(NOON_MS)
    .when(settleDue())
    .thenRefuses('no_tasks_available');
});

test('[QUEUE-3] a clock that is set back does not hold up those who wait', () => {
  const settled = given(...family('task_completed'))
    .at(NOON_MS - 60 * MINUTE_MS)
    .when(settleDue());
  assert.equal(stateOf(settled.facts, 'child').status, 'pending');
});

test('[QUEUE-3] a child that was delayed as well still waits for its time', () => {
  const facts = family('task_completed');
  facts[2] = submitted('child', { depends_on: ['t1'], not_before_ms: NOON_MS + MINUTE_MS });
  const settled = given(...facts)
    .at(NOON_MS)
    .when(settleDue());
  assert.equal(stateOf(settled.facts, 'child').status, 'delayed');
});

test('[QUEUE-3] more dependents than fit into one commit are released round by round', () => {
  // Half a round each: those who wait, and those who were told of an earlier failure.
  const count = limits.dependents_per_round + 1;
  const children = Array.from({ length: count }, (_, index) =>
    submitted(`c${100 + index}`, { depends_on: ['t1'] }),
  );
  let facts: Fact[] = [submitted('t1', { has_dependents: true }), ...children, claimed('t1', anna)];
  facts = [...facts, happened('t1', 'task_completed')];
  for (const released of [25, 25, 1]) {
    const settled = given(...facts)
      .at(NOON_MS)
      .when(settleDue());
    assert.equal(settled.answer.settled, released + (released === 1 ? 1 : 0));
    facts = settled.facts;
  }
  assert.equal(stateOf(facts, 't1').releasing, false);
  for (const { events } of children) assert.equal(stateOf(facts, events[0]?.id ?? '').status, 'pending');
});

test('[QUEUE-3] a parent that did not succeed is told to its children, which say what they wait for', () => {
  for (const end of ['task_failed', 'task_cancelled', 'task_dead_lettered']) {
    const settled = given(...family(end))
      .at(NOON_MS)
      .when(settleDue());
    settled.thenCommits(
      taskEvent('child', 'dependency_failed', { task_id: 't1' }),
      taskEvent('grown', 'dependency_failed', { task_id: 't1' }),
      taskEvent('t1', 'dependents_released'),
    );
    assert.equal(stateOf(settled.facts, 'child').status, 'blocked');
    assert.deepEqual(stateOf(settled.facts, 'child').failed_dependencies, ['t1']);
  }
});

test('[QUEUE-7] a failed or dead task can be retried, and then its children go on', () => {
  for (const end of ['task_failed', 'task_dead_lettered']) {
    const told = given(...family(end))
      .at(NOON_MS)
      .when(settleDue()).facts;
    const retried = given(...told)
      .at(NOON_MS)
      .when(retryWork('t1'));
    retried.thenCommits(taskEvent('t1', 'task_retried')).answering({ success: true, status: 'pending' });
    assert.equal(stateOf(retried.facts, 't1').attempt_count, 0);
    const done = [...retried.facts, claimed('t1', bert), happened('t1', 'task_completed')];
    const settled = given(...done)
      .at(NOON_MS)
      .when(settleDue());
    assert.equal(stateOf(settled.facts, 'child').status, 'pending');
    assert.deepEqual(stateOf(settled.facts, 'grown').failed_dependencies, []);
  }
});

test('[QUEUE-7] what is waiting, running, done or cancelled is not retried', () => {
  const open = [submitted('t1')];
  const running = [...open, claimed('t1', anna)];
  for (const facts of [
    open,
    running,
    [...running, happened('t1', 'task_completed')],
    [...open, happened('t1', 'task_cancelled')],
  ])
    given(...facts)
      .at(NOON_MS)
      .when(retryWork('t1'))
      .thenRefuses('wrong_status');
  given().at(NOON_MS).when(retryWork('t1')).thenRefuses('unknown_task');
});

test('[QUEUE-8] a task is cancelled while it waits and while it runs; its holder is told at the end', () => {
  const cancel = cancelWork('t1', 'carl', 'no longer needed');
  const event = taskEvent('t1', 'task_cancelled', { agent_id: 'carl', error_message: 'no longer needed' });
  given(submitted('t1'))
    .at(NOON_MS)
    .when(cancel)
    .thenCommits(event)
    .answering({ success: true, status: 'cancelled' });
  const running = given(submitted('t1'), claimed('t1', anna)).at(NOON_MS).when(cancel);
  running.thenCommits(event);
  given(...running.facts)
    .at(NOON_MS)
    .when(complete(anna))
    .thenRefuses('not_held', { status: 'cancelled' });
  given(...running.facts)
    .at(NOON_MS)
    .when(cancel)
    .thenRefuses('wrong_status', { status: 'cancelled' });
});

test('[QUEUE-8] priority can be changed until a task has ended', () => {
  const urgent = reprioritiseWork('t1', 1);
  given(submitted('t1'))
    .at(NOON_MS)
    .when(urgent)
    .thenCommits(taskEvent('t1', 'task_reprioritised', { priority: 1 }))
    .answering({ success: true, priority: 1, status: 'pending' });
  given(submitted('t1'), claimed('t1', anna), happened('t1', 'task_completed'))
    .at(NOON_MS)
    .when(urgent)
    .thenRefuses('wrong_status');
});

test('[QUEUE-8] of a batch of completions each has its own answer', () => {
  const items = [
    { task_id: 't1', caller: anna, success: true },
    { task_id: 't2', caller: anna, success: true },
    { task_id: 'none', caller: anna, success: true },
    { task_id: 't3', caller: anna, success: false, error_message: 'red' },
  ];
  const facts = [submitted('t1'), submitted('t2'), submitted('t3')];
  const held = [claimed('t1', anna), claimed('t2', bert), claimed('t3', anna, { ttl_ms: MINUTE_MS })];
  given(...facts, ...held)
    .at(NOON_MS)
    .when(completeWorkBatch(items))
    .thenCommits(taskEvent('t1', 'task_completed'), taskEvent('t3', 'task_failed'))
    .answering({
      success: false,
      completed: 2,
      results: [
        { task_id: 't1', status: 'completed' },
        { task_id: 't2', error: 'not_holder' },
        { task_id: 'none', error: 'unknown_task' },
        { task_id: 't3', status: 'failed' },
      ],
    })
    .notAfter(NOON_MS + MINUTE_MS);
});
