import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { compareWithLive, replay } from '../../src/ledger/replay.ts';
import { entities } from '../../src/runtime/entities.ts';
import { typed } from './queue.ts';
import type { Scene } from './suite.ts';

const POLICIES = ['block', 'skip', 'run'] as const;

/** What a parent's failure makes of those who wait for it. */
export function dependencyCases(scene: Scene): void {
  const at = scene.engine;

  test(`[QUEUE-9] ${at}: dependents block, skip or run when a dependency fails, each by its own policy`, async () => {
    const { submit, get, call } = typed(scene, 'q9');
    const parent = await submit('parent');
    const ids: Record<string, string> = {};
    for (const policy of POLICIES)
      ids[policy] = await submit(policy, { depends_on: [parent], on_dependency_failure: policy });
    const after = await submit('after', { depends_on: [ids.skip ?? ''], on_dependency_failure: 'run' });
    assert.equal((await get()).task_id, parent);
    await call('complete_work', { task_id: parent, success: false });

    const runs = await get();
    assert.equal(runs.task_id, ids.run);
    assert.deepEqual(runs.failed_dependencies, [parent], 'the agent knows what is missing');
    const next = await get();
    assert.equal(next.task_id, after, 'a skip is passed on');
    assert.deepEqual(next.failed_dependencies, [ids.skip]);
    assert.equal((await get()).reason, 'no_tasks_available');

    const show = async (task_id?: string) => await call('show_work', { task_id });
    const skipped = await show(ids.skip);
    assert.deepEqual([skipped.status, skipped.on_dependency_failure], ['skipped', 'skip']);
    assert.equal(skipped.error_message, `Task ${parent}, which it depends on, ended as failed.`);
    assert.deepEqual((await show(ids.block)).failed_dependencies, [parent]);
    assert.equal((await show(ids.block)).on_dependency_failure, 'block');

    await call('retry_work', { task_id: parent });
    assert.equal((await get()).task_id, parent);
    await call('complete_work', { task_id: parent, success: true });
    const back = [await get(), await get()];
    assert.deepEqual(
      back.map(({ task_id, failed_dependencies }) => [task_id, failed_dependencies]),
      [
        [ids.block, undefined],
        [ids.skip, undefined],
      ],
    );
    assert.equal((await get()).reason, 'no_tasks_available', 'what ran does not run again');
  });

  test(`[QUEUE-9] ${at}: submitted after the failure, block is refused, skip is skipped, run is ready`, async () => {
    const { submit, get, call } = typed(scene, 'q9b');
    const parent = await submit('parent');
    await call('cancel_work', { task_id: parent });
    const late = { task_type: 'q9b', task_description: 'late', depends_on: [parent] };
    assert.equal((await call('submit_work', late)).error, 'dependency_failed');
    const run = await call('submit_work', { ...late, on_dependency_failure: 'run' });
    assert.equal(run.status, 'pending');
    const claimed = await get();
    assert.deepEqual([claimed.task_id, claimed.failed_dependencies], [run.task_id, [parent]]);
    const batch = await call('submit_work_batch', {
      tasks: [
        { ...late, idempotency_key: 'q9b-first', on_dependency_failure: 'skip' },
        { ...late, depends_on: ['q9b-first'], on_dependency_failure: 'skip' },
      ],
    });
    const [first, second] = batch.tasks as JsonObject[];
    assert.equal(first?.status, 'skipped');
    const shown = await call('show_work', { task_id: second?.task_id });
    assert.equal(shown.status, 'skipped', 'and told to the rest of the batch at once');
    assert.equal((await call('retry_work', { task_id: second?.task_id })).status, 'pending');
    assert.equal((await get()).task_id, second?.task_id, 'a person can have it run all the same');
  });

  test(`[QUEUE-9] ${at}: a fan-out of several rounds tells every dependent once, while others ask for work`, async () => {
    const { submit, get, call } = typed(scene, 'q9c');
    const parent = await submit('parent');
    const ids: string[] = [];
    for (let batch = 0; batch < 6; batch += 1) {
      const tasks = Array.from({ length: 50 }, (_, n) => ({
        task_type: 'q9c',
        task_description: `${batch}-${n}`,
        depends_on: [parent],
        on_dependency_failure: POLICIES[n % 3],
      }));
      const answer = await call('submit_work_batch', { tasks });
      ids.push(...(answer.tasks as { task_id: string }[]).map(({ task_id }) => task_id));
    }
    await get();
    await call('complete_work', { task_id: parent, success: false });
    const taken = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const mine: string[] = [];
        for (;;) {
          const task = await get(scene.agent(`q9c-${n}`));
          if (task.success !== true) return mine;
          mine.push(task.task_id as string);
        }
      }),
    );
    assert.deepEqual(taken.flat().sort(), ids.filter((_, n) => (n % 50) % 3 === 2).sort());
    const told = new Map<string, number>();
    const { store, project } = scene.coxswain();
    for (let position = 0; ; ) {
      const { entries } = await store.read(project, position, 1000);
      if (entries.length === 0) break;
      position = entries.at(-1)?.position ?? position;
      for (const { id, type } of entries.flatMap(({ events }) => events))
        if (type === 'dependency_failed' || type === 'task_skipped') told.set(id, (told.get(id) ?? 0) + 1);
    }
    for (const id of ids) assert.equal(told.get(id), 1);
    assert.deepEqual(
      await compareWithLive(store, entities, project, await replay(store, entities, project)),
      [],
    );
  });
}
