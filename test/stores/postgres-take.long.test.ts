import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { acquireLock } from '../../src/features/locks/acquire-lock.ts';
import { awaitLock, withdrawLock } from '../../src/features/locks/await-lock.ts';
import { releaseLock } from '../../src/features/locks/release-lock.ts';
import { cancelWork, reprioritiseWork } from '../../src/features/queue/change-work.ts';
import { completeWork } from '../../src/features/queue/complete-work.ts';
import { getWork } from '../../src/features/queue/get-work.ts';
import { settleDue } from '../../src/features/queue/settle-due.ts';
import { type NewTask, submitWork } from '../../src/features/queue/submit-work.ts';
import type { Area } from '../../src/kernel/area.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { type Decision, type Outcome, prefixed, type Taking } from '../../src/ledger/decision.ts';
import type { Request } from '../../src/ledger/log.ts';
import { canonical } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { MemoryStore } from '../../src/stores/memory/store.ts';
import { Seeded } from '../simulation/random.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { context, ids, openDomain, request } from './postgres-support.ts';

const AGENTS = ['ann', 'bob', 'cyd'];
const TYPES = ['test', 'review', 'docs'];
const PATHS = ['a.ts', 'b.ts', 'c.ts', 'd.ts'];
const FOLDERS: Area[] = [{ place: './' }, { place: './', pattern: '?.ts' }, { place: './', pattern: 'a*' }];
const INPUTS: Json[][] = [
  [],
  [null],
  [{ n: 1.5, list: [1, null, 'x'], deep: { 'a.b': 1e21 } }],
  ['text'],
  [false],
];
const LONG_MS = 3_600_000;
/** Ends within a millisecond, so that whole and broken ones both occur. */
const SHORT_MS = 1.4;

let claimedInSpite = 0;
let database: Awaited<ReturnType<typeof testDatabase>>;
let postgres: Store;

before(async () => {
  database = await testDatabase();
  postgres = await openDomain(database.url);
});

after(async () => {
  await postgres.close();
  await database.drop();
});

/** The same steps on both stores; the memory store's clock stands where PostgreSQL's stood when it decided. */
class Oracle {
  now_ms = 0;
  /** The paths of all locks that were granted. */
  readonly granted = new Set<unknown>();
  readonly memory: MemoryStore;

  constructor() {
    const clock = { ...context.clock, now_ms: () => this.now_ms };
    this.memory = new MemoryStore({ ...context, clock });
  }

  async step(asked: Request, what: Decision<JsonObject> | Taking<JsonObject>): Promise<Outcome<JsonObject>> {
    const perform = (store: Store) => ('name' in what ? store.take(asked, what) : store.run(asked, what));
    const outcome = await perform(postgres);
    this.now_ms = outcome.status === 'committed' ? await this.#decidedAt(asked, outcome) : await now();
    const expected = await perform(this.memory);
    assert.equal(
      canonical(plain(outcome)),
      canonical(plain(expected)),
      `${asked.operation} in ${asked.project}`,
    );
    if (outcome.status === 'committed') this.granted.add(outcome.answer.file_path);
    return outcome;
  }

  async #decidedAt(asked: Request, outcome: { position: number }): Promise<number> {
    const { entries } = await postgres.read(asked.project, outcome.position - 1, 1);
    assert.equal(entries[0]?.operation_id, asked.operation_id);
    return entries[0]?.at_ms ?? 0;
  }

  async compareRecords(project: string): Promise<number> {
    let records = 0;
    for (const kind of ['task', 'lock', 'lock_folders'])
      for (const by of ['id', 'sort', 'group'] as const) {
        const range = prefixed(by, kind, '', 1000);
        const needs = { ranges: [range] };
        const ours = (await postgres.find(project, needs)).loaded.list(range);
        const theirs = (await this.memory.find(project, needs)).loaded.list(range);
        assert.equal(ours.length, theirs.length, `${kind} by ${by}`);
        const expected = born(theirs);
        for (const [at, record] of born(ours).entries())
          assert.equal(canonical(record), canonical(expected[at]), `${kind} by ${by}, ${at}`);
        records += ours.length;
      }
    return records;
  }
}

/** Positions differ by what else was written to the two logs; their order does not. */
function born(records: readonly { born: number }[]) {
  const order = [...new Set(records.map((record) => record.born))].sort((a, b) => a - b);
  return records.map((record) => ({ ...record, born: order.indexOf(record.born) }));
}

function plain(outcome: Outcome<JsonObject>) {
  return outcome.status === 'committed' ? { ...outcome, position: 0 } : outcome;
}

async function now(): Promise<number> {
  return (await postgres.find('p', {})).now_ms;
}

/** Short leases have run out before the next step, so that both stores agree on what is over. */
async function pass(duration_ms: number): Promise<void> {
  const until_ms = (await now()) + duration_ms;
  await until(async () => (await now()) > until_ms);
}

function randomTask(random: Seeded, known: readonly string[] = []): NewTask {
  const files = PATHS.filter(() => random.chance(0.15));
  return {
    id: ids.uuid(),
    // Looked up first, so that the decision's time is the server's and not an estimate of it.
    keyed: true,
    task_type: random.pick(TYPES),
    description: `task ${random.between(0, 999)} “ünï” \u{1F600}`,
    input_data: random.pick(INPUTS)[0],
    priority: random.between(1, 3),
    files,
    depends_on: known.length > 0 && random.chance(0.4) ? [random.pick(known)] : [],
    on_dependency_failure: random.pick(['skip', 'run', 'run'] as const),
    max_attempts: 2,
  };
}

