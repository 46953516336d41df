import assert from 'node:assert/strict';
import { connect as dial } from 'node:net';
import { test } from 'node:test';
import { acquireLock } from '../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { LogFeed } from '../../src/runtime/log-feed.ts';
import { until } from '../support/until.ts';
import { ALICE, type ApiDoor, ENV, SERVICE, settableClock, startApi, withKey } from './api.ts';
import { listen } from './listener.ts';
import { scratch } from './support.ts';

const lock = (door: ApiDoor, file_path: string) => door.post('/locks/acquire', { file_path }, withKey(ALICE));
const submit = (door: ApiDoor) =>
  door.post('/work/submit', { task_type: 't', task_description: 'd' }, withKey(ALICE));
const types = (events: { data: JsonObject }[]) =>
  events.flatMap(({ data }) => (data.events as JsonObject[]).map(({ type }) => type));

test('[HTTP-1] events: from now on, in order, by kind or type; and again from where one was', async () => {
  using place = scratch();
  await using door = await startApi({ store: place.store, cwd: place.folder });
  await lock(door, 'before.ts');
  using all = await listen(door.url, withKey(ALICE));
  using tasks = await listen(door.url, withKey(SERVICE), '?kinds=task');
  using acquired = await listen(door.url, withKey(ALICE), '?types=lock_acquired,lock_released');
  assert.equal(all.response.headers['content-type'], 'text/event-stream');
  await lock(door, 'a.ts');
  await submit(door);
  await door.post('/locks/release', { file_path: 'a.ts' }, withKey(ALICE));
  assert.deepEqual(types(await all.first(3)), ['lock_acquired', 'task_submitted', 'lock_released']);
  assert.deepEqual(types(await tasks.first(1)), ['task_submitted']);
  assert.deepEqual(types(await acquired.first(2)), ['lock_acquired', 'lock_released']);
  const [first, second] = all.events;
  assert.deepEqual(
    [first?.data.agent_id, first?.data.operation, first?.data.position],
    ['alice', 'acquire_lock', first?.id],
  );
  using resumed = await listen(
    door.url,
    { ...withKey(ALICE), 'last-event-id': String(first?.id) },
    '?after=0',
  );
  assert.deepEqual(await resumed.first(2), all.events.slice(1, 3), 'the header counts, nothing twice');
  using whole = await listen(door.url, withKey(ALICE), '?after=0&kinds=lock,task');
  assert.equal(types(await whole.first(4))[0], 'lock_acquired');
  await lock(door, 'b.ts');
  await Promise.all([whole.first(5), resumed.first(3), all.first(4)]);
  assert.ok((second?.id ?? 0) > (first?.id ?? 0));
});

test('[HTTP-6] an agent sees what happened, not who asked in vain nor keys; a person everything but hashes', async () => {
  await using door = await startApi();
  const person = await door.key({ person: 'bob' });
  await door.post('/locks/check', {}, withKey(SERVICE));
  await lock(door, 'a.ts');
  using agents = await listen(door.url, withKey(ALICE), '?after=0&kinds=lock,api_key');
  using persons = await listen(door.url, withKey(person.key), '?after=0');
  const [only] = await agents.first(1);
  assert.deepEqual(Object.keys(only?.data ?? {}), [
    'position',
    'at',
    'agent_id',
    'agent_type',
    'operation',
    'events',
  ]);
  assert.equal(only?.data.operation, 'acquire_lock');
  const asked = () => persons.events.filter(({ data }) => data.operation !== 'touch_session');
  await until(async () => asked().length >= 3);
  const seen = asked();
  assert.deepEqual(
    seen.map(({ data }) => data.operation),
    ['create_key', 'check_locks', 'acquire_lock'],
  );
  assert.doesNotMatch(JSON.stringify(seen), /"hash"/);
  using keys = await listen(door.url, withKey(ALICE), '?after=0&kinds=api_key,lock');
  assert.deepEqual(types(await keys.first(1)), ['lock_acquired']);
});

