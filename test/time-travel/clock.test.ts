import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineEntities, type EntityType } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { changesBetween, stateAt } from '../../src/ledger/time-travel/travel.ts';
import { rowsFrom } from './support.ts';

/** Remembers the last thing it was told; a second word before a first is a broken log. */
const wordEntity: EntityType<{ said: string }> = {
  kind: 'word',
  evolve(state, { data }) {
    if (state === undefined && data.said !== 'first') throw new Error('the first word is missing');
    return { said: String(data.said) };
  },
  index: () => ({}),
};
const entities = defineEntities(wordEntity);

/** Clock, and what is said; without a word it is a look. */
function log(...said: [clock: string, word?: string][]): LogEntry[] {
  return said.map(([clock, word], index) => ({
    position: index + 1,
    schema: 4,
    project: 'p',
    at_ms: at(clock),
    agent_id: 'a',
    agent_type: 'test',
    session_id: 's',
    sequence: index + 1,
    operation: 'say',
    operation_id: String(index),
    parameters: {},
    result: { success: true },
    duration_ms: 0,
    events: word === undefined ? [] : [{ kind: 'word', id: 'w', type: 'said', data: { said: word } }],
  }));
}

const at = (clock: string) => Date.parse(`2026-01-01T${clock}:00Z`);

async function saidAt(rows: LogEntry[], clock: string) {
  const past = await stateAt(rowsFrom(rows), entities, { at_ms: at(clock) });
  return [past.state.get('word/w')?.state.said, past.position, past.later_rows];
}

test('[AUD-5] one row whose clock was ahead hides nothing of what came after it', async () => {
  const rows = log(['10:00', 'first'], ['15:00', 'ahead'], ['10:02', 'third'], ['10:03', 'fourth']);
  assert.deepEqual(await saidAt(rows, '10:01'), ['first', 1, 0], 'it is not yet certain that it was before');
  assert.deepEqual(await saidAt(rows, '10:02'), ['third', 3, 1]);
  assert.deepEqual(await saidAt(rows, '10:30'), ['fourth', 4, 1]);
  assert.deepEqual(await saidAt(rows, '09:59'), [undefined, 0, 0]);
});

test('[AUD-5] a clock that was set back for good: history is never one without its beginning', async () => {
  const rows = log(['12:00', 'first'], ['12:01', 'second'], ['10:00', 'third'], ['10:01', 'fourth']);
  assert.deepEqual(await saidAt(rows, '10:00'), ['third', 3, 2]);
  assert.deepEqual(await saidAt(rows, '12:30'), ['fourth', 4, 0]);
});

test('[AUD-5] a look by somebody with a slow clock moves no moment', async () => {
  const rows = log(['10:00', 'first'], ['11:00', 'second'], ['09:00']);
  assert.deepEqual(await saidAt(rows, '10:30'), ['first', 1, 0]);
});

test('[AUD-5] a position is exact, whatever the clocks said, and what comes behind it is not read', async () => {
  const rows = log(['12:00', 'first'], ['10:00', 'second'], ['11:00', 'third']);
  let read = 0;
  async function* counted() {
    for (const row of rows) {
      read += 1;
      yield row;
    }
  }
  const past = await stateAt(counted(), entities, { position: 1 });
  assert.deepEqual([past.state.get('word/w')?.state.said, past.rows, read], ['first', 1, 2]);
  const { changes, from, to } = await changesBetween(rowsFrom(rows), entities, {
    from: { position: 1 },
    to: { at_ms: at('11:00') },
  });
  assert.deepEqual([from.position, to.position], [1, 3]);
  assert.deepEqual(
    changes.map(({ before, after }) => [before?.state.said, after?.state.said]),
    [['first', 'third']],
  );
});
