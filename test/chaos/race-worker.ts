// One of many processes that want the same path. Inside the critical section a file created exclusively and the last
// token seen tell whether another holder was there at the same time.
import { closeSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from '../../src/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';

const { store, folder, agent_id, path } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const marker = join(folder ?? '', 'inside');
const tokens = join(folder ?? '', 'last-token');
const RETRY_MS_MAX = 20;

const client = await connect({ store, agent_id });
const count = { grants: 0, refusals: 0, overlaps: 0, unavailable: 0 };

async function criticalSection(token: number): Promise<void> {
  let file: number;
  try {
    file = openSync(marker, 'wx');
  } catch {
    count.overlaps += 1;
    return;
  }
  writeSync(file, `${token}`);
  closeSync(file);
  const last = Number(readFileSync(tokens, 'utf8'));
  if (token <= last) count.overlaps += 1;
  writeFileSync(tokens, `${token}`);
  // Let the others run while we are inside.
  await new Promise(setImmediate);
  if (readFileSync(marker, 'utf8') !== `${token}`) count.overlaps += 1;
  unlinkSync(marker);
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
// Loads what the first call loads, so that the race is about the lock and not about starting.
await client.call('check_locks');
console.log('ready');
const deadline_ms = Number((await input.next()).value);
while (Date.now() < deadline_ms) {
  const answer = await client.call('acquire_lock', { file_path: path ?? '' });
  if (answer.success === true) {
    count.grants += 1;
    await criticalSection(answer.fencing_token as number);
    const released = await client.call('release_lock', { file_path: path ?? '' });
    if (released.success !== true) throw new Error(`not released: ${JSON.stringify(released)}`);
  } else if (answer.action === 'blocked') {
    count.refusals += 1;
    await systemClock.sleep(Math.random() * RETRY_MS_MAX);
  } else if (answer.error === 'database_unavailable') {
    count.unavailable += 1;
  } else {
    throw new Error(`unexpected: ${JSON.stringify(answer)}`);
  }
}
await client.close();
console.log(JSON.stringify(count));
input.return?.();
process.stdin.destroy();
