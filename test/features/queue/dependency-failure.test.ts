import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelWork, retryWork } from '../../../src/features/queue/change-work.ts';
import { getWork } from '../../../src/features/queue/get-work.ts';
import { settleDue } from '../../../src/features/queue/settle-due.ts';
import { type FailurePolicy, type TaskState, taskEvent } from '../../../src/features/queue/state.ts';
import { submitWork } from '../../../src/features/queue/submit-work.ts';
import { limits } from '../../../src/kernel/limits.ts';
import { deliberate, LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, claimed, happened, newTask, submitted, type TaskFacts } from '../../support/facts.ts';

const ENDS = { task_failed: 'failed', task_cancelled: 'cancelled', task_dead_lettered: 'dead' } as const;

function stateOf(facts: readonly Fact[], id: string): TaskState {
  return folded(facts).get(`task/${id}`)?.state as unknown as TaskState;
}

function child(id: string, policy: FailurePolicy, depends_on = ['parent'], more: TaskFacts = {}): Fact {
  return submitted(id, { depends_on, on_dependency_failure: policy, ...more });
}

/** A parent that has ended so, with these children; `other` is not done yet. */
function family(end: string, ...children: Fact[]): Fact[] {
  const parents = ['parent', 'other'].map((id) => submitted(id, { has_dependents: true }));
  return [...parents, ...children, claimed('parent', anna), happened('parent', end)];
}

/** All rounds, until nothing is due. */
function settle(facts: Fact[]): Fact[] {
  let all = facts;
  for (;;) {
    const consequence = given(...all)
      .at(NOON_MS)
      .when(settleDue());
    if (consequence.settled.verdict !== 'commit') return all;
    all = consequence.facts;
  }
}

test('[QUEUE-9] each dependent takes a parent’s failure by its own policy', () => {
  for (const [end, status] of Object.entries(ENDS)) {
    const children = [
      child('blocks', 'block'),
      child('old', 'block', ['parent'], { on_dependency_failure: undefined }),
      child('runs', 'run'),
      child('skips', 'skip'),
    ];
    const error_message = `Task parent, which it depends on, ended as ${status}.`;
    const told = given(...family(end, ...children))
      .at(NOON_MS)
      .when(settleDue());
    told.thenCommits(
      taskEvent('blocks', 'dependency_failed', { task_id: 'parent' }),
      taskEvent('old', 'dependency_failed', { task_id: 'parent' }),
      taskEvent('runs', 'dependency_failed', { task_id: 'parent' }),
      taskEvent('skips', 'task_skipped', { task_id: 'parent', error_message }),
      taskEvent('parent', 'dependents_released'),
    );
    const after = ['blocks', 'old', 'runs', 'skips'].map((id) => stateOf(told.facts, id));
    assert.deepEqual(
      after.map((state) => state.status),
      ['blocked', 'blocked', 'pending', 'skipped'],
    );
    for (const state of after) assert.deepEqual(state.failed_dependencies, ['parent']);
    assert.equal(after[3]?.error_message, error_message);
    assert.equal(after[3]?.ended_at_ms, NOON_MS);
  }
});

test('[QUEUE-9] a parent that succeeds is met whatever the policy', () => {
  const done = settle(family('task_completed', child('runs', 'run'), child('skips', 'skip')));
  for (const id of ['runs', 'skips']) {
    assert.equal(stateOf(done, id).status, 'pending');
    assert.deepEqual(stateOf(done, id).failed_dependencies, []);
  }
});

test('[QUEUE-9] to run anyway is to wait for the others all the same', () => {
  const later = child('later', 'run', ['parent'], { not_before_ms: NOON_MS + MINUTE_MS });
  const told = settle(family('task_failed', child('runs', 'run', ['parent', 'other']), later));
  assert.equal(stateOf(told, 'runs').status, 'blocked');
  assert.deepEqual(stateOf(told, 'runs').unmet, ['other']);
  assert.equal(stateOf(told, 'later').status, 'delayed', 'and for its time');
  const done = settle([...told, claimed('other', anna), happened('other', 'task_completed')]);
  assert.equal(stateOf(done, 'runs').status, 'pending');
  given(...done)
    .at(NOON_MS)
    .when(getWork({ caller: anna, task_types: undefined, count: 1, lease_ms: 1000, settled: true }).decision)
    .answering({ tasks: [{ task_id: 'runs', failed_dependencies: ['parent'] }] });
});

test('[QUEUE-9] a claim without failed dependencies does not mention any', () => {
  const { answer } = given(submitted('t1'))
    .at(NOON_MS)
    .when(getWork({ caller: anna, task_types: undefined, count: 1, lease_ms: 1000, settled: true }).decision);
  const [task] = answer.tasks as { failed_dependencies?: string[] }[];
  assert.ok(task !== undefined && task.failed_dependencies === undefined);
});

