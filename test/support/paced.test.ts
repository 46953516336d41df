import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paced } from './paced.ts';
import { until } from './until.ts';

async function last(duration_ms: number): Promise<void> {
  const end_ms = performance.now() + duration_ms;
  await until(async () => performance.now() >= end_ms);
}

test('a case that failed in time has failed', async () => {
  const attempts: number[] = [];
  const failing = paced(60_000, async (pace) => {
    attempts.push(pace.attempt);
    await pace.within(async () => {});
    throw new Error('wrong');
  });
  await assert.rejects(failing, /wrong/);
  assert.deepEqual(attempts, [1]);
});

test('a case that was too slow to tell is tried with more time, and not for ever', async () => {
  const limits_ms: number[] = [];
  await paced(1, async (pace) => {
    limits_ms.push(pace.limit_ms);
    await pace.within(() => last(1));
    assert.equal(pace.attempt, 3);
  });
  assert.deepEqual(limits_ms, [1, 4, 16]);
  const endless = paced(1, async (pace) => {
    await pace.within(() => last(pace.limit_ms));
    throw new Error('wrong');
  });
  await assert.rejects(endless, /wrong/);
});

test('what is done again and again has to be in time each time, the pauses between included', async () => {
  const attempts: number[] = [];
  await paced(100, async (pace) => {
    attempts.push(pace.attempt);
    const beat = pace.beating();
    await beat(async () => {});
    if (pace.attempt === 1) await last(60);
    await beat(async () => {});
    assert.equal(pace.isSlow, false);
  });
  assert.deepEqual(attempts.slice(0, 2), [1, 2]);
});
