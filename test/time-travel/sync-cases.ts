import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import type { Store } from '../../src/ledger/store-port.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { entities } from '../../src/runtime/entities.ts';
import { type Engine, type Fixture, sqlite } from '../conformance/engine.ts';
import {
  assertSameRows,
  foldIn,
  GOLDEN,
  goldenLog,
  rowsIn,
  sideOf,
  sourceOf,
  syncInto,
} from './sync-support.ts';

const fixtures: Fixture[] = [];
after(async () => {
  for (const fixture of fixtures) await fixture.drop();
});

async function fresh(engine: Engine): Promise<Coxswain> {
  const fixture = await engine.fresh();
  fixtures.push(fixture);
  return await fixture.open();
}

export function roundTripCases(engines: readonly Engine[]): void {
  test('[STORE-1] [AUD-5] a log goes through every store and comes back: the same rows, the same fold, once each', async () => {
    const told = goldenLog();
    const source = sourceOf(told);
    const first = await fresh(sqlite);
    const begun = await syncInto(source, first, { project: GOLDEN });
    assert.deepEqual([begun.rows, begun.copied, begun.differences], [told.length, told.length, []]);
    const fold = await foldIn(first, GOLDEN);
    let before = first;
    for (const engine of [...engines.filter((each) => each !== sqlite), sqlite]) {
      const next = await fresh(engine);
      const done = await syncInto(before, next, { project: GOLDEN });
      assert.deepEqual(
        [done.copied, done.missing, done.differences],
        [told.length, told.length, []],
        engine.name,
      );
      assertSameRows(await rowsIn(next, GOLDEN), told, engine.name);
      assert.equal(await foldIn(next, GOLDEN), fold, engine.name);
      const replayed = await replay(next.store, entities, GOLDEN);
      assert.deepEqual(await compareWithLive(next.store, entities, GOLDEN, replayed), [], engine.name);
      const again = await syncInto(before, next, { project: GOLDEN });
      assert.deepEqual([again.missing, again.copied, again.differences], [0, 0, []], engine.name);
      before = next;
    }
    const home = await syncInto(before, first, { project: GOLDEN });
    assert.deepEqual([home.missing, home.copied], [0, 0], 'back home there is nothing new');
  });
}

/** A store whose line breaks: before the n-th commit, or after it when its answer is on its way. */
function breaking(store: Store, at: number, when: 'before' | 'after'): Store {
  let commits = 0;
  return new Proxy(store, {
    get(whole, name) {
      if (name === 'inOrder') return false;
      if (name !== 'run') return bound(whole, name);
      return async (...args: Parameters<Store['run']>) => {
        commits += 1;
        if (commits >= at && when === 'before') throw new Error('the line is down');
        const outcome = await whole.run(...args);
        if (commits >= at) throw new Error('the line is down');
        return outcome;
      };
    },
  });
}

function bound(store: Store, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name, store);
  return typeof value === 'function' ? value.bind(store) : value;
}

export function breakingCases(engines: readonly Engine[]): void {
  for (const engine of engines)
    test(`[STORE-1] ${engine.name}: broken off anywhere and run again, each row is there once and in its place`, async () => {
      const told = goldenLog().slice(0, 120);
      for (const [at, when] of [
        [1, 'before'],
        [1, 'after'],
        [37, 'before'],
        [74, 'after'],
      ] as const) {
        const target = await fresh(engine);
        const options = { project: GOLDEN };
        const broken = sideOf(breaking(target.store, at, when), GOLDEN);
        await assert.rejects(
          syncInto(sourceOf(told), target, { ...options, to: broken }),
          /the line is down/,
        );
        const there = when === 'before' ? at - 1 : at;
        assert.equal((await rowsIn(target, GOLDEN)).length, there);
        const rest = await syncInto(sourceOf(told), target, options);
        assert.deepEqual([rest.copied, rest.differences], [told.length - there, []]);
        assertSameRows(await rowsIn(target, GOLDEN), told, engine.name);
      }
    });
}

export function crowdCases(engines: readonly Engine[]): void {
  for (const engine of engines)
    test(`[STORE-1] ${engine.name}: four at once copy each row once`, async () => {
      const told = goldenLog();
      const target = await fresh(engine);
      const done = await Promise.all(
        [1, 2, 3, 4].map(() => syncInto(sourceOf(told), target, { project: GOLDEN })),
      );
      assert.equal(
        done.reduce((sum, { copied }) => sum + copied, 0),
        told.length,
      );
      for (const { differences } of done) assert.deepEqual(differences, []);
      assertSameRows(await rowsIn(target, GOLDEN), told, engine.name);
      const replayed = await replay(target.store, entities, GOLDEN);
      assert.deepEqual(await compareWithLive(target.store, entities, GOLDEN, replayed), []);
    });
}
