import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import type { Outcome } from '../../src/ledger/decision.ts';
import { logRow } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { EPOCH } from '../../src/stores/postgres/write-group.ts';
import { request as cellRequest, openCells, setUnless } from '../conformance/cells.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { ask, connectTo, ids, openDomain, request } from './postgres-support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;

before(async () => {
  database = await testDatabase();
});

after(() => database.drop());

/** Each with a pool of its own: as concurrent as processes. */
async function withStores<T>(
  count: number,
  open: (url: string) => Promise<Store>,
  use: (stores: Store[]) => Promise<T>,
) {
  const stores = await Promise.all(Array.from({ length: count }, () => open(database.url)));
  try {
    return await use(stores);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

function committed(outcomes: readonly Outcome<never>[]): number {
  return outcomes.filter(({ status }) => status === 'committed').length;
}

test('[STORE-1] postgres: four pools race to set one of four cells unless another is set: never two', async () => {
  await withStores(4, openCells, async (stores) => {
    let none = 0;
    for (let round = 0; round < 150; round += 1) {
      const names = stores.map((_, n) => `skew-${round}-${n}`);
      const decision = (n: number) => ({
        needs: { keys: names.map((id) => ({ kind: 'cell', id })) },
        decide: (loaded: Parameters<ReturnType<typeof setUnless>['decide']>[0], now_ms: number) => {
          const taken = names.find((id) => loaded.get({ kind: 'cell', id }) !== undefined);
          const own = names[n] ?? '';
          // A writer that finds another cell set asks about that one, and so refuses; otherwise it expects all the others absent.
          return setUnless(own, taken ?? names[(n + 1) % 4] ?? '', `by-${n}`).decide(loaded, now_ms);
        },
      });
      const outcomes = await Promise.all(
        stores.map((store, n) => store.run(cellRequest(`by-${n}`), decision(n))),
      );
      assert.ok(committed(outcomes as Outcome<never>[]) <= 1, `round ${round}`);
      if (committed(outcomes as Outcome<never>[]) === 0) none += 1;
    }
    assert.equal(none, 0, 'and one of them always does');
  });
});

test('[QUEUE-8] postgres: a task and its file: whoever claims after another locked the file gets nothing', async () => {
  await withStores(2, openDomain, async ([one, two]) => {
    assert.ok(one !== undefined && two !== undefined);
    let claims = 0;
    let refusals = 0;
    for (let round = 0; round < 150; round += 1) {
      const path = `raced-${round}.ts`;
      const task = { id: ids.uuid(), keyed: false, task_type: `t${round}`, description: 'd', priority: 5 };
      const tasks = [{ ...task, files: [path], depends_on: [], max_attempts: 3 }];
      await one.run(request('ann', 'submit_work'), submitWork(tasks, 'ann'));
      const [bob, cyd] = [request('bob', 'get_work'), request('cyd', 'acquire_lock')];
      const wanted = {
        caller: bob.actor,
        task_types: [`t${round}`],
        count: 1,
        lease_ms: 60_000,
        settled: true,
      };
      const lock = {
        areas: [{ place: path }],
        single: true,
        caller: cyd.actor,
        ttl_ms: 60_000,
        reason: undefined,
      };
      const [claim, locked] = await Promise.all([
        one.take(bob, getWork(wanted)),
        two.run(cyd, acquireLock(lock)),
      ]);
      assert.ok(locked.status === 'committed');
      if (claim.status === 'committed') {
        claims += 1;
        assert.ok(claim.position < locked.position, 'claimed before the file was locked');
      } else refusals += 1;
    }
    assert.equal(claims + refusals, 150);
    assert.ok(claims > 0, 'the race is a race');
  });
});

/** A transaction that takes a position and stays open until others have committed past it. */
async function slowWriter(
  client: pg.Client,
  project: string,
  passed: () => Promise<boolean>,
  end: string,
): Promise<void> {
  const row = logRow(request('slow', 'slow', { project }), {}, [], 1, 1);
  await client.query('BEGIN');
  await client.query('SELECT coxswain.add_notes($1, $2)', [EPOCH, JSON.stringify([row])]);
  await until(passed);
  await client.query(end);
}

test('[STORE-1] postgres: a reader that tails the log while writers commit late, early and never loses nothing', async () => {
  await withStores(4, openCells, async (stores) => {
    const [reader] = stores;
    assert.ok(reader !== undefined);
    const slow = await Promise.all([1, 2, 3].map(() => connectTo(database.url)));
    const project = 'cells';
    let writing = true;
    let written = 0;
    const [naiveSeen, safeSeen]: [number[], number[]] = [[], []];
    const naive = await connectTo(database.url);
    const tail = async () => {
      for (let last = false; !last; ) {
        last = !writing;
        const found = await naive.query<{ position: string }>(
          'SELECT position FROM coxswain.log WHERE project = $1 AND position > $2 ORDER BY position LIMIT 50',
          [project, naiveSeen.at(-1) ?? 0],
        );
        naiveSeen.push(...found.rows.map(({ position }) => Number(position)));
        for (let page = 50; page === 50; ) {
          const { entries, safe } = await reader.read(project, safeSeen.at(-1) ?? 0, 50);
          assert.ok(entries.every(({ position }) => position <= safe));
          safeSeen.push(...entries.map(({ position }) => position));
          page = entries.length;
        }
      }
    };
    const fast = stores.map(async (store, n) => {
      for (let round = 0; round < 120; round += 1) {
        const outcomes = [1, 2, 3].map((k) =>
          store.run(cellRequest(`w${n}`), setUnless(`tail-${n}-${round}-${k}`, 'never', `w${n}`)),
        );
        written += (await Promise.all(outcomes)).length;
      }
    });
    const held = slow.map(async (client, n) => {
      for (let round = 0; round < 12; round += 1) {
        const goal = written + 20;
        const passed = async () => written >= goal || written === 4 * 360;
        await slowWriter(client, project, passed, (round + n) % 3 === 0 ? 'ROLLBACK' : 'COMMIT');
      }
    });
    const tailing = tail();
    await Promise.all([...fast, ...held]);
    writing = false;
    await tailing;
    const all = await ask<{ position: string }>(
      database.url,
      'SELECT position FROM coxswain.log WHERE project = $1 ORDER BY position',
      [project],
    );
    await Promise.all([...slow, naive].map((client) => client.end()));
    assert.deepEqual(
      safeSeen,
      all.map(({ position }) => Number(position)),
    );
    assert.ok(naiveSeen.length < safeSeen.length, 'a reader without the safe position does lose some here');
  });
});

test('[STORE-1] postgres: commits and takes that cross each other never end in a deadlock', async () => {
  await withStores(4, openDomain, async (stores) => {
    const project = 'crossing';
    const before_deadlocks = await deadlocks();
    await Promise.all(
      stores.map(async (store, n) => {
        const agent = `crosser-${n}`;
        for (let round = 0; round < 40; round += 1) {
          const tasks = Array.from({ length: 5 }, (_, k) => ({
            id: ids.uuid(),
            keyed: true,
            task_type: 'cross',
            description: 'd',
            priority: 1 + ((round + k) % 3),
            files: [`x${(n + k) % 4}.ts`],
            depends_on: [],
            max_attempts: 3,
          }));
          const ask = (operation: string) => request(agent, operation, { project });
          const lock = {
            areas: [{ place: `x${round % 4}.ts` }],
            single: true,
            caller: ask('').actor,
            ttl_ms: 5,
            reason: undefined,
          };
          const wanted = {
            caller: ask('').actor,
            task_types: undefined,
            count: 4,
            lease_ms: 60_000,
            settled: true,
          };
          const outcomes = await Promise.all([
            store.run(ask('submit_work'), submitWork(tasks, agent)),
            store.take(ask('get_work'), getWork(wanted)),
            store.run(ask('acquire_lock'), acquireLock(lock)),
            store.take(ask('get_work'), getWork({ ...wanted, task_types: ['cross'] })),
          ]);
          assert.equal(outcomes[0]?.status, 'committed');
        }
      }),
    );
    assert.equal(await deadlocks(), before_deadlocks);
    const [twice] = await ask<{ count: string }>(
      database.url,
      `SELECT count(*) FROM (
         SELECT e ->> 'id' FROM coxswain.log, json_array_elements(events) e
         WHERE project = $1 AND e ->> 'type' = 'task_claimed' GROUP BY 1 HAVING count(*) > 1) t`,
      [project],
    );
    assert.equal(twice?.count, '0', 'and no task was handed out twice');
  });
});

async function deadlocks(): Promise<string | undefined> {
  const [row] = await ask<{ deadlocks: string }>(
    database.url,
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.deadlocks;
}
