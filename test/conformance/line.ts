import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import { paced } from '../support/paced.ts';
import { until } from '../support/until.ts';
import type { Scene } from './suite.ts';

/** Waiting in line for work. */
export function lineCases(scene: Scene): void {
  const at = scene.engine;
  const submit = async (task_type: string, more: JsonObject = {}) => {
    const input = { task_type, task_description: `for whoever waits (${task_type})`, ...more };
    return (await scene.agent('boss')('submit_work', input)).task_id as string;
  };
  /** Those who wait for a type, first come first. */
  const line = async (type: string): Promise<string[]> => {
    const { loaded } = await scene
      .coxswain()
      .store.find('default', { keys: [{ kind: 'work_line', id: 'all' }] });
    const state = loaded.get<{ waiters: { agent_id: string; task_types?: string[] }[] }>({
      kind: 'work_line',
      id: 'all',
    })?.state;
    const waiters = state?.waiters ?? [];
    return waiters.filter(({ task_types }) => task_types?.includes(type)).map(({ agent_id }) => agent_id);
  };
  /** Every agent that ever stood in it, by the log. */
  const joined = async () => {
    const names: unknown[] = [];
    for (let position = 0; ; ) {
      const { entries } = await scene.coxswain().store.read('default', position, 1000);
      for (const { type, data } of entries.flatMap(({ events }) => events))
        if (type === 'line_joined') names.push((data.waiter as JsonObject).agent_id);
      const last = entries.at(-1);
      if (last === undefined) return names;
      position = last.position;
    }
  };
  const wait = async (agent_id: string, task_type: string) => {
    const wait_seconds = 120;
    const answer = scene.agent(agent_id)('get_work', { task_types: [task_type], wait_seconds });
    await until(async () => (await line(task_type)).includes(agent_id));
    return { answer };
  };

  test(`[LOCK-11] ${at}: who waits for work gets it in the order in which they came, and nobody overtakes`, async () => {
    const names = ['first', 'second', 'third'];
    // Who waits says so in time, or falls out of the line; a machine that is too slow for that shows nothing.
    await paced(limits.waiter_alive_ms, async (pace) => {
      const type = `ordered-${pace.attempt}`;
      const waiting: Promise<JsonObject>[] = [];
      const beat = pace.beating();
      for (const name of names) waiting.push((await beat(() => wait(name, type))).answer);
      assert.deepEqual(await beat(() => line(type)), names);
      for (const [index, answer] of waiting.entries()) {
        const task_id = await beat(() => submit(type));
        // A newcomer finds it ready, and is told that others have waited longer.
        const newcomer = await beat(() => scene.agent('newcomer')('get_work', { task_types: [type] }));
        assert.equal(newcomer.reason, 'no_tasks_available', JSON.stringify(newcomer));
        assert.equal((await beat(() => answer)).task_id, task_id, `${names[index]} is next`);
      }
      assert.deepEqual(await line(type), []);
    });
  });

  test(`[LOCK-11] ${at}: what is left over for those ahead can be had at once`, async () => {
    const { answer } = await wait('patient', 'plenty');
    await scene.agent('boss')('submit_work_batch', {
      tasks: [1, 2, 3].map((priority) => ({
        task_type: 'plenty',
        task_description: `${priority}`,
        priority,
      })),
    });
    const newcomer = await scene.agent('quick')('get_work', { task_types: ['plenty'] });
    assert.equal((await answer).task_description, '1', 'the most urgent one is for who has waited');
    assert.equal(newcomer.success, true, JSON.stringify(newcomer));
    assert.notEqual(newcomer.task_description, '1');
    // Other types are none of their business.
    await submit('elsewhere');
    const { answer: other } = await wait('patient', 'plenty-again');
    assert.equal((await scene.agent('quick')('get_work', { task_types: ['elsewhere'] })).success, true);
    assert.deepEqual(await line('plenty-again'), ['patient']);
    const task_id = await submit('plenty-again');
    assert.equal((await other).task_id, task_id);
  });

  test(`[LOCK-11] ${at}: the wait ends with its time, says how long it was, and leaves no trace in the line`, async () => {
    const refused = await scene.agent('short')('get_work', { task_types: ['never'], wait_seconds: 0.5 });
    assert.equal(refused.reason, 'no_tasks_available');
    assert.ok(Number(refused.waited_seconds) >= 0.4, JSON.stringify(refused));
    assert.deepEqual(await line('never'), []);
    await until(async () => (await joined()).includes('short'));
  });

  test(`[LOCK-11] ${at}: what becomes ready by time, or because its parent is done, reaches who waits`, async () => {
    const { answer: delayed } = await wait('early', 'delayed');
    const not_before = new Date(Date.now() + 300).toISOString();
    const task_id = await submit('delayed', { not_before });
    const got = await delayed;
    assert.equal(got.task_id, task_id, JSON.stringify(got));
    const parent = await submit('parent');
    const child = await submit('child', { depends_on: [parent] });
    const { answer } = await wait('heir', 'child');
    const worker = scene.agent('worker');
    assert.equal((await worker('get_work', { task_types: ['parent'] })).task_id, parent);
    await worker('complete_work', { task_id: parent, success: true });
    assert.equal((await answer).task_id, child);
  });

  test(`[LOCK-11] ${at}: who died in line delays nobody for longer than it counts as alive`, async () => {
    const { store, clock } = scene.coxswain();
    /** One that joined and says nothing more. */
    const haunt = (task_type: string, alive_ms: number) => {
      const waiter = {
        id: `ghost of ${task_type}`,
        agent_id: 'ghost',
        task_types: [task_type],
        alive_until_ms: clock.now_ms() + alive_ms,
      };
      const request = {
        project: 'default',
        actor: { agent_id: 'ghost', agent_type: 'test', session_id: 'ghost' },
        sequence: 1,
        operation: 'get_work',
        parameters: {},
        operation_id: waiter.id,
        input_digest: '',
        started_ms: clock.elapsed_ms(),
      };
      return store.run(request, {
        needs: { keys: [{ kind: 'work_line', id: 'all' }] },
        decide: () => ({
          verdict: 'commit',
          events: [{ kind: 'work_line', id: 'all', type: 'line_joined', data: { waiter } }],
          answer: { success: true },
        }),
      });
    };
    // A caller that does not wait clears no waiter away, and need not.
    await haunt('passed', 300);
    const left = await submit('passed');
    const plain = await until(async () => {
      const answer = await scene.agent('living')('get_work', { task_types: ['passed'] });
      return answer.success === true && answer;
    });
    assert.equal(plain.task_id, left);
    await paced(400, async (pace) => {
      const wanted = { task_types: [`haunted-${pace.attempt}`] };
      const { task_id, early } = await pace.within(async () => {
        await haunt(`haunted-${pace.attempt}`, pace.limit_ms);
        const task_id = await submit(`haunted-${pace.attempt}`);
        return { task_id, early: await scene.agent('living')('get_work', wanted) };
      });
      assert.equal(early.reason, 'no_tasks_available', 'a newcomer is behind whoever counts as alive');
      const started_ms = performance.now();
      // It has to wait for as long as the limit: if it was too late, then with a longer one it is not, or never.
      const got = await pace.within(() =>
        scene.agent('living')('get_work', { ...wanted, wait_seconds: 120 }),
      );
      assert.equal(got.task_id, task_id, JSON.stringify(got));
      assert.ok(performance.now() - started_ms < pace.limit_ms + limits.waiter_alive_ms);
    });
  });
}
