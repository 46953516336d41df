import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs, { mkdtempSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from '../../src/index.ts';
import { StoreFailure } from '../../src/kernel/refusal.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { Statements } from '../../src/stores/sqlite/statements.ts';
import { agent } from '../conformance/engine.ts';
import { until } from '../support/until.ts';

const WORKER = fileURLToPath(new URL('./watch-worker.ts', import.meta.url));
/** Promised are 100 ms; the machine may be busy with other tests. */
const HEARD_MS_MAX = 1000;
const WAKE_GAP_MS = 20;

const folders: string[] = [];
const children: ChildProcess[] = [];
const opened: Coxswain[] = [];
// Also what a failed test left behind: it would hold the process.
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  for (const coxswain of opened) await coxswain.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function fresh(): Promise<{ coxswain: Coxswain; path: string }> {
  const path = freshPath();
  const coxswain = await open({ store: `sqlite:${path}` });
  opened.push(coxswain);
  return { coxswain, path };
}

function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cox-watch-'));
  folders.push(folder);
  return join(folder, 'store', 'cox.db');
}

function start(path: string, role: string) {
  const child = spawn(process.execPath, [WORKER, `sqlite:${path}`, role], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    exited: once(child, 'exit'),
    said: async () => (await lines.next()).value as string,
  };
}

/** Another process that commits when it is told to; answers when that was. */
async function otherProcess(path: string) {
  const { child, exited, said } = start(path, 'commit');
  assert.equal(await said(), 'ready');
  return {
    async commit(others = 0): Promise<number> {
      child.stdin.write(`${others}\n`);
      return Number(await said());
    },
    async end(): Promise<void> {
      child.stdin.end();
      assert.deepEqual(await exited, [0, null]);
    },
  };
}

/** A watcher that reads whenever it is woken: how often it was, and when it first saw which row. */
function follow(coxswain: Coxswain) {
  const stop = new AbortController();
  const woken_ms: number[] = [];
  const seen_ms = new Map<number, number>();
  let position = 0;
  const done = (async () => {
    for await (const _ of coxswain.store.watch('default', stop.signal)) {
      const now_ms = performance.timeOrigin + performance.now();
      woken_ms.push(now_ms);
      for (const entry of (await coxswain.store.read('default', position, 1000)).entries) {
        position = entry.position;
        seen_ms.set(position, now_ms);
      }
    }
  })();
  return {
    woken_ms,
    seen_ms,
    seen: (row: number) => until(async () => seen_ms.get(row)),
    async end(): Promise<void> {
      stop.abort();
      await done;
    },
    done,
  };
}

/** As if the system told of changes to files in this way. */
async function withSystem<T>(watch: typeof fs.watch, body: () => Promise<T>): Promise<T> {
  const original = fs.watch;
  fs.watch = watch;
  syncBuiltinESMExports();
  try {
    return await body();
  } finally {
    fs.watch = original;
    syncBuiltinESMExports();
  }
}

/** When a watcher of this process looked whether other processes have committed. */
async function countingLooks<T>(body: (looked_ms: readonly number[]) => Promise<T>): Promise<T> {
  const original = Statements.prototype.dataVersion;
  const looked_ms: number[] = [];
  Statements.prototype.dataVersion = function counted(this: Statements) {
    looked_ms.push(performance.now());
    return original.call(this);
  };
  try {
    return await body(looked_ms);
  } finally {
    Statements.prototype.dataVersion = original;
  }
}

function idle(looked_ms: readonly number[]): Promise<boolean> {
  return until(async () => (looked_ms.at(-1) ?? 0) - (looked_ms.at(-2) ?? Infinity) > 1500);
}

/** Every two seconds would be too slow for this. */
function oftenEnough(looked_ms: readonly number[]): Promise<boolean> {
  return until(async () => looked_ms.length >= 15);
}

test('[STORE-1] a watcher hears of every commit of another process at once', async (t) => {
  const { coxswain, path } = await fresh();
  const other = await otherProcess(path);
  const watcher = follow(coxswain);
  const late_ms: number[] = [];
  // The next look of its own is two seconds away: the first commit must be told.
  await countingLooks(idle);
  for (let row = 1; row <= 50; row += 1) {
    const answered_ms = await other.commit();
    late_ms.push((await watcher.seen(row)) - answered_ms);
  }
  await watcher.end();
  await other.end();
  await coxswain.close();
  late_ms.sort((a, b) => a - b);
  t.diagnostic(`heard after ${late_ms[25]?.toFixed(1)} ms (median), ${late_ms[49]?.toFixed(1)} ms (latest)`);
  assert.ok((late_ms[49] ?? Infinity) < HEARD_MS_MAX, `${late_ms}`);
});

