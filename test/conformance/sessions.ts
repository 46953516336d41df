import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Coxswain } from '../../src/index.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { until } from '../support/until.ts';
import { agent } from './engine.ts';
import type { Scene } from './suite.ts';

const agentsOf = (answer: JsonObject) => (answer.agents as JsonObject[]).map(({ agent_id }) => agent_id);

export function sessionCases(scene: Scene): void {
  const { engine } = scene;
  /** Every call is a sign of life, and a second of silence is death. */
  const quick = { touch_ms: 0, idle_ms: 60_000, stale_ms: 1000 * scene.patience };
  const STALE = { stale_threshold_minutes: quick.stale_ms / 60_000 };
  let coxswain: Coxswain;
  before(async () => {
    coxswain = await scene.fixture().open({ presence: quick });
  });
  const as = (name: string, session?: string) => agent(coxswain, name, session);
  /** Long enough for whoever is quiet now to be taken for dead, while these go on living. */
  const silenceFor = async (duration_ms: number, ...living: ReturnType<typeof as>[]) => {
    const end_ms = performance.now() + duration_ms;
    await until(async () => {
      for (const alive of living) await alive('heartbeat');
      return performance.now() >= end_ms;
    });
  };
  /**
   * All that clean-ups free until that many locks are free. A store whose time is only known within bounds sees a silence a
   * little late; and on a busy machine whoever cleans up may itself be late.
   */
  const cleaned = async (living: ReturnType<typeof as>, locks: number) => {
    const total = { agents_cleaned: 0, locks_released: 0, tasks_returned: 0 };
    await until(async () => {
      const answer = await living('cleanup_dead_agents', STALE);
      for (const name of ['agents_cleaned', 'locks_released', 'tasks_returned'] as const)
        if (answer.success === true) total[name] += answer[name] as number;
      return total.locks_released >= locks;
    });
    assert.equal(total.locks_released, locks);
    return total;
  };
  const silence = (...living: ReturnType<typeof as>[]) => silenceFor(quick.stale_ms + 200, ...living);

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

  test(`[SESS-4] ${engine}: clean-up frees the locks and tasks of the silent, and of nobody else`, async () => {
    const [dead, alive] = [as('dead'), as('alive')];
    await dead('acquire_lock', { file_paths: ['one.ts', 'two/', 'three/*.ts'] });
    await dead('acquire_lock', { file_path: 'read.ts', shared: true });
    await alive('acquire_lock', { file_path: 'read.ts', shared: true });
    await alive('acquire_lock', { file_path: 'mine.ts' });
    const { task_id } = await alive('submit_work', { task_type: 'reap', task_description: 'x' });
    assert.equal((await dead('get_work', { task_types: ['reap'] })).task_id, task_id);
    await silence(alive);
    const freed = await cleaned(alive, 4);
    assert.ok(freed.agents_cleaned >= 1);
    assert.equal(freed.tasks_returned, 1);
    const { locks } = await alive('check_locks');
    assert.deepEqual(
      (locks as JsonObject[]).map((lock) => `${lock.locked_by} ${lock.file_path}`),
      ['alive mine.ts', 'alive read.ts'],
    );
    const gone = await alive('discover_agents', { status: 'disconnected' });
    assert.ok(agentsOf(gone).includes('dead') && !agentsOf(gone).includes('alive'));
    assert.ok(!agentsOf(await alive('discover_agents')).includes('dead'));
    const shown = await alive('show_work', { task_id });
    assert.deepEqual([shown.status, shown.attempt_count, shown.claimed_by], ['delayed', 1, undefined]);
    const late = await dead('complete_work', { task_id, success: true });
    assert.equal(late.success, false, 'a task one no longer holds is not completed');
    // It is back with that call, and starts from nothing.
    assert.ok(agentsOf(await alive('discover_agents')).includes('dead'));
    assert.equal((await dead('acquire_lock', { file_path: 'one.ts' })).action, 'acquired');
    await dead('end_session');
    await alive('end_session');
  });

  test(`[SESS-4] ${engine}: one session of an agent dies, the other keeps what it has`, async () => {
    const [old, young] = [as('twin', 'old'), as('twin', 'young')];
    await old('acquire_lock', { file_path: 'old.ts' });
    await young('acquire_lock', { file_path: 'young.ts' });
    await silence(young);
    await cleaned(young, 1);
    const { locks } = await young('check_locks', { file_paths: ['old.ts', 'young.ts'] });
    assert.deepEqual(
      (locks as JsonObject[]).map((lock) => lock.file_path),
      ['young.ts'],
    );
    await young('end_session');
  });

  test(`[SESS-4] ${engine}: who is turned away frees what the dead held by itself`, async () => {
    const [dead, alive] = [as('late'), as('keen')];
    await dead('acquire_lock', { file_path: 'wanted.ts' });
    assert.equal((await alive('acquire_lock', { file_path: 'wanted.ts' })).action, 'blocked');
    await silence(alive);
    await until(async () => (await alive('acquire_lock', { file_path: 'wanted.ts' })).success === true);
    await alive('end_session');
  });

  test(`[SESS-4] ${engine}: what an agent is told it has when it comes back, it keeps`, async () => {
    const names = Array.from({ length: 12 }, (_, index) => `back-${index}`);
    const returning = names.map((name) => as(name));
    for (const [index, back] of returning.entries())
      await back('acquire_lock', { file_path: `${names[index]}.ts` });
    // Who is back and then silent once more for as long dies a second time: all of it must be over before that.
    const stale_ms = 3000 * scene.patience;
    await silenceFor(stale_ms + 200);
    const cleaners = [as('cleaner-1'), as('cleaner-2')];
    const dead = { stale_threshold_minutes: stale_ms / 60_000 };
    const cleaning = cleaners.map((cleaner) => cleaner('cleanup_dead_agents', dead));
    const answers: JsonObject[] = [];
    // One after the other, so that some come before, some amid and some after their session is ended.
    for (const [index, back] of returning.entries())
      answers.push(await back('acquire_lock', { file_path: `${names[index]}.ts` }));
    await Promise.all(cleaning);
    const { locks } = await as('cleaner-1')('check_locks', { file_paths: names.map((name) => `${name}.ts`) });
    const held = new Map((locks as JsonObject[]).map((lock) => [lock.locked_by, lock.fencing_token]));
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.success, true);
      assert.equal(held.get(names[index] ?? ''), answer.fencing_token, JSON.stringify(answer));
    }
  });

  test(`[SESS-4] ${engine}: a clean-up that was killed in between is gone on with`, async () => {
    const [dead, alive] = [as('half'), as('whole')];
    await dead('acquire_lock', { file_path: 'half.ts' });
    // As far as a process got that ended the session and was killed then.
    const { endSession } = await import('../../src/domain/commands.ts');
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
