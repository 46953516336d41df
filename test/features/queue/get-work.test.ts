import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeWork } from '../../../src/features/queue/complete-work.ts';
import { lookFurther } from '../../../src/features/queue/far-work.ts';
import { getWork } from '../../../src/features/queue/get-work.ts';
import { renewWork } from '../../../src/features/queue/renew-work.ts';
import { retryDelay_ms, settleDue } from '../../../src/features/queue/settle-due.ts';
import { type TaskState, taskEvent } from '../../../src/features/queue/state.ts';
import type { Terms } from '../../../src/features/queue/terms.ts';
import { joinLine } from '../../../src/features/queue/work-line.ts';
import { isoTime } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, bert, claimed, happened, lease, locked, submitted } from '../../support/facts.ts';

const LEASE_MS = 30 * MINUTE_MS;
const EXPIRY_MS = NOON_MS + LEASE_MS;

function get(caller: Caller, options: { task_types?: string[]; count?: number; settled?: boolean } = {}) {
  const { task_types, count = 1, settled = false } = options;
  return getWork({ caller, task_types, count, lease_ms: LEASE_MS, settled }).decision;
}

/** Asks again and again, as agents do, and answers the ids in the order in which they were handed out. */
function handedOut(facts: Fact[], options: { task_types?: string[]; count?: number } = {}): string[] {
  const ids: string[] = [];
  let now = facts;
  for (;;) {
    const consequence = given(...now)
      .at(NOON_MS)
      .when(get(anna, options));
    if (consequence.settled.verdict === 'refuse') return ids;
    ids.push(...(consequence.answer.tasks as JsonObject[]).map((task) => task.task_id as string));
    now = consequence.facts;
  }
}

test('[QUEUE-1] get_work claims the task and answers what the worker needs', () => {
  given(submitted('t1'))
    .at(NOON_MS)
    .when(get(anna))
    .thenCommits(taskEvent('t1', 'task_claimed', { lease: { ...lease(anna, NOON_MS, LEASE_MS) } }))
    .answering({
      success: true,
      tasks: [
        {
          task_id: 't1',
          task_type: 'test',
          task_description: 'do t1',
          attempt: 1,
          expires_at: isoTime(EXPIRY_MS),
          fencing_token: NOON_MS,
        },
      ],
    });
});

test('[QUEUE-1] [QUEUE-6] most urgent first, 1 before 10, then first in, first out', () => {
  const facts = [
    submitted('z-first', { priority: 5 }),
    submitted('ten', { priority: 10 }),
    submitted('a-second', { priority: 5 }),
    submitted('one', { priority: 1 }),
    submitted('two', { priority: 2 }),
  ];
  assert.deepEqual(handedOut(facts), ['one', 'two', 'z-first', 'a-second', 'ten']);
  assert.deepEqual(handedOut(facts, { count: 2 }), ['one', 'two', 'z-first', 'a-second', 'ten']);
});

test('[QUEUE-1] several types are one queue', () => {
  const facts = [
    submitted('r5', { task_type: 'review' }),
    submitted('t1', { priority: 1 }),
    submitted('d1', { task_type: 'docs', priority: 1 }),
    submitted('r1', { task_type: 'review', priority: 1 }),
  ];
  assert.deepEqual(handedOut(facts, { task_types: ['review', 'test'] }), ['t1', 'r1', 'r5']);
  assert.deepEqual(handedOut(facts, { task_types: ['tes'] }), [], 'a type is not a prefix');
});

test('[QUEUE-6] a type named twice does not hand a task out twice', () => {
  const task_types = ['test', 'test'];
  assert.deepEqual(handedOut([submitted('t1'), submitted('t2')], { task_types, count: 10 }), ['t1', 't2']);
});

test('[QUEUE-2] nothing to claim is a plain answer', () => {
  given().at(NOON_MS).when(get(anna)).thenRefuses('no_tasks_available', { reason: 'no_tasks_available' });
  given(submitted('t1', { task_type: 'docs' }))
    .at(NOON_MS)
    .when(get(anna, { task_types: ['test'] }))
    .thenRefuses('no_tasks_available');
});

