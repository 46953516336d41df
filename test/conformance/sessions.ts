import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { until } from '../support/until.ts';
import { patientAgent } from './engine.ts';
import { silentCases } from './silent.ts';
import type { Scene } from './suite.ts';

/** Every call is a sign of life. */
const EVERY_CALL = { touch_ms: 0, idle_ms: 60_000, stale_ms: 60_000 };

const agentsOf = (answer: JsonObject) => (answer.agents as JsonObject[]).map(({ agent_id }) => agent_id);

export function sessionCases(scene: Scene): void {
  const { engine } = scene;
  let coxswain: Coxswain;
  before(async () => {
    coxswain = await scene.fixture().open({ presence: EVERY_CALL });
  });
  const as = (name: string, session?: string) => patientAgent(coxswain, name, session);
  silentCases(scene);

  test(`[SESS-1] [SESS-2] ${engine}: who registers is found by what it can do`, async () => {
    const ada = as('ada');
    const registered = await ada('register_session', {
      capabilities: ['typescript', 'review', 'review'],
      current_task: 'the router',
    });
    assert.deepEqual(
      [registered.success, registered.session_id, registered.status],
      [true, 'session-ada', 'active'],
    );
    const found = await as('bea')('discover_agents', { capability: 'review' });
    const [entry] = found.agents as JsonObject[];
    assert.deepEqual(
      [entry?.agent_id, entry?.agent_type, entry?.status, entry?.current_task, entry?.capabilities],
      ['ada', 'test', 'active', 'the router', ['typescript', 'review']],
    );
    assert.ok(Date.parse(entry?.last_heartbeat as string) > 0);
    const { agents } = await as('bea')('discover_agents', { capability: 'rev' });
    assert.deepEqual(agents, [], 'a part of the word is another word');
    assert.deepEqual((await as('bea')('discover_agents', { status: 'idle' })).agents, []);
    // Again: what is left out stays.
    await ada('register_session', { capabilities: ['rust'] });
    const rust = await as('bea')('discover_agents', { capability: 'rust' });
    assert.deepEqual((rust.agents as JsonObject[])[0]?.current_task, 'the router');
    assert.deepEqual((await as('bea')('discover_agents', { capability: 'review' })).agents, []);
  });

  test(`[SESS-3] ${engine}: a heartbeat answers with the session`, async () => {
    const answer = await as('cid', 'session-c')('heartbeat');
    assert.deepEqual([answer.success, answer.session_id], [true, 'session-c']);
  });

  test(`[SESS-6] ${engine}: the first operation of an unknown agent creates its session`, async () => {
    await as('dot')('check_locks');
    assert.ok(agentsOf(await as('bea')('discover_agents')).includes('dot'));
  });

  test(`[SESS-4] ${engine}: a clean-up that was killed in between is gone on with`, async () => {
    const [dead, alive] = [as('half'), as('whole')];
    await dead('acquire_lock', { file_path: 'half.ts' });
    // As far as a process got that ended the session and was killed then.
    const { endSession } = await import('../../src/features/sessions/commands.ts');
    const name = { agent_id: 'half', session_id: 'session-half' };
    const request = {
      project: coxswain.project,
      actor: { agent_id: 'killed', agent_type: 'test', session_id: 'killed' },
      sequence: 1,
      operation: 'end_session',
      parameters: {},
      operation_id: 'killed-in-between',
      input_digest: '',
      started_ms: coxswain.clock.elapsed_ms(),
    };
    await coxswain.store.run(request, endSession(name, { end_reason: 'silent' }));
    const cleaned = await alive('cleanup_dead_agents', { stale_threshold_minutes: 60 });
    assert.deepEqual([cleaned.agents_cleaned, cleaned.locks_released], [0, 1]);
  });

  test(`[SESS-4] ${engine}: a threshold that would kill the living is refused`, async () => {
    const { presence } = scene.coxswain();
    const answer = await scene.agent('hasty')('cleanup_dead_agents', { stale_threshold_minutes: 0.5 });
    assert.deepEqual([answer.error, answer.field], ['invalid_input', 'stale_threshold_minutes']);
    assert.ok(presence.touch_ms > 30_000 / 2);
  });

  test(`[SESS-1] ${engine}: ending a session gives back all it had, and it may begin again`, async () => {
    const eve = as('eve');
    await eve('acquire_lock', { file_path: 'eve.ts' });
    await eve('submit_work', { task_type: 'eves', task_description: 'x' });
    await eve('get_work', { task_types: ['eves'] });
    const ended = await eve('end_session');
    assert.deepEqual([ended.success, ended.locks_released, ended.tasks_returned], [true, 1, 1]);
    assert.deepEqual(await eve('end_session'), { ...ended, locks_released: 0, tasks_returned: 0 });
    assert.equal((await as('bea')('acquire_lock', { file_path: 'eve.ts' })).success, true);
    await eve('heartbeat');
    assert.ok(agentsOf(await as('bea')('discover_agents')).includes('eve'));
  });

  test(`[HAND-1] [HAND-2] [HAND-3] ${engine}: hand-offs come newest first, and a new session finds the last`, async () => {
    const [fay, gus] = [as('fay'), as('gus')];
    assert.deepEqual((await fay('read_handoff', { agent_name: 'fay' })).handoffs, []);
    const first = await fay('write_handoff', { summary: 'half done', next_steps: ['the rest'] });
    // Newer by at least a millisecond, or the order of the two would be chance.
    const written_ms = Date.now();
    await until(async () => Date.now() > written_ms + 1);
    const second = await gus('write_handoff', {
      summary: 'all done',
      completed_work: ['a'],
      in_progress: ['b'],
      decisions: ['c'],
      relevant_files: ['d.ts'],
    });
    const { handoffs } = await fay('read_handoff', { limit: 2 });
    assert.deepEqual(
      (handoffs as JsonObject[]).map(({ handoff_id }) => handoff_id),
      [second.handoff_id, first.handoff_id],
    );
    const [newest] = handoffs as JsonObject[];
    assert.deepEqual(
      [newest?.agent_name, newest?.session_id, newest?.summary, newest?.completed_work, newest?.decisions],
      ['gus', 'session-gus', 'all done', ['a'], ['c']],
    );
    const own = await fay('read_handoff', { agent_name: 'fay', limit: 50 });
    assert.deepEqual(
      (own.handoffs as JsonObject[]).map(({ handoff_id }) => handoff_id),
      [first.handoff_id],
    );
    const again = await as('fay', 'next-day')('register_session');
    assert.equal((again.handoff as JsonObject).handoff_id, first.handoff_id);
    const stranger = await as('hal')('register_session');
    assert.equal((stranger.handoff as JsonObject).handoff_id, second.handoff_id);
  });
}
