import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedMap } from '../../src/kernel/bounded-map.ts';

/** The same, as slowly and plainly as can be. */
class Plain {
  #entries: [string, number][] = [];
  readonly most: number;
  constructor(most: number) {
    this.most = most;
  }
  set(key: string, value: number): void {
    this.delete(key);
    this.#entries.push([key, value]);
    if (this.#entries.length > this.most) this.#entries.shift();
  }
  delete(key: string): void {
    this.#entries = this.#entries.filter(([each]) => each !== key);
  }
  get(key: string): number | undefined {
    return this.#entries.find(([each]) => each === key)?.[1];
  }
}

test('whatever was set longest ago goes first, also after others went by themselves', () => {
  const [map, plain] = [new BoundedMap<number>(20), new Plain(20)];
  // Any numbers, always the same: what is set again, deleted and new comes in all orders.
  let seed = 1;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let step = 0; step < 20_000; step += 1) {
    // Now and then nearly empty, now and then much more than fits.
    const keys = 5 + (Math.floor(step / 500) % 8) * 5;
    const key = `key-${next(keys)}`;
    if (next(4) === 0) {
      map.delete(key);
      plain.delete(key);
    } else {
      map.set(key, step);
      plain.set(key, step);
    }
    const asked = `key-${next(keys)}`;
    assert.equal(map.get(asked), plain.get(asked), `step ${step}`);
    assert.equal(map.has(asked), plain.get(asked) !== undefined);
  }
});
