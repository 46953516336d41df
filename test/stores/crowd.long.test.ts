// Many short commands at once on a store that does not exist yet, as when a script starts an agent for every file.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { finished, type Scratch, scratch, start } from '../transports/support.ts';

const CROWD = 200;
/** On two processors with nothing else to do. */
const ANSWER_MS_MAX = 10_000;
/** Another program beside us slows a bare Node down as well. */
const BARE_STARTS_MAX = 6;

async function bareStart(): Promise<void> {
  await once(spawn(process.execPath, ['-e', ''], { stdio: 'ignore' }), 'close');
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start_ms = performance.now();
  await action();
  return performance.now() - start_ms;
}

async function lockOne(place: Scratch, index: number): Promise<{ code: number | null; answer: JsonObject }> {
  const args = ['lock', 'acquire', `src/file-${index}.ts`, '--agent', `agent-${index}`, '--json'];
  const child = start([...args, '--store', place.store], { cwd: place.folder });
  child.stdin?.end();
  const { code, out, err } = await finished(child);
  return { code, answer: JSON.parse(out || JSON.stringify({ err })) as JsonObject };
}

test('[STORE-7] two hundred commands at once on a new store are all answered, none of them late', async (t) => {
  using place = scratch();
  const each = Array.from({ length: CROWD }, (_, index) => index);
  const bare_ms = await timed(() => Promise.all(each.map(bareStart)));
  const took_ms: number[] = [];
  const all = await Promise.all(
    each.map(async (index) => {
      const start_ms = performance.now();
      const answer = await lockOne(place, index);
      took_ms.push(performance.now() - start_ms);
      return answer;
    }),
  );
  const failed = all.filter(({ code, answer }) => code !== 0 || answer.action !== 'acquired');
  assert.deepEqual(failed, []);
  const worst_ms = Math.max(...took_ms);
  t.diagnostic(
    `the last answer after ${worst_ms.toFixed(0)} ms; ${CROWD} bare starts took ${bare_ms.toFixed(0)} ms`,
  );
  assert.ok(worst_ms < Math.max(ANSWER_MS_MAX, BARE_STARTS_MAX * bare_ms), `${worst_ms} ms`);
});