test('[HTTP-6] what an agent was stopped at, and what it asks a person for, is told to no other agent', async () => {
  await using door = await startApi();
  const { key } = await door.key({ agent: 'eve' });
  const person = await door.key({ person: 'bob' });
  using eves = await listen(door.url, withKey(key));
  using persons = await listen(door.url, withKey(person.key));
  const operation_text = 'git push --force origin main # for the merger with Initech';
  const { body } = await door.post('/guardrails/check', { operation_text }, withKey(ALICE));
  await door.post('/profiles/usage', { files: ['merger.md'] }, withKey(ALICE));
  await lock(door, 'a.ts');
  const asked = await door.post('/approvals/show', { approval_id: body.approval_id ?? '' }, withKey(key));
  assert.equal(asked.body.success, false, 'what the operation does not show, the stream does not either');
  await until(async () => types(persons.events).includes('lock_acquired'));
  const told = types(persons.events);
  for (const type of ['approval_requested', 'violation_recorded', 'notice_raised'])
    assert.ok(told.includes(type), `a person hears of it: ${type}`);
  await until(async () => types(eves.events).includes('lock_acquired'));
  assert.doesNotMatch(JSON.stringify(eves.events), /Initech|merger|approval|violation|notice/);
});

test('[HTTP-2] events: who may no longer listen is let go; a heartbeat tells the others that it is alive', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock, vigil_ms: 20, streams: { heartbeat_ms: 20 } });
  const { key, key_id } = await door.key({ agent: 'bob' });
  using mine = await listen(door.url, withKey(key));
  using theirs = await listen(door.url, withKey(ALICE));
  await until(async () => mine.comments.length > 1 && theirs.comments.length > 1);
  await door.operator('revoke_key', { key_id });
  clock.forward_ms += 2_000;
  await mine.ended;
  const beats = theirs.comments.length;
  await until(async () => theirs.comments.length > beats);
});

test('[HTTP-2] events: whose key is revoked is let go as soon as those who wait, however seldom the heart beats', async () => {
  const clock = settableClock();
  await using door = await startApi({ clock, vigil_ms: 20, streams: { heartbeat_ms: 60_000 } });
  const { key, key_id } = await door.key({ agent: 'bob' });
  using mine = await listen(door.url, withKey(key));
  await door.operator('revoke_key', { key_id });
  clock.forward_ms += 2_000;
  await until(async () => mine.response.closed, 5_000);
});

test('[HTTP-2] events: a listener whose key is good stays, though somebody beside it guesses', async () => {
  const others = Array.from({ length: 1000 }, (_, index) => `key-of-another-${index}`);
  const env = { ...ENV, COORDINATION_API_KEYS: others.join() };
  await using door = await startApi({ env, vigil_ms: 20, streams: { heartbeat_ms: 300 } });
  const status = async (key: string) => (await door.ask('GET', '/metrics', withKey(key))).status;
  const { key } = await door.key({ agent: 'bob' });
  using mine = await listen(door.url, withKey(key));
  // After so many others the server no longer remembers that it was good from here.
  for (const other of others) assert.equal(await status(other), 200);
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, index) => status(`guess-${index}`)));
  assert.ok(guesses.includes(429));
  const beats = mine.comments.length;
  await until(async () => mine.comments.length > beats + 2 || mine.response.closed);
  assert.ok(!mine.response.closed);
});

test('events: only so many listen, and those who leave make room', async () => {
  await using door = await startApi({ streams: { listeners_max: 2 } });
  using _first = await listen(door.url, withKey(ALICE));
  const second = await listen(door.url, withKey(ALICE));
  const third = await door.ask('GET', '/events', withKey(ALICE));
  assert.deepEqual(
    [third.status, third.body.error, third.headers['retry-after']],
    [503, 'too_many_listeners', '30'],
  );
  second[Symbol.dispose]();
  await until(async () => (await listenerCount(door)) === 1);
  using again = await listen(door.url, withKey(ALICE));
  assert.equal(again.status, 200);
});

async function listenerCount(door: ApiDoor): Promise<number> {
  const { text } = await door.ask('GET', '/metrics', withKey(ALICE));
  return Number(/^cox_event_listeners (\d+)$/m.exec(text)?.[1]);
}

