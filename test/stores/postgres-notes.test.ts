// Rows of reads and refusals, which others' commits take along.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../../src/index.ts';
import { logRow } from '../../src/ledger/log.ts';
import { request as cellRequest, openCells, setUnless } from '../conformance/cells.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask, request } from './postgres-support.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;

before(async () => {
  database = await testDatabase({ migrated: true });
});

after(() => database.drop());

test('[STORE-1] postgres: a row that can’t be written does not fail the commit that takes it along', async () => {
  const store = await openCells(database.url);
  try {
    const asked = request('mallory', 'check_locks', { parameters: { file_path: 'a\0b' } });
    store.note(logRow(asked, { success: true }, [], 1, 1));
    const outcome = await store.run(cellRequest('alice'), setUnless('mine', 'other', 'alice'));
    assert.equal(outcome.status, 'committed');
    assert.equal(store.dropped, 1);
  } finally {
    await store.close();
  }
});

test('[AUD-1] postgres: a call with NUL or half a surrogate pair in it has its row, and so has who called beside it', async () => {
  const mallory = await connect({ store: database.url, agent_id: 'mallory' });
  const told: object[] = [];
  for (const file_path of ['a\0b', 'a\ud800b']) told.push(await mallory.acquireLock({ file_path }));
  told.push(await mallory.completeWork({ task_id: 'none', success: true }));
  await mallory.close();
  assert.deepEqual(
    told.map((answer) => 'error' in answer && answer.error),
    ['path_invalid', 'path_invalid', 'invalid_input'],
  );
  const rows = await ask<{ path: string | null }>(
    database.url,
    `SELECT parameters ->> 'file_path' AS path FROM coxswain.log
     WHERE agent_id = 'mallory' AND operation IN ('acquire_lock', 'complete_work') ORDER BY position`,
  );
  assert.deepEqual(
    rows.map(({ path }) => path),
    ['a\ufffdb', 'a\ufffdb', null],
  );
});
