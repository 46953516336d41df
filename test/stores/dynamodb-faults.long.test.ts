import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../conformance/engine.ts';
import { Behind } from '../support/dynamodb-behind.ts';
import type { Fault } from '../support/dynamodb-faults.ts';
import { until } from '../support/until.ts';

// What DynamoDB does to its clients, one thing at a time.

const TASK = { task_type: 'test', task_description: 'once' };
const COMMIT = 'TransactWriteItems';
const READS = ['GetItem', 'BatchGetItem', 'Query'];

test('[STORE-1] TransactionConflict is tried again as it was, without a look at anything', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  behind.inject({ is: 'cancelled' }, { times: 3 });
  const got = await a('acquire_lock', { file_path: 'a.ts' });
  assert.equal(got.action, 'acquired');
  assert.deepEqual(behind.asked(), [COMMIT, COMMIT, COMMIT, COMMIT]);
  const items = behind.proxy.requests.map(({ body }) => JSON.stringify(body.TransactItems));
  assert.equal(new Set(items).size, 1, 'the same transaction each time');
});

test('[STORE-1] a conflict at one item and a condition that failed at another: what is shown is not taken for all', async () => {
  await using behind = await Behind.start();
  const [a, b] = [await behind.agent('a'), await behind.agent('b')];
  await a('acquire_lock', { file_path: 'a.ts' });
  behind.proxy.requests.length = 0;
  behind.inject({ is: 'cancelled' }, { times: 2 });
  const answer = await b('acquire_lock', { file_path: 'a.ts' });
  assert.deepEqual([answer.action, answer.locked_by], ['blocked', 'a']);
  assert.equal((await behind.events('lock_acquired')).length, 3, 'a.ts and two warm ones');
});

const BUSY: readonly Fault[] = [
  { is: 'throttled' },
  { is: 'throttled', as: 'ProvisionedThroughputExceededException' },
  { is: 'throttled', as: 'RequestLimitExceeded' },
  { is: 'cancelled', reasons: { 0: 'ThrottlingError' } },
  { is: 'cancelled', reasons: { 1: 'ProvisionedThroughputExceeded' } },
  { is: 'in_progress' },
  { is: 'server_error', applied: false },
  { is: 'reset', applied: false },
];

for (const fault of BUSY)
  test(`[STORE-1] ${nameOf(fault)} three times, then done, once`, async () => {
    await using behind = await Behind.start();
    const a = await behind.agent('a');
    behind.inject(fault, { times: 3 });
    const { success } = await a('submit_work', TASK);
    assert.equal(success, true);
    assert.ok(
      behind.asked().every((operation) => operation === COMMIT || operation === 'BatchGetItem'),
      behind.asked().join(),
    );
    assert.equal((await behind.events('task_submitted')).length, 1);
  });

/** What happened is not known: the answer is lost, and not what it was about. */
const LOST: readonly Fault[] = [
  { is: 'reset', applied: true },
  { is: 'server_error', applied: true },
  { is: 'in_progress', applied: true },
];

for (const fault of LOST)
  for (const operation_id of [undefined, 'named-once'])
    test(`[STORE-1] ${nameOf(fault)}: committed once, ${operation_id === undefined ? 'without' : 'with'} an operation id`, async () => {
      await using behind = await Behind.start();
      const a = await behind.agent('a');
      behind.inject(fault, { times: 2 }, COMMIT);
      const input = operation_id === undefined ? TASK : { ...TASK, operation_id };
      const { success, task_id } = await a('submit_work', input);
      assert.equal(success, true);
      const tokens = commitTokens(behind);
      assert.deepEqual([tokens.length, new Set(tokens).size], [3, 1], 'sent again under the same token');
      const submitted = await behind.events('task_submitted');
      assert.deepEqual(
        submitted.map(({ id }) => id),
        [task_id],
      );
    });

test('[STORE-1] a lost answer, then a conflict with another transaction: the commit is recognised as its own', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  // The refusal of the second try ends its token; the third one finds what the first one did.
  const script: (Fault | undefined)[] = [{ is: 'reset', applied: true }, { is: 'cancelled' }];
  behind.proxy.inject((operation) => (operation === COMMIT ? script.shift() : undefined));
  const { success, task_id } = await a('submit_work', TASK);
  assert.equal(success, true);
  const submitted = await behind.events('task_submitted');
  assert.deepEqual(
    submitted.map(({ id }) => id),
    [task_id],
  );
});

