// node test/chaos/fan-out.ts --dependents 10000 --kills 20 --store URL
// A parent with thousands of dependents ends; the process that passes that on is killed with SIGKILL again and again. In the end every
// dependent has been told exactly once.
import { join } from 'node:path';
import { open } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { agent } from '../conformance/engine.ts';
import { readOptions, startProgram, temporaryFolder } from './crew.ts';
import { leaseFaults, readLog } from './log-check.ts';

const BATCH = 50;
const LOOK_EVERY_MS = 1;
const PAST_THE_MARK_MS_MAX = 4;
const POLICIES = ['block', 'skip', 'run'] as const;
const ENDER = 'ender';

export interface FanOutResult {
  readonly summary: string;
  readonly faults: string[];
  /** Kills after which some had been told and some had not. */
  readonly in_between: number;
}

interface Plan {
  readonly parent: string;
  readonly fencing_token: number;
  readonly success: boolean;
  /** What each dependent does when the parent fails. */
  readonly policies: ReadonlyMap<string, (typeof POLICIES)[number]>;
}

export async function killFanOut(
  store: string,
  dependents: number,
  kills: number,
  success: boolean,
): Promise<FanOutResult> {
  const started_ms = performance.now();
  const coxswain = await open({ store });
  try {
    const plan = await prepare(coxswain, dependents, success);
    const follower = new Follower(coxswain, plan);
    let in_between = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      await killAt(store, plan, follower, Math.floor(((kill + Math.random()) * dependents) / kills));
      if (follower.told > 0 && follower.told < dependents) in_between += 1;
    }
    const times = await finish(store, plan);
    const faults = judge(await readLog(coxswain.store), plan);
    const { project } = coxswain;
    const replayed = await replay(coxswain.store, entities, project);
    for (const difference of await compareWithLive(coxswain.store, entities, project, replayed))
      faults.push(`replay differs: ${JSON.stringify(difference)}`);
    const seconds = ((performance.now() - started_ms) / 1000).toFixed(1);
    const engine = store.slice(0, store.indexOf(':'));
    const summary = `fan-out on ${engine}: a ${success ? 'completed' : 'failed'} parent, dependents ${dependents}, kills ${kills} (${in_between} in between), told once ${dependents - faults.length}, faults ${faults.length} (${times}, ${seconds} s)`;
    return { summary, faults, in_between };
  } finally {
    await coxswain.close();
  }
}

async function prepare(coxswain: Coxswain, dependents: number, success: boolean): Promise<Plan> {
  const call = agent(coxswain, ENDER);
  await call('submit_work', { task_type: 'parent', task_description: 'all wait for it' });
  const claimed = await call('get_work', { task_types: ['parent'], lease_minutes: 480 });
  const parent = claimed.task_id as string;
  const policies = new Map<string, (typeof POLICIES)[number]>();
  while (policies.size < dependents) {
    const tasks = Array.from({ length: Math.min(BATCH, dependents - policies.size) }, (_, n) => ({
      task_type: 'dependent',
      task_description: 'waits',
      depends_on: [parent],
      on_dependency_failure: POLICIES[n % POLICIES.length],
    }));
    const answer = await call('submit_work_batch', { tasks });
    if (answer.success !== true) throw new Error(JSON.stringify(answer));
    for (const [n, { task_id }] of (answer.tasks as JsonObject[]).entries())
      policies.set(task_id as string, POLICIES[n % POLICIES.length] ?? 'block');
  }
  return { parent, fencing_token: claimed.fencing_token as number, success, policies };
}

/** Reads the log as it grows. */
class Follower {
  told = 0;
  readonly #coxswain: Coxswain;
  readonly #parent: string;
  #position = 0;

  constructor(coxswain: Coxswain, { parent }: Plan) {
    this.#coxswain = coxswain;
    this.#parent = parent;
  }

