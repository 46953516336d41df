// Processes that stand in line and die, or stop for a while: the waiter behind them is served in seconds.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { testDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { Agent, temporaryFolder } from './crew.ts';

/** What a machine that is busy with other tests may add. */
const SLACK_MS = 4000;

async function standsInLine(look: Agent, agent_id: string): Promise<void> {
  await until(async () => {
    const { waiting = [] } = await look.call('check_locks');
    return (waiting as JsonObject[]).some((each) => each.agent_id === agent_id);
  });
}

async function dieInLine(store: string, signal: 'SIGKILL' | 'SIGSTOP'): Promise<void> {
  using holder = new Agent({ store, agent_id: 'holder' });
  using first = new Agent({ store, agent_id: 'first' });
  using second = new Agent({ store, agent_id: 'second' });
  const wanted = { file_path: 'src/', wait_seconds: 60 };
  assert.equal((await holder.call('acquire_lock', { file_path: 'src/a.ts' })).action, 'acquired');
  // It never hears the end of this one if it is killed.
  const served = first.call('acquire_lock', wanted).catch(() => undefined);
  await standsInLine(holder, 'first');
  const next = second.timedCall('acquire_lock', wanted);
  await standsInLine(holder, 'second');
  first.signal(signal);
  const died_ms = performance.now();
  await holder.call('release_lock', { file_path: 'src/a.ts' });
  const { answer } = await next;
  const delay_ms = performance.now() - died_ms;
  assert.equal(answer.action, 'acquired', JSON.stringify(answer));
  assert.ok(delay_ms < limits.waiter_alive_ms + SLACK_MS, `${delay_ms} ms`);
  if (signal === 'SIGSTOP') {
    first.signal('SIGCONT');
    // It goes on waiting, behind the waiter that passed it meanwhile.
    assert.equal((await holder.call('acquire_lock', { file_path: 'src/a.ts' })).locked_by, 'second');
    await standsInLine(holder, 'first');
    await second.call('release_lock', { file_path: 'src/' });
    assert.equal((await served)?.action, 'acquired');
  }
  await Promise.all([holder.close(), second.close()]);
}

test('[LOCK-11] who dies or stops while it stands in line delays nobody more than seconds, on every store', async () => {
  using folder = temporaryFolder();
  const [one, two] = await Promise.all([testDatabase(), testDatabase()]);
  try {
    await Promise.all([
      dieInLine(`sqlite:${join(folder.path, 'killed.db')}`, 'SIGKILL'),
      dieInLine(`sqlite:${join(folder.path, 'stopped.db')}`, 'SIGSTOP'),
      dieInLine(one.url, 'SIGKILL'),
      dieInLine(two.url, 'SIGSTOP'),
    ]);
  } finally {
    await Promise.all([one.drop(), two.drop()]);
  }
});
