import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Scenario } from './scenario.ts';

/** Task files through every door; what may go wrong with them has tests of its own (test/features/workdir). */
export const taskFileScenarios: Record<string, Scenario> = {
  'a task is written, started, failed, retried, finished and frozen': async (alice, bob, { folder }) => {
    const work = join(folder, 'work');
    assert.equal((await bob.call('list_task_files')).error, 'no_work_directory');
    mkdirSync(join(work, 'assigned', 'alice'), { recursive: true });
    const created = await bob.call('create_task_file', {
      agent: 'alice',
      title: 'Fix the login',
      artefacts: ['src/login.ts'],
      notes: ['See issue 12'],
    });
    assert.equal(created.status, 'new', JSON.stringify(created));
    const { task_id } = created;
    assert.equal((await alice.call('start_task_file', { task_id })).error, 'wrong_status');
    // What a pass would do, or a person.
    const name = `${String(task_id)}.yaml`;
    renameSync(join(work, 'inbox', name), join(work, 'assigned', 'alice', name));
    assert.equal((await alice.call('start_task_file', { task_id })).status, 'in_progress');
    assert.equal((await alice.call('fail_task_file', { task_id, message: 'No server' })).status, 'error');
    const retried = await alice.call('retry_task_file', { task_id });
    assert.equal(retried.retry_count, 1, JSON.stringify(retried));
    assert.equal((await alice.call('start_task_file', { task_id })).action, 'started');
    const done = { task_id, summary: 'Mended', next_agent: 'bob', next_task_notes: ['Look at the cookie'] };
    assert.equal((await alice.call('finish_task_file', done)).status, 'done');
    assert.equal((await alice.call('finish_task_file', done)).action, 'already_finished');
    assert.ok(existsSync(join(work, 'done', 'alice', name)));
    const shown = await bob.call('show_task_file', { task_id });
    assert.equal((shown.contents as JsonObject).status, 'done');
    const other = await bob.call('create_task_file', { agent: 'alice', title: 'Later' });
    const frozen = await alice.call('freeze_task_file', { task_id: other.task_id });
    assert.equal(frozen.path, `work/fridge/${String(other.task_id)}.yaml`);
    const listed = (await bob.call('list_task_files', { agent: 'alice' })).tasks as JsonObject[];
    assert.deepEqual(
      listed.map(({ shelf }) => shelf),
      ['fridge', 'done'],
    );
    rmSync(work, { recursive: true });
  },

  'a task of the queue becomes a file, and what its file says is what the queue says': async (
    alice,
    bob,
    { folder },
  ) => {
    const work = join(folder, 'work');
    mkdirSync(join(work, 'assigned', 'alice'), { recursive: true });
    const { task_id: work_id } = await bob.call('submit_work', {
      task_type: 'filing',
      task_description: 'Write the manual',
    });
    assert.equal((await bob.call('file_work', { work_id, agent: 'alixe' })).error, 'invalid_input');
    const filed = await bob.call('file_work', { work_id, agent: 'alice' });
    assert.equal(filed.action, 'filed', JSON.stringify(filed));
    assert.equal((await bob.call('get_work', { task_types: ['filing'] })).reason, 'no_tasks_available');
    const refused = await bob.call('cancel_work', { task_id: work_id });
    assert.equal(refused.error, 'task_is_filed');
    const name = `${String(filed.task_id)}.yaml`;
    renameSync(join(work, 'inbox', name), join(work, 'assigned', 'alice', name));
    assert.equal((await alice.call('start_task_file', { task_id: filed.task_id })).success, true);
    assert.equal((await bob.call('show_work', { task_id: work_id })).file_status, 'in_progress');
    const done = { task_id: filed.task_id, summary: 'Written' };
    assert.equal((await alice.call('finish_task_file', done)).status, 'done');
    const { status, result } = await bob.call('show_work', { task_id: work_id });
    assert.deepEqual([status, result], ['completed', { summary: 'Written' }]);
    rmSync(work, { recursive: true });
  },
};
