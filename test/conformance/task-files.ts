import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_WORKDIR } from '../../src/features/workdir/workdir-settings.ts';
import { task } from '../features/workdir/ground.ts';
import { MirrorStage } from '../features/workdir/mirror-stage.ts';
import type { Scene } from './suite.ts';

/** Work directories whose tasks are shown in the store, and tasks of the queue that become files. */
export function taskFileCases(scene: Scene): void {
  const at = scene.engine;
  const opens = (project: string) => (options: { cwd: string }) =>
    scene.fixture().open({ ...options, project, env: {} });

  test(`[DIR-6] ${at}: the store follows the files, hands none of them out, and releases who waits for them`, async () => {
    await using stage = await MirrorStage.on(
      { 'inbox/x.yaml': task('x', { priority: 'high' }), 'inbox/y.yaml': task('y') },
      opens('followed'),
    );
    assert.equal((await stage.pass()).written, 2);
    const { task_id: parent, file_status } = await stage.shown('x');
    assert.equal(file_status, 'assigned');
    const child = await stage.submit('after it', { depends_on: [parent as string] });
    assert.equal((await stage.call('get_work')).reason, 'no_tasks_available');
    assert.equal((await stage.call('cancel_work', { task_id: parent })).error, 'task_is_filed');
    stage.ground.write('assigned/ann/x.yaml', task('x', { status: 'error', error: 'no' }));
    stage.ground.remove('assigned/ann/y.yaml');
    const { written, away, problems } = await stage.pass();
    assert.deepEqual([written, away, problems], [2, undefined, []]);
    const status = async (id: string) => (await stage.shown(id)).status;
    assert.deepEqual([await status('x'), await status('y')], ['failed', 'cancelled']);
    stage.ground.move('assigned/ann/x.yaml', 'done/x.yaml');
    stage.ground.write(
      'done/x.yaml',
      `${stage.ground.read('done/x.yaml')}result: {summary: so, next_agent: bob}\n`,
    );
    // Its end, its hand-off, and the task that follows it.
    assert.equal((await stage.pass()).written, 3);
    assert.equal((await stage.call('get_work', {}, 'bob')).task_id, child);
    assert.equal((await stage.pass()).written, 0);
    assert.deepEqual(await stage.differences(), []);
  });

  test(`[DIR-6] ${at}: tasks of the queue become files once, whoever takes them at the same moment`, async () => {
    await using stage = await MirrorStage.on({}, opens('taken'));
    stage.ground.settings = { ...DEFAULT_WORKDIR, take_from_queue: { docs: 'ann' } };
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await stage.submit(`Write page ${n}`));
    const [claimed] = await Promise.all([
      stage.call('get_work', {}, 'carl'),
      stage.mirror().take(),
      stage.mirror().take(),
    ]);
    await stage.pass();
    const files = stage.ground.tree().files.map(({ task: { work_id } }) => work_id);
    const taken = claimed.success === true ? [claimed.task_id] : [];
    assert.deepEqual([...files, ...taken].sort(), ids.sort());
    for (const id of ids) {
      const { status } = await stage.call('show_work', { task_id: id });
      assert.equal(status, id === claimed.task_id ? 'claimed' : 'filed');
    }
    assert.deepEqual(await stage.differences(), []);
  });
}