/** A file mostly; now and then a folder or a pattern, with which the SQL leaves tasks with files to the pure decision. */
async function lockSomething(
  random: Seeded,
  oracle: Oracle,
  ask: (operation: string) => Request,
  ttl_ms: number,
): Promise<void> {
  const area = random.chance(0.7) ? { place: random.pick(PATHS) } : random.pick(FOLDERS);
  const { actor: caller } = ask('');
  const wish = { areas: [area], caller, shared: random.chance(0.3), waiter_id: ids.uuid() };
  if (random.chance(0.2) || FOLDERS.includes(area))
    await oracle.step(ask('wait_for_lock'), awaitLock({ ...wish, stays: false }));
  await oracle.step(ask('acquire_lock'), acquireLock({ ...wish, single: true, ttl_ms, reason: undefined }));
  await oracle.step(ask('leave_line'), withdrawLock(wish));
}

async function randomStep(
  random: Seeded,
  oracle: Oracle,
  project: string,
  claimed: Map<string, string>,
  known: string[],
): Promise<void> {
  const agent_id = random.pick(AGENTS);
  const ask = (operation: string) => request(agent_id, operation, { project });
  const { actor: caller } = ask('');
  const path = random.pick(PATHS);
  const ttl_ms = random.chance(0.2) ? SHORT_MS : LONG_MS;
  switch (random.between(0, 9)) {
    case 0:
    case 1:
    case 2: {
      const tasks = Array.from({ length: random.between(1, 4) }, () => randomTask(random, known));
      await oracle.step(ask('submit_work'), submitWork(tasks, agent_id));
      known.push(...tasks.map(({ id }) => id));
      break;
    }
    case 3:
      await lockSomething(random, oracle, ask, ttl_ms);
      break;
    case 4: {
      const area = random.pick([{ place: path }, { place: path }, ...FOLDERS]);
      await oracle.step(ask('release_lock'), releaseLock({ area, caller }));
      break;
    }
    case 5: {
      const [task_id, holder] = random.pick([...claimed, [ids.uuid(), agent_id] as const]);
      claimed.delete(task_id);
      const asked = request(holder, 'complete_work', { project });
      const completion = {
        task_id,
        caller: asked.actor,
        success: random.chance(0.7),
        result: { ok: 1 },
      };
      await oracle.step(asked, completeWork(completion));
      break;
    }
    case 6: {
      const task_id = random.pick([...claimed.keys(), ids.uuid()]);
      if (random.chance(0.5)) await oracle.step(ask('cancel_work'), cancelWork(task_id, agent_id, 'why'));
      else await oracle.step(ask('reprioritise_work'), reprioritiseWork(task_id, random.between(1, 3)));
      break;
    }
    default: {
      const task_types = random.chance(0.5) ? undefined : TYPES.filter(() => random.chance(0.6));
      const count = random.pick([1, 1, 2, 7]);
      const settled = random.chance(0.5);
      const types = task_types?.length === 0 ? undefined : task_types;
      const asked = ask('get_work');
      const taking = getWork({ caller, task_types: types, count, lease_ms: ttl_ms, settled });
      const outcome = await oracle.step(asked, taking);
      if (outcome.status === 'committed') {
        for (const task of outcome.answer.tasks as JsonObject[]) {
          claimed.set(task.task_id as string, agent_id);
          if (task.failed_dependencies !== undefined) claimedInSpite += 1;
        }
        if (random.chance(0.3)) await oracle.step(asked, taking);
      } else if (outcome.status === 'first' && outcome.first.step === 'settle_due')
        await oracle.step(ask('settle_due'), settleDue());
    }
  }
  if (ttl_ms === SHORT_MS) await pass(SHORT_MS + 1);
}

test('[QUEUE-1] postgres: get_work in SQL answers and writes what the pure decision does, over random programs', async () => {
  const oracle = new Oracle();
  let records = 0;
  for (let seed = 1; seed <= 15; seed += 1) {
    const random = new Seeded(seed);
    const project = `program-${seed}`;
    const claimed = new Map<string, string>();
    const known: string[] = [];
    for (let step = 0; step < 60; step += 1) await randomStep(random, oracle, project, claimed, known);
    records += await oracle.compareRecords(project);
  }
  assert.ok(records > 500, 'there was something to compare');
  assert.ok(claimedInSpite > 5, 'also of tasks that run in spite of a failed dependency');
  assert.ok(oracle.granted.has('./') && oracle.granted.has('?.ts'), 'folders were locked as well');
});

test('[QUEUE-1] postgres: a take looks at no more files than one commit may touch, as the pure decision does', async () => {
  const oracle = new Oracle();
  const project = 'many-files';
  const ann = request('ann', 'submit_work', { project });
  const tasks = Array.from({ length: 6 }, (_, n) => ({
    ...randomTask(new Seeded(n)),
    task_type: 'test',
    files: Array.from({ length: 20 }, (_, f) => `dir-${n}/file-${f}.ts`),
  }));
  await oracle.step(ann, submitWork(tasks, 'ann'));
  for (const count of [50, 30, 1]) {
    const asked = request('bob', 'get_work', { project });
    const taking = getWork({
      caller: asked.actor,
      task_types: ['test'],
      count,
      lease_ms: LONG_MS,
      settled: true,
    });
    const outcome = await oracle.step(asked, taking);
    assert.ok(outcome.status === 'committed');
    assert.equal((outcome.answer.tasks as unknown[]).length, { 50: 1, 30: 2, 1: 1 }[count]);
  }
  await oracle.compareRecords(project);
});