test('[STORE-3] an answer, or a request, that takes too long: asked again under the same token, it happens once', async () => {
  for (const what of ['answer', 'request'] as const) {
    await using behind = await Behind.start();
    const a = await behind.agent('a');
    behind.inject({ is: 'late', by_ms: 2000, what }, { times: 1 }, COMMIT);
    assert.equal((await a('submit_work', TASK)).success, true, what);
    // The late one has come to its end by then.
    behind.inject({ is: 'late', by_ms: 700, what: 'answer' }, { times: 1 });
    await a('check_locks', {});
    assert.equal((await behind.events('task_submitted')).length, 1, what);
  }
});

test('[STORE-3] no answer at all: it is said, and asking again under the same id finds it done', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  const input = { ...TASK, operation_id: 'slow' };
  const heal = behind.inject({ is: 'late', by_ms: 6000, what: 'answer' }, {}, COMMIT);
  const started_ms = performance.now();
  const lost = await a('submit_work', input);
  assert.equal(lost.error, 'database_unavailable');
  assert.ok(performance.now() - started_ms < 4000, `${performance.now() - started_ms} ms`);
  heal();
  const again = await a('submit_work', input);
  assert.equal(again.success, true);
  assert.equal((await behind.events('task_submitted')).length, 1);
});

const FOR_EVER: readonly (readonly [Fault, number])[] = [
  [{ is: 'reset', applied: false }, 3000],
  [{ is: 'server_error', applied: false }, 3000],
  [{ is: 'throttled' }, 6500],
  [{ is: 'cancelled', reasons: { 0: 'ThrottlingError' } }, 6500],
];

for (const [fault, within_ms] of FOR_EVER)
  test(`[STORE-3] ${nameOf(fault)} for ever: database_unavailable in time, and nothing is changed`, async () => {
    await using behind = await Behind.start();
    const a = await behind.agent('a');
    const before = (await behind.log()).length;
    const heal = behind.inject(fault);
    const started_ms = performance.now();
    const answer = await a('acquire_lock', { file_path: 'a.ts' });
    const took_ms = performance.now() - started_ms;
    heal();
    assert.equal(answer.error, 'database_unavailable');
    assert.ok(took_ms < within_ms, `${took_ms} ms`);
    const rows = (await behind.log()).slice(before);
    assert.deepEqual(
      rows.flatMap(({ events }) => events),
      [],
    );
    assert.equal(
      (await a('acquire_lock', { file_path: 'a.ts' })).action,
      'acquired',
      'it recovers by itself',
    );
  });

test('[STORE-1] unprocessed keys and items are asked for again until all have been worked on', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  const file_paths = Array.from({ length: 12 }, (_, n) => `many/${n}.ts`);
  for (const file_path of file_paths) await a('acquire_lock', { file_path });
  const b = await behind.agent('b');
  behind.inject({ is: 'unprocessed', processed: 2 }, { times: 3 }, 'BatchGetItem');
  const { locks } = await b('check_locks', { file_paths });
  assert.equal((locks as unknown[]).length, 12);
  // More than one transaction takes: their index entries go ahead in batches.
  behind.inject({ is: 'unprocessed', processed: 3 }, { times: 2 }, 'BatchWriteItem');
  const tasks = Array.from({ length: 50 }, (_, n) => ({ task_type: 'many', task_description: `${n}` }));
  assert.equal((await b('submit_work_batch', { tasks })).success, true);
  for (let n = 0; n < 50; n += 1)
    assert.equal((await b('get_work', { task_types: ['many'] })).task_description, `${n}`);
  const { requests } = behind.proxy;
  const broken = requests.filter(({ faults }) => faults.length > 0).map(({ operation }) => operation);
  assert.deepEqual(new Set(broken), new Set(['BatchGetItem', 'BatchWriteItem']));
});

