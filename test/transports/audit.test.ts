import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { doors } from './doors.ts';
import { type Scratch, scratch } from './support.ts';

async function rowsOf({ store, folder }: Scratch): Promise<LogEntry[]> {
  const coxswain = await open({ store, cwd: folder });
  try {
    return (await coxswain.store.read(coxswain.project, 0, 1000)).entries;
  } finally {
    await coxswain.close();
  }
}

for (const [name, make] of Object.entries(doors)) {
  test(`[AUD-1] ${name}: a write, a refusal, a mistake and a read each leave a row`, async () => {
    using place = scratch();
    {
      await using door = await make(place);
      const alice = await door.agent('alice');
      const bob = await door.agent('bob');
      await alice.call('acquire_lock', { file_path: 'a.ts', reason: 'why' });
      await bob.call('acquire_lock', { file_path: 'a.ts' });
      await alice.call('acquire_lock', { file_path: 'a.ts', ttl_minutes: 9999 });
      await alice.call('check_locks', {});
    }
    // Rows of reads and refusals are written soon, not at once: between processes their order is open.
    const rows = (await rowsOf(place))
      .filter((row) => row.operation !== 'touch_session')
      .sort((a, b) => a.agent_id.localeCompare(b.agent_id));
    assert.deepEqual(
      rows.map((row) => [row.agent_id, row.agent_type, row.session_id, row.operation, row.result.success]),
      [
        ['alice', 'tester', 'session-alice', 'acquire_lock', true],
        ['alice', 'tester', 'session-alice', 'acquire_lock', false],
        ['alice', 'tester', 'session-alice', 'check_locks', true],
        ['bob', 'tester', 'session-bob', 'acquire_lock', false],
      ],
    );
    assert.deepEqual(rows[0]?.parameters, { file_path: 'a.ts', reason: 'why', ttl_minutes: 120 });
    assert.deepEqual(
      rows.map(({ events }) => events.length),
      [1, 0, 0, 0],
    );
    for (const row of rows) assert.ok(row.duration_ms >= 0 && row.at_ms > 0);
    // Each invocation of a command is a connection of its own, with one row.
    const expected = name === 'cli' ? [1, 1, 1] : [1, 2, 3];
    assert.deepEqual(
      rows.filter((row) => row.agent_id === 'alice').map(({ sequence }) => sequence),
      expected,
    );
  });
}
