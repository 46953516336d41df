import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBytes } from '../../src/kernel/byte-order.ts';

test('[STORE-1] texts come in the order of their bytes in UTF-8, as every store has it', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '\u0000', 'é', '\uffee', '\ue000', '\u{1f600}', '\u{10ffff}'),
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      assert.equal(Math.sign(compareBytes(a, b)), expected);
    }),
    { numRuns: 5000 },
  );
});
