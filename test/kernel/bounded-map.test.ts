import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoundedMap } from '../../src/kernel/bounded-map.ts';

const MOST = 20;

const steps = fc.array(
  fc.record({
    key: fc.nat({ max: 45 }).map((n) => `key-${n}`),
    does: fc.constantFrom('set', 'set', 'set', 'set nothing', 'delete'),
  }),
  { maxLength: 400 },
);

test('what was set last is there, nothing is older than it should be, and there are never more than so many', () => {
  fc.assert(
    fc.property(steps, (asked) => {
      const map = new BoundedMap<number | undefined>(MOST);
      const values = new Map<string, number | undefined>();
      /** Keys in the order in which they were set last. */
      let order: string[] = [];
      for (const [step, { key, does }] of asked.entries()) {
        order = order.filter((each) => each !== key);
        if (does === 'delete') {
          map.delete(key);
          values.delete(key);
        } else {
          const value = does === 'set' ? step : undefined;
          map.set(key, value);
          values.set(key, value);
          order.push(key);
        }
        const there = order.filter((each) => map.has(each));
        assert.ok(there.length <= MOST, `${there.length} entries`);
        for (const each of there) assert.equal(map.get(each), values.get(each));
        for (const each of order.slice(-MOST / 2 + 1)) assert.ok(map.has(each), `${each} has gone too soon`);
        assert.equal(map.has('never'), false);
      }
      for (const key of asked.map((each) => each.key)) if (!values.has(key)) assert.ok(!map.has(key));
    }),
  );
});
