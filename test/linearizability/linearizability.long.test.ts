import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testDatabase } from '../support/postgres.ts';
import { merge } from './history.ts';
import {
  type LockAnswer,
  type LockCall,
  lockModel,
  type QueueAnswer,
  type QueueCall,
  queueModel,
} from './models.ts';
import { type Invocation, linearizable, type Sequential } from './wgl.ts';
import type { Assignment } from './worker.ts';

const PROCESSES = 6;
const SECONDS = Number(process.env.COX_TEST_LINEARIZABILITY_SECONDS ?? 2);
/** After so many lines one process is killed in whatever it is doing. */
const LINES_BEFORE_KILL = 60;

const STORES: Record<string, (folder: string) => Promise<{ url: string; drop(): Promise<void> }>> = {
  SQLite: async (folder) => ({ url: `sqlite:${join(folder, 'cox.db')}`, drop: async () => {} }),
  'SQLite with a seat': async (folder) => ({ url: `sqlite:${join(folder, 'cox.db')}`, drop: async () => {} }),
  PostgreSQL: () => testDatabase(),
};

class Worker {
  readonly name: string;
  readonly lines: string[] = [];
  readonly ready: Promise<void>;
  readonly ended: Promise<unknown[]>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #onLine: () => void = () => {};

  constructor(name: string, assignment: Assignment) {
    this.name = name;
    const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
    this.#child = spawn(process.execPath, [program, JSON.stringify(assignment)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.ended = once(this.#child, 'close');
    const output = createInterface({ input: this.#child.stdout });
    const becameReady = Promise.withResolvers<void>();
    this.ready = becameReady.promise;
    this.ended.then(([code]) => becameReady.reject(new Error(`${name} ended with ${code} before it began`)));
    output.on('line', (line) => {
      if (line === '{"ready":true}') becameReady.resolve();
      else this.lines.push(line);
      this.#onLine();
    });
  }

  begin(): void {
    this.#child.stdin.end('go\n');
  }

  /** Killed in the middle of its work, as soon as it has done some. */
  async killAfter(lines: number): Promise<void> {
    const enough = new Promise<void>((resolve) => {
      this.#onLine = () => {
        if (this.lines.length >= lines) resolve();
      };
      this.#onLine();
    });
    await Promise.race([enough, this.ended]);
    this.#child.kill('SIGKILL');
    await this.ended;
  }
}

/** Real processes against one store; one is killed and comes back as the same agent in a new process. */
async function race(store: string, cwd: string, sits: boolean): Promise<Map<string, string[]>> {
  const duration_ms = SECONDS * 1000;
  const assignment = (index: number, seed: number) => ({
    store,
    cwd,
    agent_id: `agent${index}`,
    sits,
    seed,
    duration_ms,
  });
  const workers = Array.from(
    { length: PROCESSES },
    (_, index) => new Worker(`process ${index}`, assignment(index, index)),
  );
  await Promise.all(workers.map(({ ready }) => ready));
  for (const worker of workers) worker.begin();
  await workers[0]?.killAfter(LINES_BEFORE_KILL);
  const again = new Worker('process 0, again', { ...assignment(0, PROCESSES), duration_ms: duration_ms / 2 });
  workers.push(again);
  await again.ready;
  again.begin();
  const ends = await Promise.all(workers.map(({ ended }) => ended));
  assert.deepEqual(
    ends.slice(1).map(([code]) => code),
    Array(PROCESSES).fill(0),
  );
  return new Map(workers.map(({ name, lines }) => [name, lines]));
}

function judge<S, I, O>(
  model: Sequential<S, I, O>,
  histories: ReadonlyMap<string, Invocation<I, O>[]>,
): number {
  let answered = 0;
  for (const [key, history] of histories) {
    const judgement = linearizable(model, history);
    if (!judgement.ok) {
      const show = (each: Invocation<I, O>) =>
        `${each.process} ${JSON.stringify(each.input)} → ${JSON.stringify(each.output)} [${each.called}, ${each.returned ?? 'open'}]`;
      const last = judgement.placed.slice(-8).map(show).join('\n  ');
      assert.fail(
        `${key} is not linearizable; after\n  ${last}\nnone of these can come next:\n  ${judgement.stuck.map(show).join('\n  ')}`,
      );
    }
    answered += history.filter(({ returned }) => returned !== undefined).length;
  }
  return answered;
}

for (const [name, openStore] of Object.entries(STORES)) {
  test(`[LOCK-5] [QUEUE-6] on ${name}, what ${PROCESSES} processes see of locks and queue is linearizable`, async (t) => {
    const folder = await mkdtemp(join(await realpath(tmpdir()), 'cox-linear-'));
    const { url, drop } = await openStore(folder);
    try {
      const lines = await race(url, folder, name.includes('seat'));
      const locks = merge<LockCall, LockAnswer>(lines, 'lock/');
      const queues = merge<QueueCall, QueueAnswer>(lines, 'queue/');
      const calls = { locks: judge(lockModel, locks), queues: judge(queueModel, queues) };
      t.diagnostic(`${calls.locks} calls on locks, ${calls.queues} on queues`);
      const said = (word: string) =>
        [...locks.values()].flat().filter(({ output }) => output?.said === word).length;
      for (const word of [
        'acquired',
        'refreshed',
        'blocked',
        'released',
        'not_holder',
        'not_held',
        'checked',
      ])
        assert.ok(said(word) > 0, `nobody was told "${word}"`);
      assert.ok([...queues.values()].flat().some(({ output }) => output?.said === 'completed'));
    } finally {
      await drop();
      await rm(folder, { recursive: true, force: true });
    }
  });
}
