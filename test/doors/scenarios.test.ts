import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { operationsByName } from '../../src/operations/index.ts';
import { type Agent, type Door, doors } from './doors.ts';
import { type Scratch, scratch } from './support.ts';

type Scenario = (alice: Agent, bob: Agent) => Promise<void>;

/** What is checked here holds through each door; the recorded answers are compared between the doors as well. */
const scenarios: Record<string, Scenario> = {
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
      result: { commit: '4f1' },
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

  '[AUD-3] [METRIC-1] the trail tells who did what, page by page, and the metrics are counted from it':
    async (alice, bob) => {
      await alice.call('acquire_lock', { file_path: 'audited/1.ts' });
      await alice.call('acquire_lock', { file_path: 'audited/2.ts', reason: 'why' });
      const query = { agent_id: 'alice', operation: 'acquire_lock', result: 'success', limit: 1 };
      const first = await bob.call('query_audit', query);
      const [row] = first.entries as JsonObject[];
      assert.deepEqual(row?.parameters, { file_path: 'audited/2.ts', reason: 'why', ttl_minutes: 120 });
      assert.deepEqual(row?.events, [{ kind: 'lock', id: 'audited/2.ts', type: 'lock_acquired' }]);
      const second = await bob.call('query_audit', { ...query, cursor: first.next_cursor });
      const [older] = second.entries as JsonObject[];
      assert.deepEqual(older?.parameters, { file_path: 'audited/1.ts', ttl_minutes: 120 });
      assert.equal((await bob.call('query_audit', { cursor: 'made up' })).field, 'cursor');
      const none = await bob.call('get_stats', { since: '2999-01-01T00:00:00Z' });
      assert.deepEqual([none.rows, (none.metrics as JsonObject[]).length], [0, 9]);
    },
};

type Transcript = { operation: string; answer: Json }[];

/** Ids, tokens and times differ from run to run; which of them are the same does not. */
function comparable(answer: JsonObject, names: Map<string, string>): Json {
  const rename = (kind: string, value: string): string => {
    const known = names.get(value) ?? `<${kind} ${names.size}>`;
    names.set(value, known);
    return known;
  };
  const text = JSON.stringify(answer, (name, value: unknown) => {
    if (name === 'fencing_token') return rename('token', String(value));
    if (name === 'next_cursor') return '<cursor>';
    // Where in the log a row stands, which of its connection it was, and how soon it was done, differ too.
    return name === 'entries' ? (value as JsonObject[]).map(withoutPlace) : value;
  })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/cox-door-\w+/g, '<folder>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => rename('id', id))
    .replaceAll(/\b1[789]\d{11}\b/g, (token) => rename('token', token));
  return JSON.parse(text) as Json;
}

function withoutPlace({ position: _, sequence: __, duration_ms: ___, ...row }: JsonObject): JsonObject {
  return row;
}

function recorded(agent: Agent, transcript: Transcript, names: Map<string, string>): Agent {
  return {
    async call(operation, input) {
      const answer = await agent.call(operation, input);
      transcript.push({ operation, answer: comparable(answer, names) });
      return answer;
    },
  };
}

class Stage {
  readonly #scratched: Scratch = scratch();
  readonly #door: Promise<Door>;
  readonly #agents: Promise<[Agent, Agent]>;

  constructor(make: (scratched: Scratch) => Door | Promise<Door>) {
    this.#door = Promise.resolve(make(this.#scratched));
    this.#agents = this.#door.then(async (door) => [await door.agent('alice'), await door.agent('bob')]);
  }

  async play(scenario: Scenario): Promise<Transcript> {
    const transcript: Transcript = [];
    const names = new Map<string, string>();
    const [alice, bob] = await this.#agents;
    await scenario(recorded(alice, transcript, names), recorded(bob, transcript, names));
    return transcript;
  }

  async close(): Promise<void> {
    await (await this.#door)[Symbol.asyncDispose]();
    this.#scratched[Symbol.dispose]();
  }
}

const stages = Object.entries(doors).map(([name, make]) => [name, new Stage(make)] as const);
after(() => Promise.all(stages.map(([, stage]) => stage.close())));

const played = new Set<string>();

for (const [title, scenario] of Object.entries(scenarios)) {
  test(title, async () => {
    let expected: Transcript | undefined;
    for (const [name, stage] of stages) {
      const transcript = await stage.play(scenario);
      expected ??= transcript;
      for (const { operation } of transcript) played.add(operation);
      assert.deepEqual(transcript, expected, `through ${name}`);
    }
  });
}

test('the scenarios leave no operation out', () => {
  assert.deepEqual([...played].sort(), [...operationsByName.keys()].sort());
});
