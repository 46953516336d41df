import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import { logRow } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, ids, openDomain, request } from './postgres-support.ts';

const ANSWER_MS_MAX = 2000;

let server: PostgresServer;
let url: string;

before(async () => {
  server = await startPostgres({ fsync: false });
  url = await server.createDatabase();
});

after(() => server.stop());

function lock(store: Store, agent_id: string, path: string) {
  const asked = request(agent_id, 'acquire_lock');
  return store.run(
    asked,
    acquireLock({
      areas: [{ place: path }],
      single: true,
      caller: asked.actor,
      ttl_ms: 600_000,
      reason: undefined,
    }),
  );
}

function submit(store: Store, named: { operation_id?: string; input_digest?: string } = {}) {
  const id = ids.uuid();
  const task = {
    id,
    keyed: false,
    task_type: 't',
    description: 'd',
    priority: 5,
    files: [],
    depends_on: [],
    max_attempts: 3,
  };
  return store.run(request('ann', 'submit_work', named), submitWork([task], 'ann'));
}

/** Every kind of call, each refused in time. */
async function allRefused(store: Store): Promise<void> {
  const asked = request('bob', 'get_work');
  const wanted = { caller: asked.actor, task_types: undefined, count: 1, lease_ms: 1000, settled: false };
  const calls: (() => Promise<unknown>)[] = [
    () => lock(store, 'bob', 'refused.ts'),
    () => submit(store),
    () => store.take(asked, getWork(wanted)),
    () => store.find('p', { keys: [{ kind: 'lock', id: 'a.ts' }] }),
    () => store.read('p', 0, 10),
  ];
  await Promise.all(
    calls.map(async (call, n) => {
      const started_ms = performance.now();
      await assert.rejects(
        call(),
        (error) => error instanceof StoreFailure && error.refusal.error === 'database_unavailable',
        `call ${n}`,
      );
      const took_ms = performance.now() - started_ms;
      assert.ok(took_ms < ANSWER_MS_MAX, `call ${n} took ${took_ms} ms`);
    }),
  );
}

/** The postmaster and all it started. */
function processes(pid: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return [pid, ...pairs.filter(([, parent]) => parent === pid).map(([child]) => child ?? 0)];
}

test('[STORE-3] postgres: server gone: every call is refused within two seconds; it is back: calls work again', async () => {
  const store = await openDomain(url);
  assert.equal((await lock(store, 'ann', 'a.ts')).status, 'committed');
  await server.kill('SIGINT');
  await allRefused(store);
  store.note(logRow(request('ann', 'check_locks'), { success: true }, [], 1, 1));
  await until(async () => store.dropped === 1);
  await assert.rejects(openDomain(url), (error) => error instanceof StoreFailure);
  await server.restart();
  const back = await lock(store, 'ann', 'a.ts');
  assert.ok(back.status === 'committed' && back.answer.action === 'refreshed', 'the lock is still there');
  await store.close();
});

test('[STORE-3] postgres: server killed while calls are under way: each ends in time, and what was answered is true', async () => {
  const store = await openDomain(url);
  const answered: string[] = [];
  let running = true;
  let slowest_ms = 0;
  const callers = Array.from({ length: 8 }, async (_, n) => {
    for (let k = 0; running; k += 1) {
      const path = `killed/${n}-${k}.ts`;
      const started_ms = performance.now();
      await lock(store, `agent-${n}`, path).then(
        (outcome) => outcome.status === 'committed' && answered.push(path),
        (error) => assert.equal(error.refusal?.error, 'database_unavailable'),
      );
      slowest_ms = Math.max(slowest_ms, performance.now() - started_ms);
    }
  });
  await until(async () => answered.length > 50);
  await server.kill('SIGKILL');
  await server.restart();
  const before_restart = answered.length;
  await until(async () => answered.length > before_restart + 50);
  running = false;
  await Promise.all(callers);
  await store.close();
  // A load and a commit may each have waited out their time.
  assert.ok(slowest_ms < 2 * ANSWER_MS_MAX, `${slowest_ms} ms`);
  const held = await ask<{ id: string }>(
    url,
    "SELECT id FROM coxswain.records WHERE kind = 'lock' AND id LIKE 'killed/%'",
  );
  const there = new Set(held.map(({ id }) => id));
  assert.deepEqual(
    answered.filter((path) => !there.has(path)),
    [],
  );
});

test('[STORE-3] postgres: server stopped in its tracks: refused in time, and nothing happens behind the callers when it wakes', async () => {
  const store = await openDomain(url);
  // At once, so that afterwards every call finds a connection that is open and can send before it hears nothing.
  await Promise.all([
    lock(store, 'ann', 'warm.ts'),
    ...Array.from({ length: 8 }, () => store.read('p', 0, 1)),
  ]);
  const pid = server.pid();
  assert.ok(pid !== null);
  const tasks = "SELECT count(*)::int AS n FROM coxswain.records WHERE kind = 'task'";
  const before_stop = await ask(url, tasks);
  const stopped = processes(pid);
  try {
    for (const each of stopped) signal(each, 'SIGSTOP');
    await allRefused(store);
    // Again, with connections the server has never answered on.
    await allRefused(store);
  } finally {
    for (const each of stopped.toReversed()) signal(each, 'SIGCONT');
  }
  await until(
    async () => (await lock(store, 'ann', 'awake.ts').catch(() => undefined))?.status === 'committed',
  );
  // The server has gone through all it had received.
  const busy = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active'";
  await until(async () => (await ask<{ n: number }>(url, busy))[0]?.n === 1);
  assert.deepEqual(await ask(url, tasks), before_stop);
  await store.close();
});

/** One of the server's processes may have ended by itself since it was listed. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A line to the server that can be cut right behind a commit: the answer never arrives. */
async function startProxy(port: number) {
  const pairs = new Set<[Socket, Socket]>();
  let armed = false;
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    let doomed = false;
    near.on('data', (chunk) => {
      // Only a commit's: hints and audit rows have connections of their own, and answers of their own.
      if (armed && chunk.includes('cox_commit')) {
        armed = false;
        doomed = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => (doomed ? near.destroy() : near.write(chunk)));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  assert.ok(address !== null && typeof address === 'object');
  return {
    port: address.port,
    cutNextAnswer: () => {
      armed = true;
    },
    close: () => {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      proxy.close();
    },
  };
}

test('[STORE-3] postgres: the answer to a commit is lost: asked again under its id, it is done once', async () => {
  const proxy = await startProxy(server.port);
  const through = new URL(url);
  through.port = String(proxy.port);
  const store = await openDomain(through.href);
  try {
    await submit(store);
    for (let round = 0; round < 10; round += 1) {
      const operation_id = `lost-${round}`;
      // Every other one has an id that no caller named, so no entry is kept for it; every third is a take.
      const asked = { operation_id, input_digest: round % 2 === 0 ? '' : 'digest' };
      const wanted = { task_types: undefined, count: 1, lease_ms: 60_000, settled: false };
      proxy.cutNextAnswer();
      const outcome =
        round % 3 === 0
          ? await store.take(
              request('ann', 'get_work', asked),
              getWork({ ...wanted, caller: request('ann', 'get_work').actor }),
            )
          : await submit(store, asked);
      assert.ok(outcome.status === 'committed');
      assert.equal(outcome.repeated, true, 'the second try found the first');
      const rows = await ask(url, 'SELECT position FROM coxswain.log WHERE operation_id = $1', [
        operation_id,
      ]);
      assert.deepEqual(
        rows.map(({ position }) => Number(position)),
        [outcome.position],
      );
    }
  } finally {
    await store.close();
    proxy.close();
  }
});
