import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { EVENT_SCHEMA, type LogEntry } from '../../src/ledger/log.ts';
import { Narrator } from '../../src/transports/cli/narration/narrate.ts';
import { standingOf } from '../../src/transports/cli/narration/state-words.ts';
import { wordsFor } from '../../src/transports/cli/output/words.ts';

const file = new URL(`../golden/schema-${EVENT_SCHEMA}.json`, import.meta.url);
const { log } = JSON.parse(readFileSync(file, 'utf8')) as { log: LogEntry[] };

/** How the product keeps its books: not worth a word. */
const QUIET = [
  'bidders_changed',
  'call_counted',
  'changeset_routed',
  'dependents_released',
  'grant_taken',
  'line_left',
  'lock_folder_closed',
  'lock_folder_opened',
  'lock_wait_ended',
  'notice_claimed',
  'notice_raised',
  'notice_sent',
  'promotion_closed',
  'promotion_opened',
  'rework_started',
  'session_active',
  'session_changed_files',
  'session_heartbeat',
  'task_depended_on',
  'thread_advanced',
  'usage_counted',
  'usage_ended',
  'verification_renewed',
  'violation_counted',
  'work_counted',
  'work_delivered',
];

test('[CLI-1] every event there is has words of its own, or is known to need none', () => {
  const silent = new Set<string>();
  const told = new Set<string>();
  for (const row of log)
    for (const event of row.events) {
      const words = wordsFor(event, row, () => 'the task');
      for (const { text } of words) {
        assert.ok(
          !text.includes(event.type.replaceAll('_', ' ')),
          `${event.type} has only its name: ${text}`,
        );
        assert.doesNotMatch(text, /undefined|\[object|[\p{Cc}\p{Cf}]/u, text);
      }
      (words.length === 0 ? silent : told).add(event.type);
    }
  assert.deepEqual([...silent].filter((type) => !told.has(type)).sort(), QUIET);
});

const row = (events: LogEntry['events'], more: Partial<LogEntry> = {}): LogEntry => ({
  position: 1,
  schema: EVENT_SCHEMA,
  project: 'default',
  at_ms: 0,
  agent_id: 'bob',
  agent_type: 'test',
  session_id: 'b',
  sequence: 1,
  operation: 'acquire_lock',
  operation_id: '',
  parameters: {},
  result: { success: true },
  duration_ms: 0,
  events,
  ...more,
});

test('[CLI-1] a story is told once: no renewals, no looks, a letter to two is one letter', async () => {
  const coxswain = await open({ store: 'memory:' });
  const narrator = new Narrator(coxswain);
  const waits = {
    kind: 'lock',
    id: 'a.ts',
    type: 'lock_awaited',
    data: { waiter: { id: 'w', agent_id: 'bob' } },
  };
  const letter = (to: string) => ({
    kind: 'message',
    id: `m\n${to}`,
    type: 'message_sent',
    data: { from: 'bob', to, recipients: ['al', 'cy'], body: 'hi\u001b[2J' },
  });
  const unknown = { kind: 'moon', id: 'full', type: 'moon_risen', data: {} };
  const refused = { success: false, action: 'blocked', message: 'a.ts is locked by al.' };
  const told = await narrator.tell([
    row([waits]),
    row([waits]),
    row([letter('al'), letter('cy')]),
    row([]),
    row([], { result: refused }),
    row([], { result: { success: false, reason: 'no_tasks_available' } }),
    row([unknown]),
  ]);
  assert.deepEqual(
    told.map(({ text }) => text),
    [
      'bob waits for a.ts',
      'bob wrote to al, cy: hi [2J',
      'bob was refused acquire_lock: a.ts is locked by al.',
      'bob: moon risen full',
    ],
  );
  await coxswain.close();
});

test('[CLI-1] a lock on a pattern is told as that, not as one on its folder', () => {
  const told = (type: string, data: LogEntry['events'][number]['data']) => {
    const event = { kind: 'lock', id: 'web/', type, data };
    return wordsFor(event, row([event]), () => '').map(({ text }) => text);
  };
  const waiter = { id: 'w', agent_id: 'bob', pattern: 'web/*.css' };
  assert.deepEqual(told('lock_awaited', { waiter }), ['bob waits for web/*.css']);
  const lease = { agent_id: 'bob', token: 1, granted_at_ms: 0, expires_at_ms: 10 };
  assert.deepEqual(told('lock_acquired', { lease, pattern: 'web/*.css' }), ['bob locked web/*.css']);
  const state = { leases: [{ ...lease, pattern: 'web/*.css' }], waiters: [] };
  const record = { kind: 'lock', id: 'web/', version: 1, born: 1, state };
  assert.equal(standingOf(record, 5), 'held by bob (web/*.css)');
});