test('[QUEUE-6] a claimed task is nobody else’s', () => {
  given(submitted('t1'), claimed('t1', anna))
    .at(EXPIRY_MS - 1)
    .when(get(bert))
    .thenRefuses('no_tasks_available');
  given(submitted('t1'), claimed('t1', anna))
    .at(EXPIRY_MS - 1)
    .when(get(anna))
    .thenRefuses('no_tasks_available');
});

test('[QUEUE-5] a task with unmet dependencies is never handed out', () => {
  given(
    submitted('parent', { has_dependents: true }),
    claimed('parent', anna),
    submitted('child', { depends_on: ['parent'] }),
  )
    .at(NOON_MS)
    .when(get(bert))
    .thenRefuses('no_tasks_available');
});

test('[QUEUE-8] a delayed task waits for its time, then becomes due before anything is handed out', () => {
  const delayed = submitted('t1', { not_before_ms: NOON_MS, priority: 1 });
  const other = submitted('t2');
  given(delayed)
    .at(NOON_MS - 1)
    .when(get(anna))
    .thenRefuses('no_tasks_available');
  given(delayed, other).at(NOON_MS).when(get(anna)).thenFirst({ step: 'settle_due' });
  const settled = given(delayed, other).at(NOON_MS).when(settleDue());
  settled.thenCommits(taskEvent('t1', 'task_promoted'));
  given(...settled.facts)
    .at(NOON_MS)
    .when(get(anna, { settled: true }))
    .thenCommits(taskEvent('t1', 'task_claimed'));
});

test('[QUEUE-8] a task whose files another agent has locked is passed over; the holder itself gets it', () => {
  const facts = [
    submitted('t1', { files: ['a.ts', 'b.ts'], priority: 1 }),
    submitted('t2'),
    locked('b.ts', anna),
  ];
  given(...facts)
    .at(NOON_MS)
    .when(get(bert))
    .thenCommits(taskEvent('t2', 'task_claimed'));
  given(...facts)
    .at(NOON_MS)
    .when(get(anna))
    .thenCommits(taskEvent('t1', 'task_claimed'));
  given(...facts)
    .at(NOON_MS + 10 * MINUTE_MS)
    .when(get(bert))
    .thenCommits(taskEvent('t1', 'task_claimed'));
});

test('[QUEUE-1] what stands behind a task with locked files keeps its place before other types', () => {
  const facts = [
    submitted('locked', { files: ['a.ts'], priority: 1 }),
    submitted('second', { priority: 2 }),
    submitted('third', { task_type: 'review', priority: 3 }),
    locked('a.ts', anna),
  ];
  for (const count of [1, 2])
    given(...facts)
      .at(NOON_MS)
      .when(get(bert, { task_types: ['test', 'review'], count }))
      .answering({ tasks: [{ task_id: 'second' }, { task_id: 'third' }].slice(0, count) });
});

test('[QUEUE-7] an expired claim returns the task after a pause that grows with every attempt', () => {
  const facts = [submitted('t1'), claimed('t1', anna)];
  given(...facts)
    .at(EXPIRY_MS - 1)
    .when(settleDue())
    .thenRefuses('no_tasks_available');
  const settled = given(...facts)
    .at(EXPIRY_MS)
    .when(settleDue());
  const retry_at_ms = EXPIRY_MS + retryDelay_ms(1);
  settled.thenCommits(
    taskEvent('t1', 'task_lease_expired', { agent_id: 'anna', token: NOON_MS, retry_at_ms }),
  );
  given(...settled.facts)
    .at(retry_at_ms - 1)
    .when(get(bert))
    .thenRefuses('no_tasks_available');
  const promoted = given(...settled.facts)
    .at(retry_at_ms)
    .when(settleDue()).facts;
  given(...promoted)
    .at(retry_at_ms)
    .when(get(bert))
    .answering({ tasks: [{ task_id: 't1', attempt: 2, fencing_token: retry_at_ms + 1 }] });
  assert.deepEqual([1, 2, 3, 7, 50].map(retryDelay_ms), [5000, 10_000, 20_000, 300_000, 300_000]);
});

test('[QUEUE-7] after its last attempt a task goes to the dead-letter state and says why', () => {
  const settled = given(submitted('t1', { max_attempts: 1 }), claimed('t1', anna))
    .at(EXPIRY_MS)
    .when(settleDue());
  settled.thenCommits(taskEvent('t1', 'task_dead_lettered', { agent_id: 'anna', token: NOON_MS }));
  const state = settled.after.get('task/t1')?.state as unknown as TaskState;
  assert.equal(state.status, 'dead');
  assert.match(state.error_message ?? '', /1 of 1 .* anna/);
  given(...settled.facts)
    .at(EXPIRY_MS + 999 * MINUTE_MS)
    .when(get(bert))
    .thenRefuses('no_tasks_available');
});

