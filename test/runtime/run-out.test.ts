import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { limits } from '../../src/kernel/limits.ts';
import { temporaryFolder } from '../chaos/crew.ts';
import { agent } from '../conformance/engine.ts';

const READERS = limits.expiries_per_commit + 1;

/** Where many read until their time was up, and what an agent wants to write then. */
const CASES = [
  { what: 'the file itself', read: 'docs/a.md', wanted: 'docs/a.md' },
  { what: 'a folder above the file', read: 'docs/', wanted: 'docs/a.md' },
  { what: 'a pattern above the file', read: 'docs/*.md', wanted: 'docs/a.md' },
  { what: 'the folder itself', read: 'docs/', wanted: 'docs/' },
];

for (const { what, read, wanted } of CASES)
  test(`[LOCK-3] [LOCK-11] more readers than fit beside a grant ran out on ${what}: it is free all the same`, async () => {
    using folder = temporaryFolder();
    let late_ms = 0;
    const clock: Clock = { ...systemClock, now_ms: () => systemClock.now_ms() + late_ms };
    const coxswain = await open({ store: 'memory:', cwd: folder.path, clock });
    for (let n = 0; n < READERS; n += 1) {
      const reading = await agent(coxswain, `reader-${n}`)('acquire_lock', { file_path: read, shared: true });
      assert.equal(reading.action, 'acquired');
    }
    late_ms = limits.lock_ttl_minutes_default * 60_000;
    const writing = await agent(coxswain, 'writer')('acquire_lock', { file_path: wanted });
    assert.equal(writing.action, 'acquired', JSON.stringify(writing));
    await coxswain.close();
  });
