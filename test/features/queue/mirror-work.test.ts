import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelWork, reprioritiseWork, retryWork } from '../../../src/features/queue/change-work.ts';
import { completeWork } from '../../../src/features/queue/complete-work.ts';
import { fileQueuedWork } from '../../../src/features/queue/file-work.ts';
import type { FiledAs } from '../../../src/features/queue/filed.ts';
import { getWork } from '../../../src/features/queue/get-work.ts';
import { mirrorDeleted, mirrorFile, titleOf } from '../../../src/features/queue/mirror-work.ts';
import { renewWork } from '../../../src/features/queue/renew-work.ts';
import { type TaskState, taskEvent } from '../../../src/features/queue/state.ts';
import { priorityWord } from '../../../src/features/workdir/mirrored.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { type Fact, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, submitted } from '../../support/facts.ts';
import { lyingAt, seenAs } from './filed-facts.ts';

const AT = NOON_MS;
const inbox = lyingAt('inbox/x.yaml', 'new');
const working = lyingAt('assigned/ann/x.yaml', 'in_progress', { started_by: 'ann-1' });
const done = lyingAt('done/x.yaml', 'done');

/** As an event has it. */
const inText = (file: FiledAs) => ({ ...file }) as unknown as JsonObject;

const seen = seenAs('t', 'filed', { file: inbox });

function filed(...more: Parameters<typeof seenAs>[]): Fact[] {
  let facts = given().at(AT).when(mirrorFile(seen)).facts;
  for (const each of more)
    facts = given(...facts)
      .at(AT)
      .when(mirrorFile(seenAs(...each))).facts;
  return facts;
}

function stateOf(facts: readonly Fact[], id = 't'): TaskState {
  const after = given(...facts)
    .at(AT)
    .when(mirrorFile(seenAs('other', 'filed', { file: inbox }))).after;
  return after.get(`task/${id}`)?.state as unknown as TaskState;
}

test('[DIR-6] a file that the store does not know begins as filed; seen again as it is, nothing is written', () => {
  const first = given().at(AT).when(mirrorFile(seen));
  first.thenCommits(taskEvent('t', 'task_filed', { file: inText(inbox) }));
  assert.equal(stateOf(first.facts).status, 'filed');
  given(...first.facts)
    .at(AT + MINUTE_MS)
    .when(mirrorFile(seen))
    .thenRefuses('wrong_status');
});

test('[DIR-6] a file that is done when it is first seen is filed and completed in one commit', () => {
  given()
    .at(AT)
    .when(mirrorFile(seenAs('t', 'completed', { file: done, result: { summary: 'Mended' } })))
    .thenCommits(
      taskEvent('t', 'task_filed'),
      taskEvent('t', 'task_completed', { agent_id: 'ann', result: { summary: 'Mended' } }),
    );
});

test('[DIR-6] each word of a file is one event: changed, failed, cancelled, completed, and filed again after any of them', () => {
  given(...filed())
    .at(AT)
    .when(mirrorFile(seenAs('t', 'filed', { file: working })))
    .thenCommits(taskEvent('t', 'task_file_changed', { file: inText(working), moved_from: 'inbox/x.yaml' }));
  const ends = [
    ['failed', lyingAt('assigned/ann/x.yaml', 'error'), 'task_failed'],
    ['cancelled', lyingAt('fridge/x.yaml', 'frozen'), 'task_cancelled'],
    ['completed', done, 'task_completed'],
  ] as const;
  for (const [status, file, type] of ends) {
    const ended = given(...filed())
      .at(AT)
      .when(mirrorFile(seenAs('t', status, { file })));
    ended.thenCommits(taskEvent('t', type, { file: inText(file) }));
    const back = given(...ended.facts)
      .at(AT)
      .when(mirrorFile(seenAs('t', 'filed', { file: working })));
    back.thenCommits(taskEvent('t', 'task_filed', { file: inText(working) }));
    const { status: now, error_message, result, ended_at_ms } = stateOf(back.facts);
    assert.deepEqual([now, error_message, result, ended_at_ms], ['filed', undefined, undefined, undefined]);
  }
});

