import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { operationsByName } from '../../../src/runtime/operation-list.ts';
import { ENGINES, Place, work } from './support.ts';

const positions = (answer: JsonObject) =>
  (answer.entries as { position: number }[]).map((row) => row.position);

async function everyPage(ask: (cursor?: string) => Promise<JsonObject>): Promise<number[]> {
  const all: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const answer = await ask(cursor);
    assert.equal(answer.success, true);
    all.push(...positions(answer));
    if (answer.next_cursor === undefined) return all;
    cursor = answer.next_cursor as string;
  }
}

for (const engine of ENGINES) {
  test(`[AUD-3] ${engine}: filters by agent, operation, time and result, newest first, sealed or not`, async () => {
    await using place = await Place.open(engine);
    const [alice, bob] = [place.agent('alice'), place.agent('bob')];
    await alice('acquire_lock', { file_path: 'a.ts', reason: 'why' });
    await bob('acquire_lock', { file_path: 'a.ts' });
    await bob('release_lock', { file_path: 'a.ts' });
    await alice('acquire_lock', { file_path: 7 as never });
    await alice('check_locks', {});
    const rows = await place.settled(5);
    const find = (condition: (row: (typeof rows)[number]) => boolean) =>
      rows
        .filter(condition)
        .map(({ position }) => position)
        .reverse();
    const middle_ms = rows[2]?.at_ms ?? 0;
    const middle = new Date(middle_ms).toISOString();
    const cases: [JsonObject, number[]][] = [
      [{ agent_id: 'alice' }, find((row) => row.agent_id === 'alice')],
      [{ operation: 'acquire_lock' }, find((row) => row.operation === 'acquire_lock')],
      [{ result: 'success' }, find((row) => row.result.success === true)],
      [{ result: 'refused' }, find((row) => row.result.success === false)],
      [{ result: 'blocked' }, find((row) => row.result.action === 'blocked')],
      [{ result: 'not_holder', agent_id: 'bob' }, find((row) => row.result.error === 'not_holder')],
      [{ result: 'acquired' }, []],
      [{ since: middle }, find((row) => row.at_ms >= middle_ms)],
      [
        { until: middle, operation: 'acquire_lock' },
        find((row) => row.at_ms <= middle_ms && row.operation === 'acquire_lock'),
      ],
      [{ agent_id: 'nobody' }, []],
    ];
    const operator = place.agent('operator');
    for (const sealed of [false, true]) {
      if (sealed) assert.ok((await place.seal()) >= 5);
      for (const [filter, expected] of cases) {
        const found = await everyPage((cursor) =>
          operator('query_audit', { limit: 2, ...filter, ...(cursor === undefined ? {} : { cursor }) }),
        );
        const old = found.filter((position) => position <= (rows.at(-1)?.position ?? 0));
        assert.deepEqual(old, expected, `${JSON.stringify(filter)}, sealed: ${sealed}`);
      }
    }
    const [row] = (
      await operator('query_audit', { agent_id: 'alice', result: 'success', operation: 'acquire_lock' })
    ).entries as JsonObject[];
    const { position, timestamp, duration_ms, result, ...rest } = row ?? {};
    assert.deepEqual(rest, {
      agent_id: 'alice',
      agent_type: 'test',
      session_id: 'session-alice',
      sequence: 1,
      operation: 'acquire_lock',
      parameters: { file_path: 'a.ts', reason: 'why', ttl_minutes: 120 },
      events: [{ kind: 'lock', id: 'a.ts', type: 'lock_acquired' }],
    });
    assert.equal((result as JsonObject).action, 'acquired');
    assert.equal(timestamp, new Date(rows[0]?.at_ms ?? 0).toISOString());
    assert.ok(typeof duration_ms === 'number' && typeof position === 'number');
  });

  test(`[AUD-3] ${engine}: pages stay as they are while the log grows, and across a seal`, async () => {
    await using place = await Place.open(engine);
    await work(place, 30);
    const before = (await place.rows()).map(({ position }) => position).reverse();
    const operator = place.agent('operator');
    let pages = 0;
    const seen = await everyPage(async (cursor) => {
      pages += 1;
      if (pages === 3) await place.seal();
      if (pages > 1) await place.agent('other')('acquire_lock', { file_path: `while/${pages}.ts` });
      return await operator('query_audit', { limit: 7, ...(cursor === undefined ? {} : { cursor }) });
    });
    assert.deepEqual(seen, before);
    assert.ok(pages > 8);
  });

  test(`[AUD-3] ${engine}: an agent sees its own rows and no others`, async () => {
    await using place = await Place.open(engine);
    await work(place, 2, 'alice');
    await work(place, 2, 'bob');
    const query = operationsByName.get('query_audit');
    assert.ok(query !== undefined);
    const who = { agent_id: 'bob', agent_type: 'test', session_id: 's' };
    const bob = place.coxswain.connect(who, 'agent');
    for (const input of [{}, { agent_id: 'bob' }]) {
      const { entries } = await bob.perform(query, input);
      assert.deepEqual([...new Set((entries as JsonObject[]).map((row) => row.agent_id))], ['bob']);
    }
    assert.equal((await bob.perform(query, { agent_id: 'alice' })).error, 'forbidden');
    const person = place.coxswain.connect(who, 'person');
    const { entries } = await person.perform(query, { agent_id: 'alice' });
    assert.equal((entries as JsonObject[]).length, 4);
  });
}

test('[AUD-3] bad cursors and times are refused, each by its name', async () => {
  await using place = await Place.open('memory');
  const call = place.agent('operator');
  for (const cursor of ['x', 'YmVmb3JlIA', 'YmVmb3JlIC0x', '%%%'])
    assert.deepEqual([cursor, (await call('query_audit', { cursor })).field], [cursor, 'cursor']);
  assert.equal((await call('query_audit', { since: 'yesterday' })).field, 'since');
  assert.equal((await call('query_audit', { limit: 201 })).field, 'limit');
});

test('[AUD-3] a rare agent among many sealed rows is found in one call, for segments that cannot hold it are not read', async () => {
  await using place = await Place.open('sqlite');
  await work(place, 1, 'rare');
  await place.seal();
  for (let n = 0; n < 3; n += 1) {
    await work(place, 50, 'common', n * 50);
    await place.seal();
  }
  const { trail } = place.coxswain.store;
  let scans = 0;
  const scan = trail.scan.bind(trail);
  trail.scan = (...args) => {
    scans += 1;
    return scan(...args);
  };
  const answer = await place.agent('operator')('query_audit', { agent_id: 'rare' });
  assert.equal(positions(answer).length, 2);
  assert.equal(scans, 2, 'the unsealed end and the one segment');
});
