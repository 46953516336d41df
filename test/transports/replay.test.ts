import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { JsonObject } from '../../src/kernel/json.ts';
import { main } from '../../src/transports/cli/main.ts';
import { fakeTerminal, type Scratch, scratch } from './support.ts';

async function json({ folder, store }: Scratch, ...words: string[]): Promise<[number, JsonObject]> {
  const { terminal, written } = fakeTerminal(folder, { COX_STORE: store, AGENT_ID: 'alice' });
  const code = await main([...words, '--json'], terminal);
  return [code, JSON.parse(written.out) as JsonObject];
}

test('[AUD-5] replay equals the live state, and shows any past moment', async () => {
  using place = scratch();
  await json(place, 'lock', 'acquire', 'a.ts', '--reason', 'first');
  const [, submitted] = await json(place, 'work', 'submit', 'test', 'run them');
  const [, shown] = await json(place, 'work', 'show', String(submitted.task_id));
  const between = String(shown.created_at);
  await json(place, 'lock', 'release', 'a.ts');
  await json(place, 'work', 'get');

  const [code, replayed] = await json(place, 'replay');
  assert.equal(code, 0);
  assert.deepEqual([replayed.equal, replayed.entities, replayed.differences], [true, 3, []]);
  assert.ok((replayed.events as number) >= 4 && (replayed.rows as number) >= 5);

  const [, then] = await json(place, 'replay', '--at', between);
  assert.deepEqual(then.tasks, { pending: 1 });
  assert.deepEqual(
    (then.locks as JsonObject[]).map((lock) => [lock.file_path, lock.locked_by, lock.reason]),
    [['a.ts', 'alice', 'first']],
  );
  const [, now] = await json(place, 'replay', '--at', '2999-01-01T00:00:00Z');
  assert.deepEqual([now.tasks, now.locks], [{ claimed: 1 }, []]);
  const [, before] = await json(place, 'replay', '--at', '2000-01-01');
  assert.deepEqual([before.rows, before.tasks, before.locks], [0, {}, []]);
});

test('[AUD-5] a record changed behind the log is a difference, exit code 1', async () => {
  using place = scratch();
  await json(place, 'lock', 'acquire', 'a.ts');
  const database = new DatabaseSync(place.store.slice('sqlite:'.length));
  const changed = database
    .prepare("UPDATE records SET state = replace(state, 'alice', 'mallory') WHERE kind = 'lock'")
    .run();
  database.close();
  assert.equal(Number(changed.changes), 1);
  const [code, replayed] = await json(place, 'replay');
  assert.equal(code, 1);
  const [difference] = replayed.differences as JsonObject[];
  assert.equal(difference?.key, 'lock/a.ts');
  assert.equal(replayed.success, false);
});
