import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 as theirs } from 'node:zlib';
import fc from 'fast-check';
import { crc32 } from '../../src/kernel/crc32.ts';

test('[STORE-1] the hook’s checksum is node:zlib’s, also of a text in two parts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (head, body) => {
      assert.equal(crc32(head), theirs(head));
      assert.equal(crc32(body, crc32(head)), theirs(body, theirs(head)));
    }),
  );
});
