import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { lookAround } from '../../src/features/overview/take-overview.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { until } from '../support/until.ts';
import { patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

const rows = (value: unknown) => value as JsonObject[];

/** The screen that people see first, on a store of its own: what it reads are ranges that each engine keeps by itself. */
export function overviewCases(scene: Scene): void {
  const { engine } = scene;
  let coxswain: Coxswain;
  before(async () => {
    coxswain = await scene.fixture().open({ project: 'overview', presence: { touch_ms: 0 } });
  });
  const as = (name: string) => patientAgent(coxswain, name);
  const submit = async (task_type: string, more: JsonObject = {}) => {
    const answer = await as('sue')('submit_work', {
      task_type,
      task_description: `do ${task_type}`,
      ...more,
    });
    return String(answer.task_id);
  };

  test(`[CLI-1] ${engine}: an empty store has nothing to show and nothing that needs anybody`, async () => {
    const { seen } = await lookAround(coxswain);
    assert.deepEqual(
      [seen.agents, seen.locks, seen.needs_you, seen.pending, seen.next, seen.handoff, seen.unread_messages],
      [[], [], [], 0, null, null, 0],
    );
  });

  test(`[CLI-1] ${engine}: who does what, what waits, and which pending task has waited longest`, async () => {
    const oldest = await submit('slow', { priority: 9 });
    const urgent = await submit('quick', { priority: 1 });
    await submit('later', { not_before: new Date(Date.now() + 3_600_000).toISOString() });
    const parent = await submit('first', { priority: 2 });
    await submit('second', { depends_on: [parent] });
    await as('ada')('register_session', { current_task: 'the router' });
    await as('ada')('acquire_lock', { file_path: 'src/a.ts', reason: 'move it' });
    await as('ada')('get_work', { task_types: ['first'] });
    await as('ada')('write_handoff', { summary: 'half of it' });
    await as('ada')('send_message', { to: ['bob'], body: 'soon' });
    const { seen } = await lookAround(coxswain);
    const counts = [seen.pending, seen.claimed, seen.delayed, seen.blocked, seen.dead];
    assert.deepEqual(counts, [2, 1, 1, 1, 0]);
    assert.equal((seen.next as JsonObject).task_id, urgent);
    assert.equal((seen.oldest_pending as JsonObject).task_id, oldest);
    const ada = rows(seen.agents).find(({ agent_id }) => agent_id === 'ada');
    assert.deepEqual(
      [ada?.status, ada?.current_task, ada?.locks, ada?.tasks],
      ['active', 'the router', 1, 1],
    );
    assert.equal((seen.handoff as JsonObject).summary, 'half of it');
    assert.deepEqual([seen.unread_messages, (seen.newest_message as JsonObject).to], [1, 'bob']);
    assert.deepEqual(seen.needs_you, []);
  });

  test(`[CLI-1] ${engine}: what only a person can set going again, with the command that does`, async () => {
    const dead = await submit('deadly', { max_attempts: 1 });
    const held = await submit('after-it', { depends_on: [dead] });
    await as('dan')('get_work', { task_types: ['deadly'] });
    await as('dan')('end_session');
    const failed = await submit('risky');
    await submit('after-risky', { depends_on: [failed] });
    const claim = await as('eve')('get_work', { task_types: ['risky'] });
    await as('eve')('complete_work', { task_id: claim.task_id, success: false, error_message: 'no' });
    // A caller that asks for work passes on what has ended.
    await as('eve')('get_work', { task_types: ['none'] });
    const { seen } = await lookAround(coxswain);
    const things = rows(seen.needs_you).map(({ what, command, holds_back }) => [what, command, holds_back]);
    assert.deepEqual(things, [
      ['dead_letter', `cox work retry ${dead}`, 1],
      ['failed_dependency', `cox work retry ${failed}`, 1],
    ]);
    assert.equal(seen.dead, 1);
    for (const task_id of [dead, failed]) await as('eve')('retry_work', { task_id });
    assert.deepEqual((await lookAround(coxswain)).seen.needs_you, []);
    assert.equal((await as('eve')('show_work', { task_id: held })).status, 'blocked');
  });

  test(`[CLI-1] ${engine}: a silent holder is named; looking leaves no row in the log`, async () => {
    await as('ada')('acquire_lock', { file_path: 'src/b.ts' });
    const length = async () => (await coxswain.store.read('overview', Number.MAX_SAFE_INTEGER, 1)).safe;
    // Rows of the reads before may still be on their way: three looks in a row without a new one.
    const seen = await until(async () => {
      const before = await length();
      let looked: JsonObject = {};
      for (let look = 0; look < 3; look += 1) {
        looked = (await lookAround({ ...coxswain, presence: { idle_ms: 0, stale_ms: 0 } })).seen;
        await scene.coxswain().clock.sleep(200);
        if ((await length()) !== before) return false;
      }
      return looked;
    });
    const silent = rows(seen.needs_you).find(({ agent_id }) => agent_id === 'ada');
    assert.deepEqual([silent?.what, silent?.command], ['silent_holder', 'cox session cleanup']);
  });
}
