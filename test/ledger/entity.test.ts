import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EntityMap, keyText } from '../../src/ledger/entity.ts';

const keys = fc.record({
  kind: fc.constantFrom('lock', 'task'),
  id: fc.constantFrom(...'abcdefghijklmnop', 'a/b'),
});

test('[STORE-1] things by kind and id: few or many, it is a map in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 60 }), (asked) => {
      const map = new EntityMap<number>();
      const expected = new Map<string, number>();
      for (const [value, key] of asked.entries()) {
        const entry = map.entry(key);
        assert.equal(entry?.value, expected.get(keyText(key)));
        if (entry === undefined) map.add(key, value);
        else entry.value = value;
        expected.set(keyText(key), value);
      }
      assert.deepEqual(
        map.entries().map(({ key, value }) => [keyText(key), value]),
        [...expected],
      );
    }),
  );
});