test('[AUD-1] a note whose answer was lost is in the log once, though a reader has moved it on meanwhile', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  behind.inject({ is: 'late', by_ms: 1900, what: 'answer' }, { times: 1 }, COMMIT);
  await a('check_locks', { file_paths: ['looked/at.ts'] });
  const looks = async () =>
    (await behind.log()).filter(({ operation }) => operation === 'check_locks').length;
  // Readers all the time: before the note has its answer, when it is asked again, and after that.
  const sent = () => behind.asked().filter((operation) => operation === COMMIT).length;
  await until(async () => (await looks()) === 1);
  await until(async () => sent() >= 2);
  await a('acquire_lock', { file_path: 'afterwards.ts' });
  assert.equal(await looks(), 1);
});

test('[STORE-1] whatever decides is read consistently', async () => {
  await using behind = await Behind.start();
  behind.inject({ is: 'stale' });
  const coxswain = await behind.open();
  const a = agent(coxswain, 'a');
  await a('acquire_lock', { file_paths: ['a.ts', 'b/'] });
  await a('submit_work', TASK);
  assert.equal((await a('get_work', {})).success, true);
  await a('check_locks', {});
  await coxswain.store.read(coxswain.project, 0, 10);
  const asked = new Set(behind.asked());
  for (const operation of [...READS, COMMIT]) assert.ok(asked.delete(operation), operation);
  asked.delete('BatchWriteItem');
  assert.deepEqual([...asked], [], 'nothing else, and no scan');
  assert.deepEqual(
    behind.proxy.requests.flatMap(({ faults }) => faults),
    [],
  );
});

test('[STORE-1] two put the log in order at once: a row has one position', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  await behind.log();
  for (let n = 0; n < 5; n += 1) await a('acquire_lock', { file_path: `${n}.ts` });
  const slow = await behind.open();
  // It has seen what waits, and gets to the head only after another reader has moved all of it.
  let moved: Promise<unknown> | undefined;
  behind.proxy.inject((operation, body) => {
    if (operation !== 'GetItem' || !JSON.stringify(body).includes('"HEAD"') || moved !== undefined)
      return undefined;
    moved = behind.log();
    return { is: 'late', by_ms: 1500, what: 'request' };
  });
  const { entries } = await slow.store.read(slow.project, 0, 1000);
  assert.ok(moved !== undefined);
  await moved;
  const all = await behind.log();
  assert.equal(new Set(all.map(({ operation_id }) => operation_id)).size, all.length, 'no row twice');
  assert.deepEqual(
    entries.map(({ position }) => position),
    all.map(({ position }) => position),
  );
});

test('[AUD-6] what retention takes out is gone even when others were at its rows', async () => {
  await using behind = await Behind.start();
  const a = await behind.agent('a');
  for (let n = 0; n < 3; n += 1) await a('acquire_lock', { file_path: `${n}.ts` });
  const { store, project } = await behind.open();
  const rows = (await store.read(project, 0, 10)).entries;
  const [first] = rows;
  assert.ok(first !== undefined);
  const { position: _, ...row } = { ...first, operation: 'archive_audit', events: [] };
  const facts = { quiet_rows: 0, event_rows: rows.length, oldest_at_ms: 0, newest_at_ms: 1, sealed_at_ms: 2 };
  const seal = {
    ...{ project, number: 1, previous: '', after: 0, last: rows.length, rows: rows.length, words: null },
    ...{ ...facts, hash: 'h', pruned_by: null, archived_by: null },
  };
  const script: (Fault | undefined)[] = [{ is: 'cancelled' }, undefined, undefined];
  behind.proxy.inject((operation) => (operation === COMMIT ? script.shift() : undefined));
  assert.equal(
    await store.trail.addSeal(seal, Buffer.from('leaves')),
    true,
    'a conflict is not a second seal',
  );
  script.push(undefined, { is: 'cancelled' }, { is: 'cancelled' });
  const positions = rows.map(({ position }) => position);
  assert.equal(await store.trail.remove(project, { number: 1, mark: 'archived_by', positions, row }), true);
  const left = (await store.read(project, 0, 10)).entries.map(({ operation }) => operation);
  assert.deepEqual(left, ['archive_audit']);
});

function commitTokens({ proxy }: Behind): unknown[] {
  return proxy.requests
    .filter(({ operation }) => operation === COMMIT)
    .map(({ body }) => body.ClientRequestToken);
}

function nameOf(fault: Fault): string {
  const { is, ...how } = fault;
  return `${is} ${JSON.stringify(how)}`;
}