  async look(): Promise<number> {
    const { store, project } = this.#coxswain;
    for (;;) {
      const { entries } = await store.read(project, this.#position, 1000);
      this.#position = entries.at(-1)?.position ?? this.#position;
      for (const { events } of entries)
        this.told += events.filter(({ data }) => data.task_id === this.#parent).length;
      if (entries.length === 0) return this.told;
    }
  }
}

function start(store: string, { parent, fencing_token, success }: Plan, task_type: string) {
  const options = { store, agent_id: ENDER, parent, fencing_token, success, task_type };
  return startProgram('fan-out-worker.ts', options);
}

/** Two at once, one that takes what has become ready and one that only passes on; both die when so many have been told. */
async function killAt(store: string, plan: Plan, follower: Follower, mark: number): Promise<void> {
  const workers = [start(store, plan, 'dependent'), start(store, plan, 'nothing')];
  for (const { lines } of workers) await lines.next(); // "ready"
  for (const { child } of workers) child.stdin?.write('go\n');
  const done = Promise.all(workers.map(({ exited }) => exited));
  let over = false;
  done.then(() => {
    over = true;
  });
  while (!over && (await follower.look()) < mark) await systemClock.sleep(LOOK_EVERY_MS);
  await systemClock.sleep(Math.random() * PAST_THE_MARK_MS_MAX);
  for (const { child } of workers) child.kill('SIGKILL');
  for (const { code, stderr } of await done)
    if (code !== null && code !== 0) throw new Error(`a worker ended by itself with ${code}: ${stderr}`);
  await follower.look();
}

async function finish(store: string, plan: Plan): Promise<string> {
  const worker = start(store, plan, 'dependent');
  await worker.lines.next();
  worker.child.stdin?.write('go\n');
  const said = (await worker.lines.next()).value as string | undefined;
  const { code, stderr } = await worker.exited;
  if (code !== 0 || said === undefined) throw new Error(`the last worker ended with ${code}: ${stderr}`);
  const { complete_ms, get_ms_max } = JSON.parse(said) as Record<string, number>;
  return `the last complete_work ${complete_ms?.toFixed(0)} ms, slowest get_work ${get_ms_max?.toFixed(0)} ms`;
}

/** Every dependent was told once, in the words of its policy, and no task was handed out that should not be. */
function judge(entries: readonly LogEntry[], { parent, success, policies }: Plan): string[] {
  const faults = leaseFaults(entries);
  const events = entries.flatMap((entry) => entry.events);
  const told = new Map<string, string[]>();
  const claimed = new Map<string, number>();
  for (const { id, type, data } of events) {
    if (data.task_id === parent) told.set(id, [...(told.get(id) ?? []), type]);
    if (type === 'task_claimed') claimed.set(id, (claimed.get(id) ?? 0) + 1);
  }
  for (const [id, policy] of policies) {
    const word = success ? 'dependency_met' : policy === 'skip' ? 'task_skipped' : 'dependency_failed';
    const heard = told.get(id) ?? [];
    if (heard.length !== 1 || heard[0] !== word)
      faults.push(`${id} (${policy}) was told: ${heard.join(', ')}`);
    const ready = success || policy === 'run' ? 1 : 0;
    if ((claimed.get(id) ?? 0) !== ready)
      faults.push(`${id} (${policy}) was handed out ${claimed.get(id)} times`);
  }
  for (const type of [success ? 'task_completed' : 'task_failed', 'dependents_released']) {
    const times = events.filter((event) => event.id === parent && event.type === type).length;
    if (times !== 1) faults.push(`${type} of the parent ${times} times`);
  }
  return faults;
}

if (import.meta.main) {
  using folder = temporaryFolder();
  const defaults = { dependents: 10_000, kills: 20, store: '' };
  const { store, dependents, kills } = readOptions(defaults);
  for (const success of [true, false]) {
    const url = store === '' ? `sqlite:${join(folder.path, `${success}.db`)}` : store;
    const result = await killFanOut(url, dependents, kills, success);
    console.log(result.summary);
    for (const fault of result.faults.slice(0, 20)) console.log(fault);
    if (result.faults.length > 0) process.exitCode = 1;
  }
}
