import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

/** What is checked here holds through each door; the recorded answers are compared between the doors as well. */
export const coreScenarios: Record<string, Scenario> = {
  '[LOCK-1] [LOCK-2] [LOCK-4] [LOCK-6] a lock is taken, refused to others, extended and given back': async (
    alice,
    bob,
  ) => {
    const first = await alice.call('acquire_lock', { file_path: 'src/a.ts', reason: 'rename it' });
    assert.deepEqual([first.success, first.action], [true, 'acquired']);
    const refused = await bob.call('acquire_lock', { file_path: './src/a.ts' });
    assert.deepEqual([refused.action, refused.locked_by], ['blocked', 'alice']);
    assert.match(String(refused.message), /rename it/);
    const notHis = await bob.call('release_lock', { file_path: 'src/a.ts' });
    assert.equal(notHis.error, 'not_holder');
    const again = await alice.call('acquire_lock', {
      file_path: 'src/a.ts',
      ttl_minutes: 240,
      reason: 'and move it',
    });
    assert.deepEqual([again.action, again.fencing_token], ['refreshed', first.fencing_token]);
    const released = await alice.call('release_lock', { file_path: 'src/a.ts' });
    assert.equal(released.released, true);
    assert.equal((await alice.call('release_lock', { file_path: 'src/a.ts' })).error, 'not_held');
  },

  '[LOCK-7] [LOCK-8] [LOCK-9] who holds what; tokens grow; spellings are one lock': async (alice, bob) => {
    const first = await alice.call('acquire_lock', { file_path: 'b/../b/c.ts' });
    assert.equal(first.file_path, 'b/c.ts');
    const { locks } = await bob.call('check_locks', { file_paths: ['b/c.ts', 'b/d.ts'] });
    assert.deepEqual(
      (locks as JsonObject[]).map((lock) => [lock.file_path, lock.locked_by]),
      [['b/c.ts', 'alice']],
    );
    await alice.call('release_lock', { file_path: 'b/c.ts', fencing_token: first.fencing_token });
    const second = await bob.call('acquire_lock', { file_path: 'b/c.ts' });
    assert.ok((second.fencing_token as number) > (first.fencing_token as number));
    const old = await alice.call('release_lock', { file_path: 'b/c.ts', fencing_token: first.fencing_token });
    assert.equal(old.error, 'superseded');
    assert.equal((await bob.call('release_lock', { file_path: 'b/c.ts' })).released, true);
    assert.equal(
      (await bob.call('acquire_lock', { file_path: '../outside.ts' })).error,
      'path_outside_repository',
    );
  },

  '[QUEUE-1] [QUEUE-2] [QUEUE-4] the most urgent task comes first, and then none': async (alice, bob) => {
    const late = await alice.call('submit_work', {
      task_type: 'one',
      task_description: 'later',
      priority: 7,
    });
    const soon = await alice.call('submit_work', {
      task_type: 'one',
      task_description: 'sooner',
      priority: 2,
      input_data: { files: ['x.ts'], deep: { n: 1.5, none: null } },
    });
    const got = await bob.call('get_work', { task_types: ['one'] });
    assert.deepEqual([got.task_id, got.task_description], [soon.task_id, 'sooner']);
    assert.deepEqual(got.input_data, { files: ['x.ts'], deep: { n: 1.5, none: null } });
    assert.equal((await alice.call('get_work', { task_types: ['one'] })).task_id, late.task_id);
    const none = await bob.call('get_work', { task_types: ['one'] });
    assert.deepEqual([none.success, none.reason], [false, 'no_tasks_available']);
  },

  '[QUEUE-3] [QUEUE-5] a dependent waits for its parent': async (alice, bob) => {
    const parent = await alice.call('submit_work', { task_type: 'two', task_description: 'parent' });
    const child = await alice.call('submit_work', {
      task_type: 'two',
      task_description: 'child',
      depends_on: [parent.task_id as string],
    });
    assert.equal((await bob.call('get_work', { task_types: ['two'] })).task_id, parent.task_id);
    assert.equal((await alice.call('get_work', { task_types: ['two'] })).reason, 'no_tasks_available');
    const stranger = await alice.call('complete_work', { task_id: parent.task_id, success: true });
    assert.equal(stranger.success, false);
    const done = await bob.call('complete_work', {
      task_id: parent.task_id,
      success: true,
      result: { tests: 4 },
    });
    assert.deepEqual([done.success, done.status], [true, 'completed']);
    assert.equal((await alice.call('get_work', { task_types: ['two'] })).task_id, child.task_id);
    const failed = await alice.call('complete_work', {
      task_id: child.task_id,
      success: false,
      error_message: 'the build is red',
    });
    assert.equal(failed.status, 'failed');
    assert.equal((await bob.call('show_work', { task_id: child.task_id })).error_message, 'the build is red');
    const unknown = '00000000-0000-4000-8000-000000000000';
    const orphan = { task_type: 'two', task_description: 'orphan', depends_on: [unknown] };
    assert.equal((await alice.call('submit_work', orphan)).error, 'unknown_dependency');
  },

  '[QUEUE-8] batches, keys, priorities and cancelling': async (alice, bob) => {
    const task = { task_type: 'three', task_description: 'keyed', idempotency_key: 'once' };
    const first = await alice.call('submit_work', task);
    assert.equal((await bob.call('submit_work', task)).task_id, first.task_id);
    const batch = await alice.call('submit_work_batch', {
      tasks: [
        { task_type: 'three', task_description: 'x', idempotency_key: 'x' },
        { task_type: 'three', task_description: 'y', depends_on: ['x'] },
      ],
    });
    assert.equal((batch.tasks as JsonObject[]).length, 2);
    assert.equal(
      (await alice.call('reprioritise_work', { task_id: first.task_id, priority: 9 })).success,
      true,
    );
    const claimed = await bob.call('get_work_batch', { task_types: ['three'], count: 5 });
    const ids = (claimed.tasks as JsonObject[]).map((item) => item.task_id as string);
    assert.equal(ids.length, 2);
    assert.equal((await bob.call('renew_work', { task_id: ids[0] ?? '', lease_minutes: 60 })).success, true);
    const items = ids.map((task_id) => ({ task_id, success: true }));
    assert.equal((await bob.call('complete_work_batch', { items })).success, true);
    const [, last] = batch.tasks as JsonObject[];
    assert.equal(
      (await alice.call('cancel_work', { task_id: last?.task_id, reason: 'not needed' })).success,
      true,
    );
    assert.equal((await bob.call('list_work', { limit: 5 })).success, true);
    assert.equal((await alice.call('retry_work', { task_id: ids[0] ?? '' })).error, 'wrong_status');
  },

  '[PORT-1] [PORT-2] [PORT-3] [PORT-5] ports are given, kept, shown and given back': async (alice, bob) => {
    const first = await alice.call('allocate_ports', { session_id: 'worktree-1' });
    const block = first.allocation as JsonObject;
    assert.deepEqual(Object.keys(first).sort(), ['allocation', 'env_snippet', 'expires_at', 'success']);
    assert.equal(block.compose_project_name, 'ac-66743315');
    const again = await alice.call('allocate_ports', { session_id: 'worktree-1', ttl_minutes: 240 });
    assert.deepEqual(again.allocation, block);
    const other = (await bob.call('allocate_ports', { session_id: 'worktree-2' })).allocation as JsonObject;
    assert.ok(Math.abs((other.db_port as number) - (block.db_port as number)) >= 4);
    const { allocations } = await bob.call('ports_status');
    assert.deepEqual(
      (allocations as JsonObject[]).map(({ session_id, db_port, remaining_minutes }) => [
        session_id,
        db_port,
        remaining_minutes,
      ]),
      [
        ['worktree-1', block.db_port, 240],
        ['worktree-2', other.db_port, 120],
      ],
    );
    assert.equal((await alice.call('release_ports', { session_id: 'worktree-1' })).released, true);
    const nothing = await bob.call('release_ports', { session_id: 'worktree-1' });
    assert.deepEqual(nothing, { success: true, released: false });
    for (const session_id of ['', ' ', 'a\nb', 'x'.repeat(129)])
      assert.equal((await alice.call('allocate_ports', { session_id })).field, 'session_id');
    assert.equal((await alice.call('allocate_ports', {})).field, 'session_id');
  },

  'bad input is refused by the name of its field': async (alice) => {
    assert.equal((await alice.call('acquire_lock', {})).field, 'file_path');
    assert.equal(
      (await alice.call('acquire_lock', { file_path: 'a', ttl_minutes: 9999 })).field,
      'ttl_minutes',
    );
    assert.equal(
      (await alice.call('complete_work', { task_id: 'nonsense', success: true })).field,
      'task_id',
    );
    assert.equal(
      (await alice.call('submit_work', { task_type: 'a b', task_description: 'x' })).field,
      'task_type',
    );
  },
};