test('[QUEUE-9] a skip is passed on, and each further dependent has its own policy', () => {
  const down = (id: string, policy: FailurePolicy) =>
    child(id, policy, ['skips'], { has_dependents: policy === 'skip' });
  const told = settle([
    ...family('task_failed', child('skips', 'skip', ['parent'], { has_dependents: true })),
    down('g-blocks', 'block'),
    down('g-runs', 'run'),
    down('g-skips', 'skip'),
    child('great', 'skip', ['g-skips']),
    child('behind', 'skip', ['g-blocks']),
  ]);
  const status = (id: string) => stateOf(told, id).status;
  assert.deepEqual(['g-blocks', 'g-runs', 'g-skips', 'great', 'behind'].map(status), [
    'blocked',
    'pending',
    'skipped',
    'skipped',
    'blocked',
  ]);
  assert.match(stateOf(told, 'great').error_message ?? '', /g-skips.* ended as skipped/);
  assert.deepEqual(stateOf(told, 'behind').failed_dependencies, [], 'a blocked one has not ended');
});

test('[QUEUE-9] a skip lasts as long as its reason: all that skipped comes back when the parent is made good', () => {
  const told = settle([
    ...family('task_failed', child('skips', 'skip', ['parent', 'other'], { has_dependents: true })),
    child('great', 'skip', ['skips']),
  ]);
  const retried = given(...told)
    .at(NOON_MS)
    .when(retryWork('parent'));
  assert.equal(stateOf(retried.facts, 'skips').status, 'skipped', 'not before it has succeeded');
  const again = [...retried.facts, claimed('parent', anna), happened('parent', 'task_completed')];
  const back = settle(again);
  assert.equal(stateOf(back, 'skips').status, 'blocked', 'it waits for the other one as before');
  assert.equal(stateOf(back, 'skips').ended_at_ms, undefined);
  assert.equal(stateOf(back, 'skips').error_message, undefined);
  assert.equal(stateOf(back, 'great').status, 'skipped', 'what it waits for has not run yet');
  const done = settle([
    ...back,
    claimed('other', anna),
    happened('other', 'task_completed'),
    claimed('skips', anna),
    happened('skips', 'task_completed'),
  ]);
  assert.equal(stateOf(done, 'great').status, 'pending');
});

test('[QUEUE-9] one of two reasons gone is not enough; a second failure is noted, not told as another skip', () => {
  const first = settle(family('task_failed', child('skips', 'skip', ['parent', 'other'])));
  const both = settle([...first, claimed('other', anna), happened('other', 'task_failed')]);
  assert.deepEqual(stateOf(both, 'skips').failed_dependencies, ['parent', 'other']);
  assert.match(stateOf(both, 'skips').error_message ?? '', /^Task parent,/, 'the first one is the reason');
  const one = settle([...both, happened('parent', 'task_retried'), happened('parent', 'task_completed')]);
  assert.equal(stateOf(one, 'skips').status, 'skipped');
  const none = settle([...one, happened('other', 'task_retried'), happened('other', 'task_completed')]);
  assert.equal(stateOf(none, 'skips').status, 'pending');
});

test('[QUEUE-9] two parents that end together tell one dependent in one round', () => {
  for (const [policy, status] of [
    ['block', 'blocked'],
    ['skip', 'skipped'],
    ['run', 'pending'],
  ] as const) {
    const ended = [claimed('other', anna), happened('other', 'task_failed')];
    const round = given(...family('task_failed', child('c', policy, ['parent', 'other'])), ...ended)
      .at(NOON_MS)
      .when(settleDue());
    assert.equal(stateOf(round.facts, 'c').status, status);
    assert.deepEqual(stateOf(round.facts, 'c').failed_dependencies, ['parent', 'other']);
    assert.equal(stateOf(round.facts, 'other').releasing, false);
  }
});

test('[QUEUE-9] a skipped task that comes back in a round does not pass its old end on in it', () => {
  const skipped = given(
    ...family(
      'task_failed',
      child('skips', 'skip', ['parent'], { has_dependents: true }),
      child('great', 'skip', ['skips']),
    ),
  )
    .at(NOON_MS)
    .when(settleDue());
  assert.equal(stateOf(skipped.facts, 'skips').releasing, true);
  const good = [happened('parent', 'task_retried'), happened('parent', 'task_completed')];
  given(...skipped.facts, ...good)
    .at(NOON_MS)
    .when(settleDue())
    .thenCommits(
      taskEvent('skips', 'dependency_met', { task_id: 'parent' }),
      taskEvent('parent', 'dependents_released'),
    );
});

test('[QUEUE-9] retrying a task that never ran lets it go without what has failed', () => {
  const facts = settle(
    family(
      'task_cancelled',
      child('skips', 'skip'),
      child('waits', 'skip', ['parent', 'other']),
      child('blocks', 'block'),
      child('later', 'block', ['parent'], { not_before_ms: NOON_MS + MINUTE_MS }),
    ),
  );
  for (const [id, status] of [
    ['skips', 'pending'],
    ['waits', 'blocked'],
    ['blocks', 'pending'],
    ['later', 'delayed'],
  ] as const) {
    const retried = given(...facts)
      .at(NOON_MS)
      .when(retryWork(id));
    retried.thenCommits(taskEvent(id, 'task_retried')).answering({ success: true, status });
    assert.equal(stateOf(retried.facts, id).status, status);
    assert.deepEqual(stateOf(retried.facts, id).failed_dependencies, ['parent'], 'its agent is told');
    assert.ok(!stateOf(retried.facts, id).unmet.includes('parent'));
  }
  const waiting = given(...facts)
    .at(NOON_MS)
    .when(retryWork('waits'));
  const done = settle([...waiting.facts, claimed('other', anna), happened('other', 'task_completed')]);
  assert.equal(stateOf(done, 'waits').status, 'pending', 'what was let go does not skip it again');
  given(...facts)
    .at(NOON_MS)
    .when(cancelWork('skips', 'anna', undefined))
    .thenRefuses('wrong_status', { status: 'skipped' });
});

