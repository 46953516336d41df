import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';

const V7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const clockAt = (now_ms: () => number): Clock => ({ now_ms, elapsed_ms: now_ms, sleep: async () => {} });

test('[STORE-1] an id is a UUIDv7 that bears its time', () => {
  const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(times, fc.uint8Array({ minLength: 16, maxLength: 16 }), (time_ms, bytes) => {
      const ids = createIds(
        clockAt(() => time_ms),
        { bytes: () => bytes, fraction: () => 0 },
      );
      const found = V7.exec(ids.uuid());
      assert.ok(found !== null);
      // No caller has asked before the first millisecond.
      assert.equal(Number.parseInt(`${found[1]}${found[2]}`, 16), time_ms);
    }),
  );
});

test('[STORE-1] ids are in the order in which they were made, also when the clock is set back', () => {
  let now_ms = 1_800_000_000_000;
  const ids = createIds(
    clockAt(() => now_ms),
    systemRandom,
  );
  const made: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    for (let each = 0; each < 50; each += 1) made.push(ids.uuid());
    now_ms += round % 3 === 0 ? -5 : 4;
  }
  assert.deepEqual([...made].sort(), made);
  assert.equal(new Set(made).size, made.length);
});

test('[STORE-1] the bits of an id are where the standard has them', () => {
  const bytes = Uint8Array.from([0x7f, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x11, 0x22, 0x33, 0x44, 0x55]);
  const ids = createIds(
    clockAt(() => 0x0123_4567_89ab),
    { bytes: () => bytes, fraction: () => 0 },
  );
  assert.equal(ids.uuid(), '01234567-89ab-77ff-bc03-ff1122334455');
  assert.equal(ids.uuid(), '01234567-89ab-77ff-bc04-031122334455');
});
