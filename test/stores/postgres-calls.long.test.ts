import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { awaitLock } from '../../src/features/locks/await-lock.ts';
import { releaseLock } from '../../src/features/locks/release-lock.ts';
import { completeWork } from '../../src/features/queue/complete-work.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { mirrorFile } from '../../src/features/queue/mirror-work.ts';
import { submitWork } from '../../src/features/queue/submit-work.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { entities } from '../../src/runtime/entities.ts';
import { lyingAt, seenAs } from '../features/queue/filed-facts.ts';
import { Seeded } from '../simulation/random.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { CallOracle, call } from './postgres-calls.ts';
import { connectTo, ids, openDomain, request } from './postgres-support.ts';

const AGENTS = ['ann', 'bob', 'cyd'];
const PATHS = ['a.ts', 'src/b.ts', 'api:users'];
const TYPES = ['test', 'review'];
const LONG_MS = 3_600_000;
const SHORT_MS = 1.4;

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: Store;
let client: pg.Client;
let oracle: CallOracle;

before(async () => {
  database = await testDatabase();
  store = await openDomain(database.url);
  client = await connectTo(database.url);
  oracle = new CallOracle(store, client);
});

after(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

/** How often each kind of answer was compared: a program that never gets there proves nothing. */
const seen = new Map<string, number>();

function count(operation: string, answer: JsonObject): JsonObject {
  const kind = String(answer.error ?? answer.action ?? answer.reason ?? answer.status ?? answer.success);
  seen.set(`${operation} ${kind}`, (seen.get(`${operation} ${kind}`) ?? 0) + 1);
  return answer;
}

const first = (answer: JsonObject): JsonObject => {
  const { tasks, ...rest } = answer;
  return { ...rest, ...(tasks as JsonObject[])[0] };
};

/** One of them, or none. */
function maybe<T>(random: Seeded, values: readonly T[]): T | undefined {
  return values[random.between(0, values.length)];
}

interface World {
  readonly random: Seeded;
  readonly project: string;
  readonly tokens: number[];
  readonly claimed: string[];
}

function newTask(random: Seeded) {
  return {
    id: ids.uuid(),
    keyed: false,
    task_type: random.pick(TYPES),
    description: 'd',
    priority: random.between(1, 3),
    files: random.chance(0.1) ? [random.pick(PATHS)] : [],
    depends_on: [],
    max_attempts: 3,
  };
}

/** What the product does beside the calls: readers, waiters, folders, short leases, tasks with dependents. */
async function productStep({ random, project, claimed }: World): Promise<void> {
  const asked = (operation: string) => request(random.pick(AGENTS), operation, { project });
  const place = random.pick(PATHS);
  switch (random.between(0, 5)) {
    case 0:
    case 1: {
      const { actor: caller, ...rest } = asked('acquire_lock');
      const ttl_ms = random.chance(0.5) ? SHORT_MS : LONG_MS;
      const wish = { areas: [{ place }], caller, shared: random.chance(0.5), single: true };
      const reason = maybe(random, ['why “so”\n']);
      await store.run({ actor: caller, ...rest }, acquireLock({ ...wish, ttl_ms, reason }));
      if (ttl_ms === SHORT_MS) await pass(SHORT_MS + 1);
      break;
    }
    case 2: {
      const { actor: caller, ...rest } = asked('wait_for_lock');
      const wish = { areas: [{ place }], caller, waiter_id: ids.uuid(), stays: random.chance(0.5) };
      await store.run({ actor: caller, ...rest }, awaitLock(wish));
      break;
    }
    case 3: {
      if (random.chance(0.8)) break;
      const { actor: caller, ...rest } = asked('wait_for_lock');
      const wish = { areas: [{ place: 'src/' }], caller, waiter_id: ids.uuid(), stays: false };
      await store.run({ actor: caller, ...rest }, awaitLock(wish));
      break;
    }
    case 4: {
      if (random.chance(0.2)) {
        const id = ids.uuid();
        const directory = random.pick(['.', 'work']);
        const file = lyingAt('inbox/x.yaml', 'new', { directory });
        await store.run(asked('mirror_task_file'), mirrorFile(seenAs(id, 'filed', { file })));
        claimed.push(id);
      }
      const parent = newTask(random);
      const child = { ...newTask(random), depends_on: [parent.id] };
      await store.run(asked('submit_work'), submitWork([parent, child], 'ann'));
      break;
    }
    default:
      // Time passes for those who wait: it is as if they had said nothing for a while.
      await client.query(
        `UPDATE coxswain.records SET version = version + 1,
           state = jsonb_set(state, '{waiters,0,alive_until_ms}', '1')
         WHERE project = $1 AND kind = 'lock' AND state ? 'waiters'`,
        [project],
      );
  }
}

async function pass(duration_ms: number): Promise<void> {
  const now = async () => (await store.find('p', {})).now_ms;
  const until_ms = (await now()) + duration_ms;
  await until(async () => (await now()) > until_ms);
}

async function callStep(world: World): Promise<void> {
  const { random, project, tokens, claimed } = world;
  const agent_id = random.pick(AGENTS);
  const session_id = random.pick(['one', 'two']);
  const caller = { agent_id, agent_type: 'tester', session_id };
  const claims = { project, ...caller };
  const file_path = random.pick(PATHS);
  const token = tokens.length > 0 && random.chance(0.2) ? random.pick(tokens) : undefined;
  const run = (name: string, args: JsonObject) => () => call(client, name, claims, args);
  switch (random.between(0, 6)) {
    case 0:
    case 1:
    case 2: {
      const [reason, ttl_minutes] = [maybe(random, ['r "q" \\ ü\t']), random.pick([120, 0.02, 7.3])];
      const command = { areas: [{ place: file_path }], caller: { ...caller, token }, single: true, reason };
      const answer = await oracle.compare(
        project,
        run('acquire_lock', { file_path, reason, ttl_minutes, fencing_token: token }),
        () => acquireLock({ ...command, ttl_ms: ttl_minutes * 60_000 }),
      );
      if (typeof answer.fencing_token === 'number') tokens.push(answer.fencing_token);
      count('acquire', answer);
      break;
    }
    case 3: {
      const area = { place: file_path };
      const released = run('release_lock', { file_path, fencing_token: token });
      const decide = () => releaseLock({ area, caller: { ...caller, token } });
      count('release', await oracle.compare(project, released, decide));
      break;
    }
    case 4: {
      const task_types = maybe(random, [['test'], ['review', 'test']]);
      const wanted = { caller, task_types, count: 1, lease_ms: 7.3 * 60_000, settled: true };
      const taken = run('claim_task', { task_types, lease_minutes: 7.3 });
      const answer = await oracle.compare(project, taken, () => getWork(wanted).decision, first);
      if (answer.success === true) claimed.push(answer.task_id as string);
      count('claim', answer);
      break;
    }
    case 5: {
      const task_id = random.pick([...claimed, ids.uuid()]);
      const [success, error_message] = [random.chance(0.5), maybe(random, ['no'])];
      const result = maybe<Json>(random, [{ n: [1, null, 'x'] }, 'text', 1.5]);
      const ended = run('complete_task', { task_id, success, result, error_message, fencing_token: token });
      const completion = { task_id, success, result, error_message, caller: { ...caller, token } };
      count('complete', await oracle.compare(project, ended, () => completeWork(completion)));
      break;
    }
    default: {
      const input_data = maybe<Json>(random, [{ deep: { 'a.b': null } }, false]);
      const task = { ...newTask(random), files: [], description: 'ünï \u{1F600}', input_data };
      const { task_type, priority, description: task_description } = task;
      const submitted = run('submit_task', { task_type, task_description, input_data, priority });
      const decide = (answer: JsonObject) =>
        submitWork([{ ...task, id: (answer.task_id as string | undefined) ?? task.id }], agent_id);
      count('submit', await oracle.compare(project, submitted, decide, first));
    }
  }
}

test('[STORE-4] the functions answer and write what the pure decisions do, over random programs', async () => {
  for (let seed = 1; seed <= 24; seed += 1) {
    const world: World = { random: new Seeded(seed), project: `calls-${seed}`, tokens: [], claimed: [] };
    for (let step = 0; step < 60; step += 1) {
      if (world.random.chance(0.3)) await productStep(world);
      else await callStep(world);
    }
  }
  for (const kind of [
    'acquire acquired',
    'acquire refreshed',
    'acquire blocked',
    'acquire superseded',
    'acquire not_decided_here',
    'release true',
    'release not_held',
    'release not_holder',
    'release superseded',
    'claim true',
    'claim no_tasks_available',
    'complete completed',
    'complete failed',
    'complete unknown_task',
    'complete not_held',
    'complete not_holder',
    'complete superseded',
    'complete task_is_filed',
    'submit pending',
  ])
    assert.ok((seen.get(kind) ?? 0) > 0, `${kind}: ${JSON.stringify([...seen])}`);
});

test('[STORE-4] a claim that ran out is refused as the pure decision refuses it', async () => {
  const project = 'ran-out';
  const asked = request('ann', 'submit_work', { project });
  await store.run(asked, submitWork([{ ...newTask(new Seeded(1)), files: [] }], 'ann'));
  const wanted = { caller: asked.actor, task_types: undefined, count: 1, lease_ms: SHORT_MS, settled: true };
  const taken = await store.take(request('ann', 'get_work', { project }), getWork(wanted));
  assert.ok(taken.status === 'committed');
  const task_id = String(first(taken.answer).task_id);
  await pass(SHORT_MS + 1);
  const caller = { agent_id: 'ann', agent_type: 'tester', session_id: 'one' };
  for (const success of [true, false]) {
    const answer = await oracle.compare(
      project,
      () => call(client, 'complete_task', { project, ...caller }, { task_id, success }),
      () => completeWork({ task_id, success, caller }),
    );
    assert.equal(answer.error, 'lease_expired');
  }
});

test('[STORE-4] [AUD-5] what the functions did can be replayed from the log', async () => {
  const project = 'replayed';
  const world: World = { random: new Seeded(99), project, tokens: [], claimed: [] };
  for (let step = 0; step < 80; step += 1) await callStep(world);
  const replayed = await replay(store, entities, project);
  assert.ok(replayed.events > 20, `${replayed.events} events`);
  assert.deepEqual(await compareWithLive(store, entities, project, replayed), []);
  // The product goes on where a call left off.
  const asked = request('dan', 'submit_work', { project });
  await store.run(asked, submitWork([{ ...newTask(new Seeded(1)), files: [] }], 'dan'));
  const wanted = { caller: asked.actor, task_types: undefined, count: 1, lease_ms: LONG_MS, settled: true };
  const taken = await store.take(request('dan', 'get_work', { project }), getWork(wanted));
  assert.equal(taken.status, 'committed');
});
