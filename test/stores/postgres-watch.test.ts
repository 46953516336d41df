import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { Database, type Statement } from '../../src/stores/postgres/database.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, openDomain, request } from './postgres-support.ts';

/** Who listens, but for ourselves. */
const LISTENERS = `FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()`;

let database: Awaited<ReturnType<typeof testDatabase>>;
let writer: Store;
let watcher: Store;

before(async () => {
  database = await testDatabase();
  writer = await openDomain(database.url);
  watcher = await openDomain(database.url);
});

after(async () => {
  mock.timers.reset();
  await writer.close();
  await watcher.close();
  await database.drop();
});

async function commit(path: string): Promise<number> {
  const asked = request('writer', 'acquire_lock');
  const decision = acquireLock({
    areas: [{ place: path }],
    single: true,
    caller: asked.actor,
    ttl_ms: 600_000,
    reason: undefined,
  });
  const outcome = await writer.run(asked, decision);
  assert.ok(outcome.status === 'committed');
  return outcome.position;
}

function listeners(): Promise<{ pid: number }[]> {
  return ask<{ pid: number }>(database.url, `SELECT pid ${LISTENERS}`);
}

function follow(stop: AbortController) {
  const seen: number[] = [];
  const counts = { wakes: 0 };
  const done = (async () => {
    for await (const _ of watcher.watch('p', stop.signal)) {
      counts.wakes += 1;
      const { entries } = await watcher.read('p', seen.at(-1) ?? 0, 1000);
      seen.push(...entries.map(({ position }) => position));
    }
  })();
  return { seen, counts, done };
}

test('[STORE-1] postgres: a watcher whose connection was ended hears again at once, not with the next look', async () => {
  // It never comes.
  mock.timers.enable({ apis: ['setInterval'] });
  const stop = new AbortController();
  const { seen, done } = follow(stop);
  for (let round = 0; round < 3; round += 1) {
    const [listener] = await until(async () => {
      const found = await listeners();
      return found.length === 1 && found;
    });
    await ask(database.url, `SELECT pg_terminate_backend(${listener?.pid})`);
    const position = await commit(`ended-${round}.ts`);
    await until(async () => seen.includes(position));
  }
  stop.abort();
  await done;
  await until(async () => (await listeners()).length === 0);
  mock.timers.reset();
});

test('[STORE-1] postgres: twenty watchers of a process ask once a second together, and find what no hint told of', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const asked: string[] = [];
  const call = Database.prototype.call;
  Database.prototype.call = function counted<T>(
    this: Database,
    statement: Statement,
    ...rest: [() => unknown[], number, boolean?]
  ) {
    const answer = call.call(this, statement, ...rest) as Promise<T>;
    // Once it is answered: a look that is still under way could see what the next step of the test does.
    // The writer of the test before may still have a hint to send.
    if (statement.name !== 'cox_read' && statement.name !== 'cox_hint')
      void answer.finally(() => setImmediate(() => asked.push(statement.name)));
    return answer;
  };
  try {
    const stop = new AbortController();
    const watchers = Array.from({ length: 20 }, () => follow(stop));
    const woken = (times: number) => until(async () => watchers.every(({ counts }) => counts.wakes >= times));
    await woken(1);
    asked.length = 0;
    for (let second = 1; second <= 3; second += 1) {
      mock.timers.tick(1000);
      await until(async () => asked.length === second);
    }
    assert.deepEqual(new Set(asked), new Set(['cox_last_position']));
    for (const { counts } of watchers) counts.wakes = 0;
    // A position is given out, and its commit is still to come.
    await ask(database.url, `SELECT nextval('coxswain.log_position')`);
    mock.timers.tick(1000);
    await woken(1);
    mock.timers.tick(1000);
    await woken(2);
    await until(async () => asked.length === 5);
    stop.abort();
    await Promise.all(watchers.map(({ done }) => done));
  } finally {
    Database.prototype.call = call;
    mock.timers.reset();
  }
});
