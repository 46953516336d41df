import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { Coxswain } from '../../src/runtime/coxswain.ts';
import { type Pace, paced } from '../support/paced.ts';
import { type Call, patientAgent } from './engine.ts';
import type { Scene } from './suite.ts';

/** So long a silence is death, at first; where the living are slower than that, longer. */
const FIRST_MS = 400;
/** Twelve that come back, one after the other, take longer. */
const FIRST_MS_OF_MANY = 1000;

const agentsOf = (answer: JsonObject) => (answer.agents as JsonObject[]).map(({ agent_id }) => agent_id);

interface Freed {
  readonly locks: number;
  readonly tasks: number;
}

/** Some who are silent and some who are not, in a project of their own. */
class Crew {
  readonly #coxswain: Coxswain;
  readonly #pace: Pace;

  constructor(coxswain: Coxswain, pace: Pace) {
    this.#coxswain = coxswain;
    this.#pace = pace;
  }

  member(name: string, session?: string): Call {
    return patientAgent(this.#coxswain, name, session);
  }

  /** One whose silence would be its death, and whose calls come in time. */
  living(name: string, session?: string): Call {
    const [call, beat] = [this.member(name, session), this.#pace.beating()];
    return (operation, input) => beat(() => call(operation, input));
  }

  get stale() {
    return { stale_threshold_minutes: this.#pace.limit_ms / 60_000 };
  }

  /** Long enough for a session that is quiet now to be taken for dead, while this one goes on living. */
  async silence(alive?: Call): Promise<void> {
    const end_ms = performance.now() + this.#pace.limit_ms * 1.1;
    await this.#pace.until(async () => {
      await alive?.('heartbeat');
      return performance.now() >= end_ms;
    });
  }

  /**
   * Cleans up until this is freed, and no more. By the log, for a clean-up that the store failed half-way has freed something
   * and answers nothing.
   */
  async cleaned(cleaner: Call, expected: Freed): Promise<void> {
    const answered = { agents_cleaned: 0, locks_released: 0, tasks_returned: 0 };
    let unanswered = 0;
    const freed = await this.#pace.until(async () => {
      const answer = await cleaner('cleanup_dead_agents', this.stale);
      if (answer.success !== true) unanswered += 1;
      else
        for (const name of ['agents_cleaned', 'locks_released', 'tasks_returned'] as const)
          answered[name] += answer[name] as number;
      const found = await this.#freed();
      return found.locks >= expected.locks && found.tasks >= expected.tasks && found;
    });
    assert.deepEqual(freed, expected);
    if (unanswered > 0) return;
    assert.deepEqual([answered.locks_released, answered.tasks_returned], [freed.locks, freed.tasks]);
    assert.ok(answered.agents_cleaned >= 1);
  }

  async #freed(): Promise<Freed> {
    const { store, project } = this.#coxswain;
    let [locks, tasks] = [0, 0];
    for (let position = 0; ; ) {
      const { entries } = await store.read(project, position, 1000);
      for (const { operation, events } of entries)
        for (const { type } of operation === 'free_session' ? events : []) {
          if (type === 'lock_released') locks += 1;
          if (type === 'task_lease_expired') tasks += 1;
        }
      const last = entries.at(-1);
      if (last === undefined) return { locks, tasks };
      position = last.position;
    }
  }
}

/** What becomes of what the silent held. */
export function silentCases(scene: Scene): void {
  const { engine } = scene;
  const inTime = (name: string, attempt: (crew: Crew, pace: Pace) => Promise<void>, first_ms = FIRST_MS) =>
    paced(first_ms, async (pace) => {
      const presence = { touch_ms: 0, idle_ms: 60_000, stale_ms: pace.limit_ms };
      const project = `${name}-${pace.attempt}`;
      await attempt(new Crew(await scene.fixture().open({ project, presence }), pace), pace);
    });

  test(`[SESS-4] ${engine}: clean-up frees the locks and tasks of the silent, and of nobody else`, async () => {
    await inTime('silent', async (crew) => {
      const [dead, alive] = [crew.member('dead'), crew.living('alive')];
      await dead('acquire_lock', { file_paths: ['one.ts', 'two/', 'three/*.ts'] });
      await dead('acquire_lock', { file_path: 'read.ts', shared: true });
      await alive('acquire_lock', { file_path: 'read.ts', shared: true });
      await alive('acquire_lock', { file_path: 'mine.ts' });
      const { task_id } = await alive('submit_work', { task_type: 'reap', task_description: 'x' });
      assert.equal((await dead('get_work', { task_types: ['reap'] })).task_id, task_id);
      await crew.silence(alive);
      await crew.cleaned(alive, { locks: 4, tasks: 1 });
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
    });
  });

  test(`[SESS-4] ${engine}: one session of an agent dies, the other keeps what it has`, async () => {
    await inTime('twins', async (crew) => {
      const [old, young] = [crew.member('twin', 'old'), crew.living('twin', 'young')];
      await old('acquire_lock', { file_path: 'old.ts' });
      await young('acquire_lock', { file_path: 'young.ts' });
      await crew.silence(young);
      await crew.cleaned(young, { locks: 1, tasks: 0 });
      const { locks } = await young('check_locks', { file_paths: ['old.ts', 'young.ts'] });
      assert.deepEqual(
        (locks as JsonObject[]).map((lock) => lock.file_path),
        ['young.ts'],
      );
    });
  });

  test(`[SESS-4] ${engine}: who is turned away frees what the dead held by itself`, async () => {
    await inTime('keen', async (crew, pace) => {
      const [dead, alive] = [crew.member('late'), crew.member('keen')];
      const refused = await pace.within(async () => {
        await dead('acquire_lock', { file_path: 'wanted.ts' });
        return await alive('acquire_lock', { file_path: 'wanted.ts' });
      });
      assert.equal(refused.action, 'blocked');
      await crew.silence(alive);
      await pace.until(
        async () => (await alive('acquire_lock', { file_path: 'wanted.ts' })).success === true,
      );
    });
  });

  test(`[SESS-4] ${engine}: what an agent is told it has when it comes back, it keeps`, async () => {
    const names = Array.from({ length: 12 }, (_, index) => `back-${index}`);
    const attempt = async (crew: Crew, pace: Pace) => {
      const returning = names.map((name) => crew.member(name));
      for (const [index, back] of returning.entries())
        await back('acquire_lock', { file_path: `${names[index]}.ts` });
      await crew.silence();
      // Who is back and then silent once more for as long dies a second time: all of it must be over before that.
      const { answers, locks } = await pace.within(async () => {
        const cleaners = [crew.member('cleaner-1'), crew.member('cleaner-2')];
        const cleaning = cleaners.map((cleaner) => cleaner('cleanup_dead_agents', crew.stale));
        const answers: JsonObject[] = [];
        // One after the other, so that some come before, some amid and some after their session is ended.
        for (const [index, back] of returning.entries())
          answers.push(await back('acquire_lock', { file_path: `${names[index]}.ts` }));
        await Promise.all(cleaning);
        const asked = { file_paths: names.map((name) => `${name}.ts`) };
        const { locks } = await crew.member('cleaner-1')('check_locks', asked);
        return { answers, locks };
      });
      const held = new Map((locks as JsonObject[]).map((lock) => [lock.locked_by, lock.fencing_token]));
      for (const [index, answer] of answers.entries()) {
        assert.equal(answer.success, true, JSON.stringify(answer));
        assert.equal(held.get(names[index] ?? ''), answer.fencing_token, JSON.stringify(answer));
      }
    };
    await inTime('back', attempt, FIRST_MS_OF_MANY);
  });
}
