import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoTime } from '../../src/kernel/clock.ts';

const MS_MAX = Date.parse('9999-12-31T23:59:59.999Z');

test('[AUD-1] a moment is written as Date writes it, in every year', () => {
  const same = (time_ms: number) => assert.equal(isoTime(time_ms), new Date(time_ms).toISOString());
  fc.assert(fc.property(fc.double({ min: 0, max: MS_MAX, noNaN: true }), same), { numRuns: 20_000 });
  for (let year = 1970; year < 2404; year += 1)
    for (const day of ['01-01', '02-28', '03-01', '12-31']) same(Date.parse(`${year}-${day}T23:59:59.999Z`));
  same(Date.parse('2000-02-29T00:00:00Z'));
  for (const time_ms of [0, 1, MS_MAX, MS_MAX + 1, -1]) same(time_ms);
});
