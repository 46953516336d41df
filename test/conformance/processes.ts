import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ClaimState } from '../../src/features/claims/edge-claim.ts';
import { replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { approveAll } from './approvals.ts';
import type { Engine } from './engine.ts';
import { somebody } from './profiles.ts';
import type { Scene } from './suite.ts';
import type { Job } from './worker.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

type Racer = ReturnType<typeof startRacer>;

function startRacer(engine: string) {
  // Processes that may sit do so by themselves; otherwise each commits for itself.
  const env = { ...process.env, COX_SEAT: engine.includes('seat') ? '' : 'off' };
  const child = spawn(process.execPath, [WORKER], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hears = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('a racer ended');
    return value;
  };
  return { child, says: (line: string) => child.stdin.write(`${line}\n`), hears };
}

/** Processes for one race after the other: starting them takes longer than most races. */
class Racers {
  readonly #engine: string;
  #racers: Racer[] = [];

  constructor(engine: string) {
    this.#engine = engine;
  }

  /** Gives one process to each agent, lets them all go at the same moment, and answers what each printed last. */
  async race<T>(url: string, agents: readonly string[], role: string, count: number): Promise<T[]> {
    while (this.#racers.length < agents.length) this.#racers.push(startRacer(this.#engine));
    const racers = this.#racers.slice(0, agents.length);
    try {
      for (const [index, { says }] of racers.entries())
        says(JSON.stringify({ url, agent_id: agents[index] ?? '', role, count } satisfies Job));
      for (const { hears } of racers) assert.equal(await hears(), 'ready');
      for (const { says } of racers) says('go');
      return await Promise.all(racers.map(async ({ hears }) => JSON.parse(await hears()) as T));
    } catch (error) {
      this.#kill();
      throw error;
    }
  }

  async end(): Promise<void> {
    const ended = this.#racers.map(async ({ child }) => {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      assert.equal(child.exitCode, 0);
    });
    await Promise.all(ended).finally(() => this.#kill());
  }

  #kill(): void {
    for (const { child } of this.#racers) child.kill('SIGKILL');
    this.#racers = [];
  }
}

const EIGHT = Array.from({ length: 8 }, (_, n) => `process-${n}`);

export function processCases(scene: Scene): void {
  const at = scene.engine;
  const racers = new Racers(at);
  /** Over the wire each is a dozen requests, and eight processes that meet at one thing ask most of them in vain. */
  const [raced, approved, skewed] = at === 'dynamodb' ? [20, 12, 200] : [40, 30, 400];
  after(() => racers.end());
  const race = <T>(agents: readonly string[], role: string, count: number) =>
    racers.race<T>(scene.fixture().url as string, agents, role, count);

  test(`[LOCK-5] ${at}: eight processes race for ${raced} paths: each path has exactly one winner`, async () => {
    const won = await race<string[]>(EIGHT, 'locks', raced);
    assert.deepEqual(won.flat().sort(), Array.from({ length: raced }, (_, n) => `raced/${n}.ts`).sort());
  });

  test(`[CLAIM-2] ${at}: eight processes race for ${raced} features: each is granted once, and the log agrees`, async () => {
    const won = await race<string[]>(EIGHT, 'claims', raced);
    const pairs = Array.from({ length: raced }, (_, n) => `raced-${n}`).sort();
    assert.deepEqual(won.flat().sort(), pairs);
    const { store, project } = scene.coxswain();
    const { state } = await replay(store, entities, project);
    for (const [index, features] of won.entries())
      for (const feature of features) {
        const claim = state.get(`claim/${feature}#design_code`)?.state as ClaimState | undefined;
        assert.equal(claim?.lease?.agent_id, EIGHT[index], feature);
      }
  });

  test(`[PROF-3] ${at}: four processes of one session change 80 files: the 50th passes, the 51st does not`, async () => {
    const person = somebody(scene.coxswain(), 'person:ann', 'person', 'person');
    const resource_limits = { max_file_modifications: 50 };
    await person('set_profile', { name: 'fifty', resource_limits });
    await person('assign_profile', { profile: 'fifty', to_agent: 'limited-racer' });
    const passed = await race<number>(EIGHT.slice(0, 4), 'limited', 20);
    assert.equal(
      passed.reduce((sum, each) => sum + each, 0),
      50,
    );
  });

  test(`[LOCK-10] ${at}: eight processes race for folders, patterns and files in them: each has one winner`, async () => {
    const won = await race<number[]>(EIGHT, 'areas', raced);
    assert.deepEqual(
      won.flat().sort((a, b) => a - b),
      Array.from({ length: raced }, (_, n) => n),
    );
  });

  test(`[QUEUE-6] ${at}: eight processes drain one queue: no task is handed out twice, none is left`, async () => {
    const call = scene.agent('submitter');
    const ids: string[] = [];
    for (let batch = 0; batch < raced / 10; batch += 1) {
      const tasks = Array.from({ length: 50 }, (_, n) => ({
        task_type: 'raced',
        task_description: `${batch}-${n}`,
      }));
      const answer = await call('submit_work_batch', { tasks });
      ids.push(...(answer.tasks as { task_id: string }[]).map(({ task_id }) => task_id));
    }
    const done = await race<string[]>(EIGHT, 'tasks', 0);
    assert.deepEqual(done.flat().sort(), ids.sort());
  });

  test(`[APPR-2] ${at}: eight processes race to use ${approved} approvals: each permits once`, async () => {
    await approveAll(scene, 'racer', approved);
    const went = await race<number[]>(EIGHT, 'approvals', approved);
    assert.deepEqual(
      went.flat().sort((a, b) => a - b),
      Array.from({ length: approved }, (_, n) => n),
    );
  });

  test(`[STORE-1] ${at}: two processes that each read what the other writes never both succeed`, async () => {
    const [even = [], odd = []] = await race<number[]>(['even', 'odd'], 'skew', skewed);
    assert.deepEqual(
      even.filter((n) => odd.includes(n)),
      [],
    );
    assert.equal(even.length + odd.length, skewed, 'and one of them always does');
  });
}

export function startCases(engine: Engine): void {
  test(`[STORE-1] ${engine.name}: eight processes open a store that does not exist yet`, async () => {
    const fixture = await engine.fresh();
    const racers = new Racers(engine.name);
    try {
      const answers = await racers.race<boolean>(fixture.url as string, EIGHT, 'open', 0);
      assert.deepEqual(
        answers,
        EIGHT.map(() => true),
      );
    } finally {
      await racers.end();
      await fixture.drop();
    }
  });
}
