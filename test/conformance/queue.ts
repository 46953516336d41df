import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { paced } from '../support/paced.ts';
import { until } from '../support/until.ts';
import type { Call } from './engine.ts';
import type { Scene } from './suite.ts';

/** Each case has a task type of its own, so that the cases share a queue without sharing tasks. */
export function typed(scene: Scene, task_type: string) {
  const call = scene.agent(`${task_type}-agent`);
  return {
    call,
    submit: async (task_description: string, more: JsonObject = {}): Promise<string> => {
      const answer = await call('submit_work', { task_type, task_description, ...more });
      assert.equal(answer.success, true, JSON.stringify(answer));
      return answer.task_id as string;
    },
    get: (by: Call = call, more: JsonObject = {}) => by('get_work', { task_types: [task_type], ...more }),
    done: (task_id: string, by: Call = call) => by('complete_work', { task_id, success: true }),
  };
}

export function queueCases(scene: Scene): void {
  const at = scene.engine;

  test(`[QUEUE-1] ${at}: get_work claims the most urgent task, then the oldest`, async () => {
    const { submit, get } = typed(scene, 'q1');
    await submit('later', { priority: 7 });
    await submit('first of five');
    await submit('second of five', { input_data: { n: 2, list: [1, null, 'x'] } });
    await submit('urgent', { priority: 1 });
    const order: JsonObject[] = [];
    for (let n = 0; n < 4; n += 1) order.push(await get());
    assert.deepEqual(
      order.map((task) => task.task_description),
      ['urgent', 'first of five', 'second of five', 'later'],
    );
    assert.equal(order[0]?.task_type, 'q1');
    assert.deepEqual(order[2]?.input_data, { n: 2, list: [1, null, 'x'] });
  });

  test(`[QUEUE-2] ${at}: nothing claimable is a refusal with its reason`, async () => {
    const { get } = typed(scene, 'q2');
    const answer = await get();
    assert.equal(answer.success, false);
    assert.equal(answer.reason, 'no_tasks_available');
  });

  test(`[QUEUE-3] ${at}: completing says how it ended, and dependents become claimable`, async () => {
    const { submit, get, done, call } = typed(scene, 'q3');
    const parent = await submit('parent');
    await submit('child', { depends_on: [parent] });
    assert.equal((await get()).task_id, parent);
    assert.equal((await get()).reason, 'no_tasks_available');
    const ended = await done(parent);
    assert.equal(ended.status, 'completed');
    const child = await get();
    assert.equal(child.task_description, 'child');
    const failed = await call('complete_work', {
      task_id: child.task_id as string,
      success: false,
      error_message: 'red',
    });
    assert.equal(failed.success, true);
    assert.equal(failed.status, 'failed');
    assert.equal((await call('show_work', { task_id: child.task_id as string })).error_message, 'red');
  });

  test(`[QUEUE-4] ${at}: submit_work answers the id under which the task is found`, async () => {
    const { submit, call } = typed(scene, 'q4');
    const task_id = await submit('look here', { input_data: [1, 2] });
    const shown = await call('show_work', { task_id });
    assert.equal(shown.task_description, 'look here');
    assert.equal(shown.status, 'pending');
    assert.deepEqual(shown.input_data, [1, 2]);
  });

  test(`[QUEUE-5] ${at}: unmet dependencies hold a task back; unknown ones and cycles are refused`, async () => {
    const { submit, get, done, call } = typed(scene, 'q5');
    const one = await submit('one');
    const two = await submit('two');
    await submit('both', { depends_on: [one, two], priority: 1 });
    assert.deepEqual([(await get()).task_id, (await get()).task_id], [one, two]);
    await done(one);
    assert.equal((await get()).reason, 'no_tasks_available', 'one of two is not enough');
    await done(two);
    assert.equal((await get()).task_description, 'both');
    const unknown = '00000000-0000-7000-8000-000000000000';
    const base = { task_type: 'q5', task_description: 'x' };
    assert.equal((await call('submit_work', { ...base, depends_on: [unknown] })).error, 'unknown_dependency');
    const cycle = await call('submit_work_batch', {
      tasks: [
        { ...base, idempotency_key: 'q5-a', depends_on: ['q5-b'] },
        { ...base, idempotency_key: 'q5-b', depends_on: ['q5-a'] },
      ],
    });
    assert.equal(cycle.error, 'dependency_cycle');
    assert.equal((await get()).reason, 'no_tasks_available', 'nothing of a refused batch was written');
  });

  test(`[QUEUE-5] ${at}: a failed parent does not hold its children back in silence`, async () => {
    const { submit, get, call, done } = typed(scene, 'q5c');
    const parent = await submit('parent');
    const child = await submit('child', { depends_on: [parent] });
    await get();
    await call('complete_work', { task_id: parent, success: false });
    await until(async () => {
      const shown = await call('show_work', { task_id: child });
      return JSON.stringify(shown.failed_dependencies) === JSON.stringify([parent]);
    });
    const late = await call('submit_work', {
      task_type: 'q5c',
      task_description: 'late',
      depends_on: [parent],
    });
    assert.equal(late.error, 'dependency_failed');
    assert.equal((await call('retry_work', { task_id: parent })).status, 'pending');
    assert.equal((await get()).task_id, parent);
    await done(parent);
    assert.equal((await get()).task_id, child, 'a retried parent that succeeds releases it');
  });

  test(`[QUEUE-6] ${at}: forty tasks, eight agents at once: each task goes to one of them, in order`, async () => {
    const { submit, get } = typed(scene, 'q6');
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await submit(`task ${n}`));
    const taken: { task_id: string; order: number }[][] = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const mine: { task_id: string; order: number }[] = [];
        for (;;) {
          const task = await get(scene.agent(`q6-${n}`));
          if (task.reason === 'no_tasks_available') return mine;
          assert.equal(task.success, true, JSON.stringify(task));
          mine.push({ task_id: task.task_id as string, order: ids.indexOf(task.task_id as string) });
        }
      }),
    );
    const all = taken.flat().map(({ task_id }) => task_id);
    assert.equal(all.length, 40);
    assert.equal(new Set(all).size, 40);
    for (const mine of taken)
      for (const [index, { order }] of mine.entries())
        assert.ok(index === 0 || order > (mine[index - 1]?.order ?? -1), 'first in, first out');
  });

  test(`[QUEUE-7] ${at}: the task of a silent agent returns, with back-off; the late one is refused`, async () => {
    const { submit, get, done, call } = typed(scene, 'q7');
    const task_id = await submit('slow', { max_attempts: 1 });
    const claimed = await get(call, { lease_minutes: 0.02 });
    assert.equal(claimed.attempt, 1);
    await until(async () => Date.now() > Date.parse(claimed.expires_at as string));
    assert.equal(
      (await done(task_id)).error,
      'lease_expired',
      'no longer its task, though nobody has taken it yet',
    );
    const state = await until(async () => {
      await get(scene.agent('q7-other'));
      const shown = await call('show_work', { task_id });
      return shown.status === 'dead' && shown;
    });
    assert.equal(state.attempt_count, 1);
    assert.match(state.error_message as string, /without an answer from q7-agent/);
    assert.equal((await done(task_id)).success, false);
    assert.equal((await call('retry_work', { task_id })).success, true);
    assert.equal((await get()).task_id, task_id, 'a person can bring a dead task back');
  });

  test(`[QUEUE-7] ${at}: a claim can be renewed, and one attempt can't end another's`, async () => {
    const { submit, get, call } = typed(scene, 'q7b');
    const task_id = await submit('renewed');
    const claimed = await get();
    const renewed = await call('renew_work', { task_id, lease_minutes: 60 });
    assert.ok(Date.parse(renewed.expires_at as string) > Date.parse(claimed.expires_at as string));
    const other = scene.agent('q7b-other');
    assert.equal((await other('complete_work', { task_id, success: true })).error, 'not_holder');
    const stale = (claimed.fencing_token as number) - 1;
    const refused = await call('complete_work', { task_id, success: true, fencing_token: stale });
    assert.equal(refused.error, 'superseded');
    assert.equal((await call('complete_work', { task_id, success: false })).status, 'failed');
    const flipped = await call('complete_work', { task_id, success: true });
    assert.equal(flipped.error, 'not_held', 'failed does not flip to completed');
  });

  test(`[QUEUE-8] ${at}: submit by key is idempotent, alone and in a batch`, async () => {
    const { submit, call } = typed(scene, 'q8');
    const id = await submit('nightly', { idempotency_key: 'q8-nightly' });
    assert.equal(await submit('nightly', { idempotency_key: 'q8-nightly' }), id);
    const at_once = await Promise.all(
      Array.from({ length: 8 }, () => submit('race', { idempotency_key: 'q8-race' })),
    );
    assert.equal(new Set(at_once).size, 1);
    const base = { task_type: 'q8-batch', task_description: 'x' };
    const batch = await call('submit_work_batch', {
      tasks: [
        { ...base, idempotency_key: 'q8-first' },
        { ...base, idempotency_key: 'q8-second', depends_on: ['q8-first'] },
        { ...base, idempotency_key: 'q8-nightly' },
      ],
    });
    const tasks = batch.tasks as { task_id: string; status: string; existing?: boolean }[];
    assert.deepEqual(
      tasks.map(({ status, existing }) => [status, existing]),
      [
        ['pending', undefined],
        ['blocked', undefined],
        ['pending', true],
      ],
    );
    assert.equal(tasks[2]?.task_id, id);
  });

  test(`[QUEUE-8] ${at}: delayed, cancelled and reprioritised tasks`, async () => {
    await paced(400, async (pace) => {
      const { submit, get, call } = typed(scene, `q8b-${pace.attempt}`);
      const not_before = new Date(Date.now() + pace.limit_ms).toISOString();
      const { delayed, cancelled } = await pace.within(async () => {
        const delayed = await submit('delayed', { not_before, priority: 1 });
        const cancelled = await submit('cancelled');
        const raised = await submit('raised', { priority: 9 });
        const plain = await submit('plain');
        assert.equal((await call('cancel_work', { task_id: cancelled, reason: 'no' })).status, 'cancelled');
        assert.equal((await call('reprioritise_work', { task_id: raised, priority: 2 })).priority, 2);
        assert.equal((await get()).task_id, raised);
        assert.equal((await get()).task_id, plain);
        return { delayed, cancelled };
      });
      const late = await pace.until(async () => {
        const task = await get();
        return task.success === true && task;
      });
      assert.equal(late.task_id, delayed);
      assert.ok(Date.now() >= Date.parse(not_before), 'not before its time');
      assert.equal((await call('cancel_work', { task_id: cancelled })).error, 'wrong_status');
    });
  });

  test(`[QUEUE-8] ${at}: a task is not handed out while another agent has one of its files locked`, async () => {
    const { submit, get, call } = typed(scene, 'q8c');
    const other = scene.agent('q8c-other');
    await other('acquire_lock', { file_path: 'q8c/held.ts' });
    await call('acquire_lock', { file_path: 'q8c/mine.ts' });
    const held = await submit('held', { files: ['q8c/held.ts'], priority: 1 });
    const mine = await submit('mine', { files: ['./q8c/mine.ts'] });
    assert.equal((await get()).task_id, mine, 'my own lock is no obstacle');
    assert.equal((await get()).reason, 'no_tasks_available');
    assert.equal((await get(other)).task_id, held, 'its holder gets it');
  });

  test(`[QUEUE-1] [QUEUE-8] ${at}: however many wait for files that are locked, what stands behind them is found`, async () => {
    const { get, call } = typed(scene, 'q8far');
    const other = scene.agent('q8far-other');
    await other('acquire_lock', { file_path: 'q8far/' });
    const base = { task_type: 'q8far', task_description: 'x' };
    const held = Array.from({ length: limits.candidates_per_take + 8 }, (_, n) => ({
      ...base,
      files: [`q8far/${n}.ts`],
    }));
    await call('submit_work_batch', { tasks: held });
    assert.equal((await get()).reason, 'no_tasks_available');
    const { tasks } = await call('submit_work_batch', {
      tasks: [
        { ...base, files: ['q8far-free.ts'] },
        { ...base, priority: 9 },
      ],
    });
    for (const { task_id } of tasks as JsonObject[]) assert.equal((await get()).task_id, task_id);
    assert.equal((await get()).reason, 'no_tasks_available');
    await other('release_lock', { file_path: 'q8far/' });
    assert.equal((await get()).success, true);
  });

  test(`[QUEUE-8] ${at}: batches of fifty are claimed and completed together`, async () => {
    const { call } = typed(scene, 'q8d');
    const tasks = Array.from({ length: 50 }, (_, n) => ({ task_type: 'q8d', task_description: `task ${n}` }));
    assert.equal((await call('submit_work_batch', { tasks })).success, true);
    const claimed = (await call('get_work_batch', { task_types: ['q8d'], count: 50 })).tasks as JsonObject[];
    assert.deepEqual(
      claimed.map((task) => task.task_description),
      tasks.map((task) => task.task_description),
    );
    const items = claimed.map((task) => ({ task_id: task.task_id as string, success: true }));
    const ended = await call('complete_work_batch', { items });
    assert.equal(ended.completed, 50);
    const again = await call('complete_work_batch', { items: items.slice(0, 2) });
    assert.equal(again.success, false);
    assert.equal((again.results as JsonObject[])[0]?.error, 'not_held');
  });

  test(`[QUEUE-8] [STORE-1] ${at}: of tasks too large for one answer a batch is as many as fit, in order`, async () => {
    const { submit, call } = typed(scene, 'q8e');
    const input_data = { text: 'x'.repeat(150_000) };
    const ids: unknown[] = [];
    for (const name of ['one', 'two', 'three']) ids.push(await submit(name, { input_data }));
    const claimed: unknown[] = [];
    while (claimed.length < ids.length) {
      const { success, tasks } = await call('get_work_batch', { task_types: ['q8e'], count: 3 });
      assert.equal(success, true);
      claimed.push(...(tasks as JsonObject[]).map((task) => task.task_id));
    }
    assert.deepEqual(claimed, ids);
  });
}
