import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import { until } from '../support/until.ts';
import { patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

/** Reads the log whenever it is told to, and is busy with that for as long as `busy` says. */
async function follow(store: Store, hints: AsyncIterable<void>, seen: number[], busy = async () => {}) {
  for await (const _ of hints) {
    const { entries } = await store.read('default', seen.at(-1) ?? 0, 1000);
    seen.push(...entries.map(({ position }) => position));
    await busy();
  }
}

export function watchCases(scene: Scene): void {
  const at = scene.engine;
  const last = async () => (await scene.coxswain().store.read('default', 0, 1000)).entries.at(-1)?.position;

  test(`[STORE-1] ${at}: watch wakes when the log grows`, async () => {
    const { store, project } = scene.coxswain();
    const stop = new AbortController();
    const woken = (async () => {
      for await (const _ of store.watch(project, stop.signal)) return true;
      return false;
    })();
    const call = scene.agent('watcher');
    let awake = false;
    woken.then(() => {
      awake = true;
    });
    await until(async () => {
      await call('acquire_lock', { file_path: 'watched.ts' });
      return awake;
    });
    stop.abort();
    assert.equal(await woken, true);
  });

  test(`[STORE-1] ${at}: what is committed before a watcher first waits, or while it is busy, is not missed`, async () => {
    const { store } = scene.coxswain();
    const call = scene.agent('busy');
    const stop = new AbortController();
    const hints = store.watch('default', stop.signal);
    await call('acquire_lock', { file_path: 'before.ts' });
    const seen: number[] = [];
    let goOn = () => {};
    const following = follow(
      store,
      hints,
      seen,
      () =>
        new Promise((resolve) => {
          goOn = resolve;
        }),
    );
    const others: number[] = [];
    const other = follow(store, store.watch('default', stop.signal), others);
    const before = await last();
    assert.ok(before !== undefined);
    const reach = (position: number) =>
      until(async () => {
        if (seen.includes(position)) return true;
        goOn();
        return false;
      });
    await reach(before);
    // It is still busy with the hint by which it came to that; another watcher is not.
    await call('acquire_lock', { file_path: 'meanwhile.ts' });
    const meanwhile = await last();
    assert.ok(meanwhile !== undefined && meanwhile > before);
    await until(async () => others.includes(meanwhile));
    await reach(meanwhile);
    stop.abort();
    goOn();
    await Promise.all([following, other]);
  });

  test(`[STORE-1] ${at}: a watcher ends when told to, and when its store is closed, waiting or not`, async () => {
    const own = await open({ store: scene.fixture().url ?? 'memory:' });
    const stop = new AbortController();
    const ended: string[] = [];
    const watching = (name: string, signal: AbortSignal) =>
      follow(own.store, own.store.watch('default', signal), []).then(() => ended.push(name));
    watching('told', stop.signal);
    watching('closed', new AbortController().signal);
    const idle = own.store.watch('default', new AbortController().signal)[Symbol.asyncIterator]();
    const hinted = idle.next();
    await patientAgent(own, 'ender')('acquire_lock', { file_path: 'ended.ts' });
    assert.equal((await hinted).done, false);
    stop.abort();
    await until(async () => ended.length > 0);
    assert.deepEqual(ended, ['told']);
    await own.close();
    await until(async () => ended.includes('closed'));
    assert.equal((await idle.next()).done, true);
    const late = own.store.watch('default', new AbortController().signal)[Symbol.asyncIterator]();
    assert.equal((await late.next()).done, true);
  });
}