test('[QUEUE-7] the holder keeps its claim by renewing it, in time, and nobody else does', () => {
  const facts = [submitted('t1'), claimed('t1', anna)];
  const at_ms = NOON_MS + 20 * MINUTE_MS;
  const renewed = given(...facts)
    .at(at_ms)
    .when(renewWork('t1', anna, LEASE_MS));
  renewed
    .thenCommits(
      taskEvent('t1', 'task_renewed', { lease: { token: NOON_MS, expires_at_ms: at_ms + LEASE_MS } }),
    )
    .answering({ success: true, fencing_token: NOON_MS })
    .notAfter(EXPIRY_MS);
  given(...renewed.facts)
    .at(EXPIRY_MS)
    .when(settleDue())
    .thenRefuses('no_tasks_available');
  given(...facts)
    .at(at_ms)
    .when(renewWork('t1', bert, LEASE_MS))
    .thenRefuses('not_holder');
  given(...facts)
    .at(EXPIRY_MS)
    .when(renewWork('t1', anna, LEASE_MS))
    .thenRefuses('lease_expired');
});

test('[QUEUE-7] attempt 1, back from a pause, cannot complete attempt 2', () => {
  const retaken_ms = EXPIRY_MS + MINUTE_MS;
  const again = (caller: Caller) => [
    submitted('t1'),
    claimed('t1', anna),
    happened('t1', 'task_lease_expired', { retry_at_ms: EXPIRY_MS + 5000 }, EXPIRY_MS),
    happened('t1', 'task_promoted', {}, retaken_ms),
    claimed('t1', caller, { at_ms: retaken_ms }),
  ];
  const complete = (caller: Caller) => completeWork({ task_id: 't1', caller, success: true });
  const late = { ...anna, token: NOON_MS };
  given(...again(bert))
    .at(retaken_ms)
    .when(complete(late))
    .thenRefuses('superseded', { claimed_by: 'bert' });
  given(...again(bert))
    .at(retaken_ms)
    .when(complete(anna))
    .thenRefuses('not_holder', { claimed_by: 'bert' });
  // Even when attempt 2 is its own: the grant counts, not the name.
  given(...again(anna))
    .at(retaken_ms)
    .when(complete(late))
    .thenRefuses('superseded');
});

test('[QUEUE-7] completing after the claim ran out is refused although nobody else has the task yet', () => {
  const late = completeWork({ task_id: 't1', caller: anna, success: true });
  given(submitted('t1'), claimed('t1', anna)).at(EXPIRY_MS).when(late).thenRefuses('lease_expired');
  given(
    submitted('t1'),
    claimed('t1', anna),
    happened('t1', 'task_lease_expired', { retry_at_ms: EXPIRY_MS }, EXPIRY_MS),
  )
    .at(EXPIRY_MS)
    .when(late)
    .thenRefuses('not_held', { status: 'delayed' });
});

test('[QUEUE-6] at most 32 tasks are passed over, and the one behind them is found', () => {
  const blocked = Array.from({ length: 32 }, (_, index) =>
    submitted(`b${index}`, { files: ['x.ts'], priority: 1 }),
  );
  given(...blocked, submitted('free'), locked('x.ts', anna))
    .at(NOON_MS)
    .when(get(bert))
    .thenCommits(taskEvent('free', 'task_claimed'));
});

/** An agent joined the line a moment before noon. */
function inLine(caller: Caller, facts: Fact[]): Fact[] {
  const place = { waiter_id: `wait-${caller.agent_id}`, agent_id: caller.agent_id, task_types: undefined };
  return given(...facts)
    .at(NOON_MS - 1)
    .when(joinLine(place)).facts;
}

