import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/kernel/limits.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { canonical, compareWithLive, replay, rowsOf } from '../../src/ledger/replay.ts';
import { stateAt } from '../../src/ledger/time-travel/travel.ts';
import { entities } from '../../src/runtime/entities.ts';
import { until } from '../support/until.ts';
import type { Scene } from './suite.ts';

export function ledgerCases(scene: Scene): void {
  const at = scene.engine;

  async function log(): Promise<LogEntry[]> {
    const { store, project } = scene.coxswain();
    const entries: LogEntry[] = [];
    for (;;) {
      const page = await store.read(project, entries.at(-1)?.position ?? 0, 7);
      if (page.entries.length === 0) return entries;
      entries.push(...page.entries);
    }
  }

  test(`[LOCK-8] ${at}: an operation id gives the first answer again and does nothing twice`, async () => {
    const a = scene.agent('a');
    const input = { file_path: 'op.ts', operation_id: 'op-1' };
    const first = await a('acquire_lock', input);
    assert.equal(first.action, 'acquired');
    assert.deepEqual(await a('acquire_lock', input), first, 'not refreshed');
    const other = await a('acquire_lock', { ...input, file_path: 'other.ts' });
    assert.equal(other.error, 'operation_id_reused');
    const b = await scene.agent('b')('acquire_lock', { ...input, file_path: 'b.ts' });
    assert.equal(b.action, 'acquired', 'ids belong to their agent');
    assert.equal((await a('release_lock', { file_path: 'op.ts', operation_id: 'op-2' })).released, true);
    const again = await a('release_lock', { file_path: 'op.ts', operation_id: 'op-2' });
    assert.equal(again.released, true, 'the answer that got lost, not "not held"');
  });

  test(`[QUEUE-8] ${at}: the same operation id from eight callers at once commits once`, async () => {
    const call = scene.agent('many');
    const input = { task_type: 'once', task_description: 'once', operation_id: 'once' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('submit_work', input)));
    assert.equal(new Set(answers.map((answer) => answer.task_id)).size, 1);
    const commits = (await log()).filter((entry) => entry.operation_id === 'once' && entry.events.length > 0);
    assert.equal(commits.length, 1);
  });

  test(`[AUD-1] ${at}: every operation has a row, reads, refusals and bad input too, numbered without gaps`, async () => {
    const call = scene.agent('audited', 'audited-session');
    await call('acquire_lock', { file_path: 'aud.ts', reason: 'why' });
    await call('check_locks', { file_paths: ['aud.ts'] });
    await call('release_lock', { file_path: 'never.ts' });
    await call('acquire_lock', { file_path: 7 as never });
    await call('release_lock', { file_path: 'aud.ts' });
    const rows = await until(async () => {
      const mine = (await log()).filter((entry) => entry.session_id === 'audited-session');
      return mine.length === 5 && mine;
    });
    rows.sort((a, b) => a.sequence - b.sequence);
    assert.deepEqual(
      rows.map((row) => [
        row.sequence,
        row.operation,
        row.result.success,
        row.events.map(({ type }) => type),
      ]),
      [
        [1, 'acquire_lock', true, ['lock_acquired']],
        [2, 'check_locks', true, []],
        [3, 'release_lock', false, []],
        [4, 'acquire_lock', false, []],
        [5, 'release_lock', true, ['lock_released']],
      ],
    );
    for (const row of rows) {
      assert.equal(row.agent_id, 'audited');
      assert.equal(row.agent_type, 'test');
      assert.ok(row.duration_ms >= 0 && row.duration_ms < 60_000);
      assert.ok(Math.abs(row.at_ms - Date.now()) < 60_000);
    }
    assert.deepEqual(rows[0]?.parameters, { file_path: 'aud.ts', reason: 'why', ttl_minutes: 120 });
  });

  test(`[AUD-5] ${at}: replaying the log gives the live state, at the end and at a past moment`, async () => {
    const { store, project } = scene.coxswain();
    const call = scene.agent('replayer');
    const middle = (await log()).at(-1)?.at_ms ?? 0;
    // By the store's time, of which a client may know only that it is at least so late.
    await until(async () => (await store.find(project, {})).now_ms > middle + 5);
    await call('acquire_lock', { file_path: 'replayed.ts' });
    const parent = await call('submit_work', { task_type: 'replay', task_description: 'parent' });
    await call('submit_work', {
      task_type: 'replay',
      task_description: 'child',
      depends_on: [parent.task_id as string],
    });
    await call('get_work', { task_types: ['replay'] });
    await call('complete_work', { task_id: parent.task_id as string, success: true, result: { n: 1 } });
    const now = await replay(store, entities, project);
    assert.ok(now.state.has('lock/replayed.ts'));
    assert.deepEqual(await compareWithLive(store, entities, project, now), []);
    const then = await stateAt(rowsOf(store, project), entities, { at_ms: middle });
    assert.ok(!then.state.has('lock/replayed.ts'), 'the past knows nothing of what came later');
    assert.ok(then.rows < now.entries);
  });

  test(`[STORE-1] ${at}: reading in pages loses nothing and keeps the order`, async () => {
    const { store, project } = scene.coxswain();
    const whole = (await store.read(project, 0, 10_000)).entries;
    assert.equal(canonical(await log()), canonical(whole));
    for (const [index, entry] of whole.entries())
      assert.ok(index === 0 || entry.position > (whole[index - 1]?.position ?? 0));
  });

  test(`[STORE-1] ${at}: the tightest engine's limits hold here too, and nothing of a refused commit is written`, async () => {
    const call = scene.agent('large');
    const parents: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const tasks = Array.from({ length: 25 }, (_, i) => ({
        task_type: 'parent',
        task_description: `${n}-${i}`,
      }));
      const { tasks: submitted } = await call('submit_work_batch', { tasks });
      parents.push(...(submitted as { task_id: string }[]).map(({ task_id }) => task_id));
    }
    const tasks = Array.from({ length: 50 }, () => ({
      task_type: 'too-many',
      task_description: 'x',
      depends_on: parents,
    }));
    const refused = await call('submit_work_batch', { tasks });
    assert.equal(refused.error, 'too_large');
    assert.match(refused.message as string, new RegExp(`${limits.entities_per_commit}`));
    assert.equal((await call('get_work', { task_types: ['too-many'] })).reason, 'no_tasks_available');
  });

  test(`[STORE-1] ${at}: a state that grows too large is refused, and what it was stays`, async () => {
    const call = scene.agent('heavy');
    const input = { task_type: 'heavy', task_description: 'x', input_data: 'i'.repeat(190_000) };
    const task_id = (await call('submit_work', input)).task_id as string;
    await call('get_work', { task_types: ['heavy'] });
    const refused = await call('complete_work', { task_id, success: true, result: 'r'.repeat(190_000) });
    assert.equal(refused.error, 'too_large');
    assert.equal((await call('show_work', { task_id })).status, 'claimed');
    assert.equal(
      (await call('complete_work', { task_id, success: true, result: 'short' })).status,
      'completed',
    );
  });
}