test('[QUEUE-9] submitted after the failure is as submitted before it; only block is refused', () => {
  const ended = [submitted('parent'), claimed('parent', anna), happened('parent', 'task_failed')];
  const submit = (on_dependency_failure?: FailurePolicy) =>
    submitWork([newTask('c', { depends_on: ['parent', 'parent'], on_dependency_failure })], 'anna');
  const at = given(...ended).at(NOON_MS);
  at.when(submit()).thenRefuses('dependency_failed', { task_id: 'parent', status: 'failed' });
  at.when(submit('block')).thenRefuses('dependency_failed');
  at.when(submit('run'))
    .thenCommits(
      taskEvent('c', 'task_submitted', { on_dependency_failure: 'run' }),
      taskEvent('c', 'dependency_failed', { task_id: 'parent' }),
    )
    .answering({ tasks: [{ task_id: 'c', status: 'pending' }] });
  const skipped = at.when(submit('skip'));
  skipped
    .thenCommits(
      taskEvent('parent', 'task_depended_on'),
      taskEvent('c', 'task_submitted', { on_dependency_failure: 'skip' }),
      taskEvent('c', 'task_skipped', { task_id: 'parent' }),
    )
    .answering({ tasks: [{ task_id: 'c', status: 'skipped' }] });
  const back = settle([
    ...skipped.facts,
    happened('parent', 'task_retried'),
    happened('parent', 'task_completed'),
  ]);
  assert.equal(stateOf(back, 'c').status, 'pending', 'it comes back like any other');
});

test('[QUEUE-9] in a batch, one that is skipped at once passes that on', () => {
  const batch = submitWork(
    [
      newTask('c', { depends_on: ['parent'], on_dependency_failure: 'skip' }),
      newTask('g', { depends_on: ['c'], on_dependency_failure: 'skip' }),
      newTask('blocks', { depends_on: ['c'] }),
    ],
    'anna',
  );
  const submittedNow = given(submitted('parent'), happened('parent', 'task_cancelled'))
    .at(NOON_MS)
    .when(batch);
  submittedNow.answering({ tasks: [{ status: 'skipped' }, { status: 'blocked' }, { status: 'blocked' }] });
  const told = settle(submittedNow.facts);
  assert.equal(stateOf(told, 'g').status, 'skipped');
  assert.deepEqual(stateOf(told, 'blocks').failed_dependencies, ['c']);
});

test('[QUEUE-9] rounds stay within the limits of a commit, and many small fan-outs share one', () => {
  const parents = Array.from({ length: 40 }, (_, n) => `p${100 + n}`);
  const facts = parents.flatMap((id) => [
    submitted(id, { has_dependents: true }),
    ...Array.from({ length: 9 }, (_, n) => child(`${id}-${n}`, 'skip', [id])),
    happened(id, 'task_cancelled'),
  ]);
  let rounds = 0;
  let all: Fact[] = facts;
  for (;;) {
    const round = given(...all)
      .at(NOON_MS)
      .when(settleDue());
    if (round.settled.verdict !== 'commit') break;
    rounds += 1;
    const touched = new Set(round.settled.events.map(({ id }) => id));
    assert.ok(touched.size <= limits.dependents_per_round + limits.parents_per_round);
    all = round.facts;
  }
  const skips = all.flatMap(({ events }) => events.filter(({ type }) => type === 'task_skipped'));
  assert.equal(skips.length, 360);
  assert.equal(new Set(skips.map(({ id }) => id)).size, 360, 'each was told once');
  assert.ok(rounds <= 20, `${rounds} rounds`);
});

test('[QUEUE-9] a parent that is retried while a round is decided tells nobody anything in it', () => {
  const children = Array.from({ length: limits.dependents_per_round }, (_, n) => child(`c${n}`, 'skip'));
  const before = family('task_failed', ...children);
  const after = [...before, happened('parent', 'task_retried')];
  const loaded = new LoadedSet();
  const rounds = deliberate(settleDue(), loaded, () => NOON_MS);
  let step = rounds.next();
  for (const facts of [before, after]) {
    assert.ok(step.done !== true);
    load(folded(facts), step.value, loaded);
    step = rounds.next();
  }
  assert.ok(step.done === true && step.value.verdict === 'commit');
  assert.deepEqual(step.value.events, []);
  assert.ok(
    [...loaded.keysRead].some(({ id }) => id === 'parent'),
    'and it is expected unchanged at commit',
  );
});