test('events: a client that takes nothing is let go instead of being remembered for ever', async () => {
  await using door = await startApi({ streams: { unsent_bytes_max: 100_000 } });
  using quick = await listen(door.url, withKey(ALICE));
  const { port } = new URL(door.url);
  const socket = dial({ host: '127.0.0.1', port: Number(port) });
  try {
    socket.write(`GET /events HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${ALICE}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    await until(async () => (await listenerCount(door)) === 2);
    const input_data = 'x'.repeat(190_000);
    let sent = 0;
    await until(async () => {
      await door.post('/work/submit', { task_type: 't', task_description: 'd', input_data }, withKey(ALICE));
      sent += 1;
      return (await listenerCount(door)) === 1;
    });
    await quick.first(sent);
  } finally {
    socket.destroy();
  }
});

test('events: stopping the server ends them at once', async () => {
  const door = await startApi();
  using listener = await listen(door.url, withKey(ALICE));
  await door[Symbol.asyncDispose]();
  await listener.ended;
});

test('events: a store that can’t be asked is 503; one that went away and came back goes on where it was', async () => {
  await using door = await startApi();
  const { store } = door.api.coxswain;
  const read = store.read.bind(store);
  store.read = () => Promise.reject(new StoreFailure('database_unavailable', 'gone'));
  const refused = await door.ask('GET', '/events', withKey(ALICE));
  assert.deepEqual([refused.status, refused.body.error], [503, 'database_unavailable']);
  store.read = read;
  await lock(door, 'before.ts');
  using listener = await listen(door.url, withKey(ALICE));
  let failed = false;
  store.read = () => {
    failed = true;
    return Promise.reject(new StoreFailure('database_unavailable', 'gone'));
  };
  await lock(door, 'a.ts');
  await until(async () => failed);
  store.read = read;
  assert.deepEqual(types(await listener.first(1)), ['lock_acquired']);
});

test('the feed: many listeners who come at any time miss nothing, get nothing twice, and share the reading', async () => {
  const coxswain = await open({ store: 'memory:' });
  const { store, clock, project } = coxswain;
  let reads = 0;
  const read = store.read.bind(store);
  store.read = (...args) => {
    reads += 1;
    return read(...args);
  };
  const writer = coxswain.connect({ agent_id: 'writer' }, 'operator', { shows: 'never' });
  const total = 1200;
  const heard: number[][] = [];
  const feed = new LogFeed(store, clock, project);
  const leaving: (() => void)[] = [];
  const join = async (after: number) => {
    const mine: number[] = [];
    heard.push(mine);
    const note = (rows: readonly LogEntry[]): undefined => {
      mine.push(...rows.map(({ position }) => position));
    };
    const leave = await feed.listen(after, async (rows) => note(rows) ?? true, note);
    assert.ok(typeof leave === 'function');
    leaving.push(leave);
  };
  try {
    for (let index = 0; index < total; index += 1) {
      await writer.perform(acquireLock, { file_path: `${index}.ts` });
      if (index % 50 === 0) await join(0);
    }
    await until(async () => heard.every((mine) => mine.length === total));
    const expected = Array.from({ length: total }, (_, index) => index + 1);
    for (const mine of heard) assert.deepEqual(mine, expected);
    assert.equal(
      await feed.listen(
        total + 1,
        async () => true,
        () => {},
      ),
      'ahead',
    );
    for (const leave of leaving) leave();
    const before = reads;
    await writer.perform(acquireLock, { file_path: 'after.ts' });
    assert.equal(reads, before, 'nobody listens, nobody reads');
  } finally {
    await coxswain.close();
  }
});

test('[HTTP-1] the feed: who comes from another server of the same store, and was further there, goes on from where it was', async () => {
  const coxswain = await open({ store: 'memory:' });
  const { store, clock, project } = coxswain;
  const writer = coxswain.connect({ agent_id: 'writer' }, 'operator', { shows: 'never' });
  const rest = Promise.withResolvers<void>();
  // It rests after the first rows, as every feed does for a moment, until it is told to go on.
  const sleep: typeof clock.sleep = (...args) => rest.promise.then(() => clock.sleep(...args));
  const feed = new LogFeed(store, { ...clock, sleep }, project);
  const write = (file_path: string) => writer.perform(acquireLock, { file_path });
  const heard: number[][] = [[], []];
  const leaving: (() => void)[] = [];
  const join = async (index: number, after?: number) => {
    const note = (rows: readonly LogEntry[]): undefined => {
      heard[index]?.push(...rows.map(({ position }) => position));
    };
    const joined = await feed.listen(after, async (rows) => note(rows) ?? true, note);
    if (typeof joined === 'function') leaving.push(joined);
    return joined;
  };
  try {
    await join(0);
    await write('1.ts');
    await until(async () => heard[0]?.length === 1);
    await write('2.ts');
    await write('3.ts');
    assert.equal(await join(1, 4), 'ahead', 'nobody was there yet');
    assert.equal(typeof (await join(1, 2)), 'function', 'the log has come that far, if not this feed');
    rest.resolve();
    await write('4.ts');
    await until(async () => heard.every((mine) => mine.at(-1) === 4));
    assert.deepEqual(heard, [
      [1, 2, 3, 4],
      [3, 4],
    ]);
  } finally {
    for (const leave of leaving) leave();
    await coxswain.close();
  }
});