test('[STORE-1] thousands of commits a second wake a watcher now and then, and for the last one', async (t) => {
  const { coxswain, path } = await fresh();
  const other = await otherProcess(path);
  const watcher = follow(coxswain);
  await other.commit();
  const started_ms = await watcher.seen(1);
  watcher.woken_ms.length = 0;
  const answered_ms = await other.commit(5000);
  const last_ms = await watcher.seen(2);
  const wakes = watcher.woken_ms.length;
  const took_ms = last_ms - started_ms;
  t.diagnostic(`5,000 commits in ${took_ms.toFixed(0)} ms: woken ${wakes} times`);
  assert.ok(last_ms - answered_ms < HEARD_MS_MAX);
  assert.ok(wakes <= 2 + took_ms / (WAKE_GAP_MS / 1.5), `${wakes} in ${took_ms} ms`);
  await watcher.end();
  await other.end();
});

test('[STORE-1] a thousand commits of its own process wake a watcher now and then, and for the last one', async () => {
  const { coxswain } = await fresh();
  const watcher = follow(coxswain);
  const call = agent(coxswain, 'own');
  const started_ms = performance.now();
  for (let n = 0; n < 1000; n += 1) await call('acquire_lock', { file_path: `own/${n}.ts` });
  await watcher.seen(1000);
  const took_ms = performance.now() - started_ms;
  const wakes = watcher.woken_ms.length;
  assert.ok(wakes <= 2 + took_ms / (WAKE_GAP_MS / 1.5), `${wakes} in ${took_ms} ms`);
  await watcher.end();
});

test('[STORE-1] fifty idle watchers of a process look every two seconds, together, and are not woken', async () => {
  const { coxswain } = await fresh();
  const original = fs.watch;
  let ears = 0;
  let ears_max = 0;
  const watch = ((...args: Parameters<typeof fs.watch>) => {
    ears += 1;
    ears_max = Math.max(ears, ears_max);
    return original(...args).on('close', () => {
      ears -= 1;
    });
  }) as typeof fs.watch;
  const looks = await withSystem(watch, () =>
    countingLooks(async (looked_ms) => {
      const watchers = Array.from({ length: 50 }, () => follow(coxswain));
      await idle(looked_ms);
      assert.deepEqual(
        watchers.flatMap(({ woken_ms }) => woken_ms),
        [],
      );
      for (const watcher of watchers) await watcher.end();
      await until(async () => ears === 0);
      return looked_ms.length;
    }),
  );
  assert.equal(ears_max, 1);
  // One each when they came, and then together.
  assert.ok(looks <= 50 + 10, `${looks} looks`);
});

test('[STORE-1] where hints are lost, a watcher finds out by itself, and then looks often', async () => {
  const { coxswain, path } = await fresh();
  const other = await otherProcess(path);
  const silent = () => Object.assign(new EventEmitter(), { close() {} });
  await withSystem(silent as unknown as typeof fs.watch, async () => {
    const watcher = follow(coxswain);
    await other.commit();
    await watcher.seen(1);
    await countingLooks(idle);
    await other.commit();
    await watcher.seen(2);
    await countingLooks(oftenEnough);
    await watcher.end();
  });
  await other.end();
});

test('[STORE-1] where the system gives no hints at all, a watcher looks often', async () => {
  const { coxswain, path } = await fresh();
  const other = await otherProcess(path);
  const none = () => {
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  };
  await withSystem(none, async () => {
    const watcher = follow(coxswain);
    await countingLooks(oftenEnough);
    const answered_ms = await other.commit();
    assert.ok((await watcher.seen(1)) - answered_ms < HEARD_MS_MAX);
    await watcher.end();
  });
  await other.end();
});

test('[STORE-1] a watcher says so when its file is moved or deleted', async () => {
  const harm: ((path: string) => void)[] = [
    (path) => unlinkSync(`${path}-wal`),
    (path) => renameSync(path, `${path}.old`),
    (path) => renameSync(dirname(path), `${dirname(path)}.old`),
  ];
  for (const happen of harm) {
    const { coxswain, path } = await fresh();
    await agent(coxswain, 'a')('acquire_lock', { file_path: 'a.ts' });
    const watcher = follow(coxswain);
    await agent(coxswain, 'a')('acquire_lock', { file_path: 'b.ts' });
    await watcher.seen(2);
    happen(path);
    await assert.rejects(watcher.done, (error) => {
      assert.ok(error instanceof StoreFailure);
      assert.equal(error.refusal.error, 'store_moved');
      return true;
    });
  }
});

test('[STORE-1] a process is not held up by a watcher that nobody asks any more', async () => {
  const { said, exited } = start(freshPath(), 'leave');
  assert.equal(await said(), 'ready');
  assert.deepEqual(await exited, [0, null]);
});