test('[DIR-6] one end after another leaves nothing of the first: what was seen twice is written once', () => {
  const failed = { file: lyingAt('assigned/ann/x.yaml', 'error'), error_message: 'no' };
  const words: Parameters<typeof seenAs>[] = [
    ['t', 'failed', failed],
    ['t', 'completed', { file: done, result: { summary: 'so' } }],
    ['t', 'cancelled', { file: lyingAt('fridge/x.yaml', 'frozen'), error_message: 'cold' }],
    ['t', 'failed', failed],
  ];
  for (let count = 1; count <= words.length; count += 1) {
    const [last] = words.slice(count - 1, count);
    if (last === undefined) continue;
    given(...filed(...words.slice(0, count)))
      .at(AT)
      .when(mirrorFile(seenAs(...last)))
      .thenRefuses('wrong_status');
  }
});

test('[DIR-6] other words about an end that was heard change the words and end nothing again', () => {
  const said = (result?: JsonObject) => mirrorFile(seenAs('t', 'completed', { file: done, result }));
  const ended = given(...filed(['t', 'completed', { file: done, result: { summary: 'so' } }]));
  const again = ended.at(AT).when(said({ summary: 'otherwise' }));
  again.thenCommits(taskEvent('t', 'task_file_changed', { changes: { result: { summary: 'otherwise' } } }));
  assert.deepEqual(stateOf(again.facts).result, { summary: 'otherwise' });
  const silent = given(...again.facts)
    .at(AT)
    .when(said());
  silent.thenCommits(taskEvent('t', 'task_file_changed', { changes: { result: null } }));
  assert.equal(stateOf(silent.facts).result, undefined);
  given(...silent.facts)
    .at(AT)
    .when(said())
    .thenRefuses('wrong_status');
});

test('[DIR-6] a deleted file cancels what is open and leaves alone what has ended or is only being written', () => {
  given(...filed())
    .at(AT)
    .when(mirrorDeleted('t', inbox, 'gone'))
    .thenCommits(taskEvent('t', 'task_cancelled', { error_message: 'gone' }));
  given(...filed(['t', 'completed', { file: done }]))
    .at(AT)
    .when(mirrorDeleted('t', inbox, 'gone'))
    .thenRefuses('wrong_status');
  const filing = given(submitted('t')).at(AT).when(fileQueuedWork(order())).facts;
  given(...filing)
    .at(AT)
    .when(mirrorDeleted('t', inbox, 'gone'))
    .thenRefuses('wrong_status');
});

test('[DIR-6] a record that is no file, or another one, is nobody’s to change through a file', () => {
  given(submitted('t')).at(AT).when(mirrorFile(seen)).thenRefuses('unknown_task');
  const elsewhere = { ...inbox, directory: 'other' };
  given(...filed())
    .at(AT)
    .when(mirrorFile({ ...seen, file: elsewhere }))
    .thenRefuses('unknown_task');
  given(...filed())
    .at(AT)
    .when(mirrorFile({ ...seen, file: { ...inbox, id: 'y' } }))
    .thenRefuses('unknown_task');
  given(...filed())
    .at(AT)
    .when(mirrorDeleted('t', elsewhere, 'gone'))
    .thenRefuses('unknown_task');
  given()
    .at(AT)
    .when(mirrorFile({ ...seen, may_begin: false }))
    .thenRefuses('unknown_task');
});

test('[DIR-6] every change through the queue is refused with the way to the file', () => {
  const details = { task_file: 'x', path: 'work/inbox/x.yaml' };
  for (const decision of [
    completeWork({ task_id: 't', caller: anna, success: true }),
    renewWork('t', anna, MINUTE_MS),
    cancelWork('t', 'anna', undefined),
    retryWork('t'),
    reprioritiseWork('t', 1),
  ])
    given(...filed())
      .at(AT)
      .when(decision)
      .thenRefuses('task_is_filed', details);
  const wanted = { caller: anna, task_types: undefined, count: 1, lease_ms: MINUTE_MS, settled: true };
  given(...filed())
    .at(AT)
    .when(getWork(wanted).decision)
    .thenRefuses('no_tasks_available');
});

