import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ClaimState } from '../../src/domain/claims/claim.ts';
import { entities } from '../../src/domain/entities.ts';
import { replay } from '../../src/ledger/replay.ts';
import { approveAll } from './approvals.ts';
import type { Engine } from './engine.ts';
import { somebody } from './profiles.ts';
import type { Scene } from './suite.ts';

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** Starts one process per agent, lets them all go at the same moment, and answers what each printed last. */
async function race<T>(
  { engine, url }: { engine: string; url: string },
  agents: readonly string[],
  role: string,
  count: number,
): Promise<T[]> {
  // Processes that may sit do so by themselves; otherwise each commits for itself.
  const env = { ...process.env, COX_SEAT: engine.includes('seat') ? '' : 'off' };
  const workers = agents.map((agent_id) => {
    const child = spawn(process.execPath, [WORKER, url, agent_id, role, String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env,
    });
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  try {
    for (const { lines } of workers) assert.equal((await lines.next()).value, 'ready');
    for (const { child } of workers) child.stdin.write('go\n');
    return await Promise.all(
      workers.map(async ({ child, lines }) => {
        const last = (await lines.next()).value as string;
        if (child.exitCode === null) await once(child, 'exit');
        assert.equal(child.exitCode, 0);
        return JSON.parse(last) as T;
      }),
    );
  } finally {
    for (const { child } of workers) child.kill('SIGKILL');
  }
}

const EIGHT = Array.from({ length: 8 }, (_, n) => `process-${n}`);

export function processCases(scene: Scene): void {
  const at = scene.engine;
  const place = () => ({ engine: at, url: scene.fixture().url as string });

  test(`[LOCK-5] ${at}: eight processes race for forty paths: each path has exactly one winner`, async () => {
    const won = await race<string[]>(place(), EIGHT, 'locks', 40);
    assert.deepEqual(won.flat().sort(), Array.from({ length: 40 }, (_, n) => `raced/${n}.ts`).sort());
  });

  test(`[CLAIM-2] ${at}: eight processes race for forty features: each is granted once, and the log agrees`, async () => {
    const won = await race<string[]>(place(), EIGHT, 'claims', 40);
    const pairs = Array.from({ length: 40 }, (_, n) => `raced-${n}`).sort();
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
    const passed = await race<number>(place(), EIGHT.slice(0, 4), 'limited', 20);
    assert.equal(
      passed.reduce((sum, each) => sum + each, 0),
      50,
    );
  });

  test(`[LOCK-10] ${at}: eight processes race for folders, patterns and files in them: each has one winner`, async () => {
    const won = await race<number[]>(place(), EIGHT, 'areas', 40);
    assert.deepEqual(
      won.flat().sort((a, b) => a - b),
      Array.from({ length: 40 }, (_, n) => n),
    );
  });

  test(`[QUEUE-6] ${at}: eight processes drain one queue: no task is handed out twice, none is left`, async () => {
    const call = scene.agent('submitter');
    const ids: string[] = [];
    for (let batch = 0; batch < 4; batch += 1) {
      const tasks = Array.from({ length: 50 }, (_, n) => ({
        task_type: 'raced',
        task_description: `${batch}-${n}`,
      }));
      const answer = await call('submit_work_batch', { tasks });
      ids.push(...(answer.tasks as { task_id: string }[]).map(({ task_id }) => task_id));
    }
    const done = await race<string[]>(place(), EIGHT, 'tasks', 0);
    assert.deepEqual(done.flat().sort(), ids.sort());
  });

  test(`[APPR-2] ${at}: eight processes race to use thirty approvals: each permits once`, async () => {
    await approveAll(scene, 'racer', 30);
    const went = await race<number[]>(place(), EIGHT, 'approvals', 30);
    assert.deepEqual(
      went.flat().sort((a, b) => a - b),
      Array.from({ length: 30 }, (_, n) => n),
    );
  });

  test(`[STORE-1] ${at}: two processes that each read what the other writes never both succeed`, async () => {
    const [even = [], odd = []] = await race<number[]>(place(), ['even', 'odd'], 'skew', 400);
    assert.deepEqual(
      even.filter((n) => odd.includes(n)),
      [],
    );
    assert.equal(even.length + odd.length, 400, 'and one of them always does');
  });
}

export function startCases(engine: Engine): void {
  test(`[STORE-1] ${engine.name}: eight processes open a store that does not exist yet`, async () => {
    const fixture = await engine.fresh();
    try {
      const answers = await race<boolean>(
        { engine: engine.name, url: fixture.url as string },
        EIGHT,
        'open',
        0,
      );
      assert.deepEqual(
        answers,
        EIGHT.map(() => true),
      );
    } finally {
      await fixture.drop();
    }
  });
}