test('[QUEUE-8] [LOCK-11] what somebody ahead in line can’t have, for a lock or a rule, is not kept for it', () => {
  const own = [...inLine(bert, [submitted('t1', { files: ['a.ts'] })]), locked('a.ts', anna)];
  given(...own)
    .at(NOON_MS)
    .when(get(anna))
    .answering({ tasks: [{ task_id: 't1' }] });
  const review = inLine(bert, [submitted('r1', { task_type: 'review' })]);
  const terms = { reviewers: { carl: ['anna'] } };
  given(...review)
    .at(NOON_MS)
    .when(
      getWork({ caller: anna, task_types: undefined, count: 1, lease_ms: LEASE_MS, settled: false, terms })
        .decision,
    )
    .answering({ tasks: [{ task_id: 'r1' }] });
});

test('[QUEUE-8] [LOCK-11] who is ahead in line is counted on to take its own first', () => {
  const facts = [submitted('berts', { files: ['b.ts'] }), submitted('free'), locked('b.ts', bert)];
  given(...inLine(bert, facts))
    .at(NOON_MS)
    .when(get(anna))
    .answering({ tasks: [{ task_id: 'free' }] });
  given(...inLine(bert, [submitted('free')]))
    .at(NOON_MS)
    .when(get(anna))
    .thenRefuses('no_tasks_available');
});

/** Behind the beginning of the queue, should nothing in it be takeable. */
function getFurther(facts: Fact[], options: { task_types?: string[]; terms?: Terms } = {}) {
  const { task_types, terms } = options;
  const wanted = { caller: anna, task_types, count: 1, lease_ms: LEASE_MS, settled: false, terms };
  given(...facts)
    .at(NOON_MS)
    .when(getWork(wanted).decision)
    .thenFirst({ step: 'look_further' });
  const state = folded(facts);
  const looking = lookFurther(wanted);
  let look = looking.next();
  while (!look.done) {
    const loaded = new LoadedSet();
    load(state, look.value, loaded);
    look = looking.next({ loaded, now_ms: NOON_MS });
  }
  const { among } = look.value;
  return given(...facts)
    .at(NOON_MS)
    .when(getWork({ ...wanted, among }).decision);
}

test('[QUEUE-1] [QUEUE-8] many files of few tasks, or many tasks by a rule: what stands behind them is found', () => {
  const files = Array.from({ length: limits.task_files_max }, (_, n) => `${n}.ts`);
  const large = Array.from({ length: 6 }, (_, n) => submitted(`t${n}`, { files }));
  const held = [...large, locked('7.ts', bert)];
  getFurther([...held, submitted('free', { files: ['8.ts', 'free.ts'] })]).answering({
    tasks: [{ task_id: 'free' }],
  });
  getFurther(held).thenRefuses('no_tasks_available');
  const reviews = Array.from({ length: limits.candidates_per_take + 1 }, (_, n) =>
    submitted(`r${n}`, { task_type: 'review' }),
  );
  getFurther([...reviews, submitted('plain', { priority: 9 })], {
    terms: { reviewers: { carl: ['bert'] } },
  }).answering({
    tasks: [{ task_id: 'plain' }],
  });
});

test('[QUEUE-1] behind many of one type that can’t be had may stand one before the other types’ next', () => {
  const held = Array.from({ length: limits.candidates_per_take + 1 }, (_, n) =>
    submitted(`t${n}`, { files: ['a.ts'] }),
  );
  const facts = [
    ...held,
    locked('a.ts', bert),
    submitted('urgent'),
    submitted('late', { task_type: 'docs', priority: 9 }),
  ];
  getFurther(facts, { task_types: ['test', 'docs'] }).answering({ tasks: [{ task_id: 'urgent' }] });
});

test('[QUEUE-1] what was found far behind and is gone, or locked, by the time of the commit is not handed out', () => {
  const wanted = { caller: anna, task_types: undefined, count: 2, lease_ms: LEASE_MS, settled: true };
  const facts = [
    submitted('gone'),
    claimed('gone', bert),
    submitted('locked', { files: ['a.ts'] }),
    locked('a.ts', bert),
    submitted('free', { files: ['b.ts'] }),
  ];
  given(...facts)
    .at(NOON_MS)
    .when(getWork({ ...wanted, among: ['gone', 'unknown', 'locked', 'free'] }).decision)
    .thenCommits(taskEvent('free', 'task_claimed'));
  given(...facts)
    .at(NOON_MS)
    .when(getWork({ ...wanted, among: ['gone', 'locked'] }).decision)
    .thenRefuses('no_tasks_available');
});