function order(more: Partial<Parameters<typeof fileQueuedWork>[0]> = {}) {
  const names = { task_id: 't', directory: 'work', file_id: 'x', agent: 'ann' };
  return { ...names, by: 'one', lease_ms: MINUTE_MS, ...more };
}

test('[DIR-6] a pending task is filed by one; another goes on only when its time is over, under the name that was chosen', () => {
  const first = given(submitted('t')).at(AT).when(fileQueuedWork(order()));
  first.thenCommits(taskEvent('t', 'task_filed')).answering({ task_file: 'x', resumed: false });
  const other = order({ by: 'two', file_id: 'y', agent: 'bob' });
  given(...first.facts)
    .at(AT + 1)
    .when(fileQueuedWork(other))
    .thenRefuses('task_changed');
  given(...first.facts)
    .at(AT + MINUTE_MS)
    .when(fileQueuedWork(other))
    .thenCommits(taskEvent('t', 'task_filed'))
    .answering({ task_file: 'x', agent: 'ann', resumed: true });
  given(...first.facts)
    .at(AT + 1)
    .when(fileQueuedWork(order({ file_id: 'y', instead_of: 'x' })))
    .thenCommits(taskEvent('t', 'task_filed'))
    .answering({ task_file: 'y' });
  const written = given(...first.facts)
    .at(AT)
    .when(mirrorFile({ ...seen, may_begin: false }));
  written.thenCommits(taskEvent('t', 'task_file_changed'));
  assert.equal(stateOf(written.facts).file?.filing, undefined);
  given(...written.facts)
    .at(AT + MINUTE_MS)
    .when(fileQueuedWork(other))
    .thenRefuses('task_is_filed');
});

test('[DIR-6] what somebody works on, or waits, is not filed', () => {
  const claim = getWork({
    caller: anna,
    task_types: undefined,
    count: 1,
    lease_ms: MINUTE_MS,
    settled: true,
  });
  const claimed = given(submitted('t')).at(AT).when(claim.decision).facts;
  given(...claimed)
    .at(AT)
    .when(fileQueuedWork(order()))
    .thenRefuses('wrong_status', { status: 'claimed' });
  const waiting = submitted('t', { depends_on: ['p'] });
  given(waiting).at(AT).when(fileQueuedWork(order())).thenRefuses('wrong_status', { status: 'blocked' });
  given().at(AT).when(fileQueuedWork(order())).thenRefuses('unknown_task');
});

test('[DIR-6] a number that the file’s word means and words that its title stands for stay as they were', () => {
  const long = 'Write the manual\nwith pictures';
  assert.deepEqual([titleOf(long), titleOf(` a${'b'.repeat(300)}`).length], ['Write the manual', 200]);
  const words = Array.from({ length: 10 }, (_, n) => priorityWord(n + 1));
  assert.deepEqual(words, [
    ...['critical', 'high', 'high', 'normal', 'normal', 'normal'],
    ...['low', 'low', 'low', 'low'],
  ]);
  const filing = given(submitted('t', { priority: 4 }))
    .at(AT)
    .when(fileQueuedWork(order())).facts;
  const kept = given(...filing)
    .at(AT)
    .when(mirrorFile({ ...seen, title: 'do t', may_begin: false }));
  assert.equal(stateOf(kept.facts).priority, 4);
  const urgent = { ...seen, title: 'Now', priority: { least: 1, usual: 1, most: 1 }, may_begin: false };
  const { description, priority } = stateOf(
    given(...kept.facts)
      .at(AT)
      .when(mirrorFile(urgent)).facts,
  );
  assert.deepEqual([description, priority], ['Now', 1]);
});
