// One of many processes with a random program of locks on files, folders and patterns, shared and exclusive, with and
// without waiting. While it holds something, files on the disk tell whether another was there at the same time.
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { AREAS, filesOf, PATHS } from '../simulation/model-areas.ts';
import { Seeded } from '../simulation/random.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as {
  store: string;
  folder: string;
  agent_id: string;
  seed: number;
};
const HOLD_MS_MAX = 8;
/** The least a lock can last; who means to leave it goes on at once. */
const BRIEFLY = 0.02;

const client = await connect({ store: options.store, agent_id: options.agent_id });
const random = new Seeded(options.seed);
const count = { grants: 0, refusals: 0, waited: 0, overlaps: 0, unavailable: 0 };

/** Looks whether a process is in a file that must not be beside this one, and is in it for a moment. */
async function criticalSection(areas: readonly string[], shared: boolean): Promise<void> {
  const marks: string[] = [];
  for (const file of new Set(areas.flatMap((area) => [...filesOf(area)]))) {
    const place = join(options.folder, encodeURIComponent(file));
    mkdirSync(place, { recursive: true });
    const writer = join(place, 'writer');
    if (shared ? existsSync(writer) : readdirSync(place).length > 0) count.overlaps += 1;
    const mark = shared ? join(place, options.agent_id) : writer;
    try {
      closeSync(openSync(mark, 'wx'));
      marks.push(mark);
    } catch {
      count.overlaps += 1;
    }
  }
  await systemClock.sleep(random.fraction() * HOLD_MS_MAX);
  for (const mark of marks) unlinkSync(mark);
}

async function round(): Promise<void> {
  const shared = random.chance(0.35);
  const file_paths = Array.from({ length: random.between(1, 3) }, () =>
    random.pick(random.chance(0.5) ? PATHS : AREAS),
  );
  const leaves = random.chance(0.02);
  const input: JsonObject = { file_paths: [...new Set(file_paths)], shared };
  if (random.chance(0.35)) input.wait_seconds = random.pick([0.05, 0.2, 1.5]);
  if (leaves) input.ttl_minutes = BRIEFLY;
  const answer = await client.call('acquire_lock', input);
  if (answer.success === true) {
    count.grants += 1;
    if (typeof answer.waited_seconds === 'number') count.waited += 1;
    if (leaves) return;
    await criticalSection(file_paths, shared);
    const released = await client.call('release_lock', { file_paths: input.file_paths });
    if (released.success !== true) throw new Error(`not released: ${JSON.stringify(released)}`);
  } else if (answer.action === 'blocked' || answer.error === 'would_deadlock') {
    // The latter because of what it left to run out.
    count.refusals += 1;
    await systemClock.sleep(random.fraction() * HOLD_MS_MAX);
  } else if (answer.error === 'database_unavailable') count.unavailable += 1;
  else throw new Error(`unexpected: ${JSON.stringify(answer)}`);
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Loads what the first call loads, so that all begin together.
await client.call('check_locks');
console.log('ready');
const deadline_ms = Number((await input.next()).value);
while (Date.now() < deadline_ms) await round();
await client.close();
console.log(JSON.stringify(count));
input.return?.();
process.stdin.destroy();
