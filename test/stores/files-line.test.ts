import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/kernel/json.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import { flatLine, type OwnLine, readOwn } from '../../src/stores/files/log-line.ts';

const SCHEMAS = [1, 2, 3, 4];

function golden(schema: number): LogEntry[] {
  const file = new URL(`../golden/schema-${schema}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { log: LogEntry[] }).log;
}

const AT_MS = Date.parse('2026-02-23T10:30:00.250Z');

function row(agent_id: string, events: readonly EventBody[], more: Partial<LogEntry> = {}): LogEntry {
  return {
    position: 7,
    schema: 4,
    project: 'demo',
    at_ms: AT_MS,
    agent_id,
    agent_type: 'codex',
    session_id: `${agent_id}-1`,
    sequence: 3,
    operation: 'claim_edge',
    operation_id: 'op-1',
    parameters: {},
    result: {},
    duration_ms: 1,
    events,
    ...more,
  };
}

function claim(type: string, feature: string, edge: string, data: JsonObject = {}): EventBody {
  return { kind: 'claim', id: `${feature}#${edge}`, type, data: { feature, edge, ...data } };
}

function lines(entry: LogEntry, answer?: JsonObject): string[] {
  const retryable = answer === undefined ? undefined : { input_digest: 'digest', answer };
  return entry.events.map((event, index) =>
    flatLine(entry, entry.position, event, index + 1, entry.events.length, retryable),
  );
}

function own(line: string): OwnLine {
  const read = readOwn(JSON.parse(line), line);
  assert.ok(read !== undefined && 'commit' in read, JSON.stringify(read));
  return read;
}

test('[CLAIM-14] every event that ever stood in a log comes back from its line exactly', () => {
  let events = 0;
  for (const entry of SCHEMAS.flatMap(golden)) {
    const written = lines(entry, entry.result);
    for (const [index, line] of written.entries()) {
      assert.ok(!line.includes('\n'));
      const read = own(line);
      assert.deepEqual(read, own(readBytes(line)));
      const { commit, n, of, at_ms, schema, project, event, op } = read;
      assert.deepEqual(event, entry.events[index]);
      assert.deepEqual(
        { commit, n, of, at_ms, schema, project },
        {
          commit: entry.position,
          n: index + 1,
          of: written.length,
          at_ms: entry.at_ms,
          schema: entry.schema,
          project: entry.project,
        },
      );
      const { operation, operation_id, agent_type, agent_id, session_id, sequence, result } = entry;
      const once = { operation, operation_id, agent_type, agent_id, session_id, sequence };
      assert.deepEqual(op, index === 0 ? { ...once, input_digest: 'digest', answer: result } : undefined);
      events += 1;
    }
  }
  assert.ok(events > 300, `${events} events`);
});

/** Through the disk: decoded from bytes, and checked on them. */
function readBytes(line: string): string {
  const bytes = Buffer.from(line);
  const read = readOwn(JSON.parse(bytes.toString()), bytes);
  assert.ok(read !== undefined && 'commit' in read);
  return bytes.toString();
}

test('[CLAIM-14] any event comes back exactly, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), fc.nat(), (text, value, position) => {
      const data = { [text]: JSON.parse(JSON.stringify(value)), text, agent_id: text };
      const entry = row('anna', [claim('edge_started', text, text, data)], { position });
      const [line = ''] = lines(entry, { said: text });
      const { event, op, commit } = own(line);
      assert.deepEqual(event, entry.events[0]);
      assert.equal(commit, position);
      assert.deepEqual([op?.agent_id, op?.answer], ['anna', { said: text }]);
      // Also for readers that part lines where Python's splitlines does.
      assert.doesNotMatch(line, /[\n\r\v\f\u0085\u2028\u2029]/);
    }),
  );
});

test('an answer is kept only where a retry can ask for it', () => {
  const entry = row('anna', [claim('edge_started', 'F', 'e')]);
  const [event] = entry.events;
  assert.ok(event);
  const line = flatLine(entry, 1, event, 1, 1, { input_digest: '', answer: { success: true } });
  assert.equal(own(line).op?.answer, undefined);
  assert.doesNotMatch(line, /success|input_digest/);
});

test('[CLAIM-14] a line with any byte changed, missing or added is not taken for ours', () => {
  const [line = ''] = lines(row('anna', [claim('edge_started', 'F-1', 'design→code')]), { success: true });
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    for (const changed of [
      flipped,
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
      bytes.subarray(0, at),
      Buffer.concat([bytes.subarray(0, at), Buffer.from(' '), bytes.subarray(at)]),
    ]) {
      const read = parsed(changed);
      assert.ok(read === undefined || 'damaged' in read, `byte ${at}: ${changed}`);
    }
  }
});

function parsed(bytes: Buffer): ReturnType<typeof readOwn> {
  try {
    return readOwn(JSON.parse(bytes.toString()), bytes);
  } catch {
    return undefined;
  }
}

test('what says it is ours and is not has a reason, and a foreign line has none', () => {
  const [line = ''] = lines(row('anna', [claim('edge_started', 'F-1', 'e')]));
  const reason = (text: string) => {
    const read = readOwn(JSON.parse(text), text);
    return read !== undefined && 'damaged' in read ? read.damaged : read;
  };
  // Rewritten by a tool that orders keys, or puts blanks between them.
  assert.match(String(reason(JSON.stringify(JSON.parse(line), null, 1))), /checksum/);
  assert.match(String(reason(line.replace('"v":1', '"v":2'))), /newer Coxswain/);
  assert.match(String(reason('{"cox":{"v":1}}')), /checksum/);
  for (const foreign of [
    '{}',
    '[]',
    'null',
    '7',
    '{"cox":null}',
    '{"cox":"x"}',
    '{"event_type":"edge_started"}',
  ])
    assert.equal(reason(foreign), undefined, foreign);
});

/** All that a reader of the family looks at; it has never heard of us. */
function holders(log: string): Map<string, string> {
  const held = new Map<string, string>();
  for (const line of log.split(/[\n\u0085\u2028\u2029]/)) {
    if (line.trim() === '') continue;
    const { event_type, feature, edge, agent_id, data } = JSON.parse(line) as Record<string, string> & {
      data: Record<string, string>;
    };
    if (!feature || !edge) continue;
    const key = `${feature} ${edge}`;
    if (event_type === 'edge_started') held.set(key, agent_id ?? data.agent_id ?? 'primary');
    if (event_type === 'edge_converged' || event_type === 'edge_released') held.delete(key);
  }
  return held;
}

test('[CLAIM-14] a reader that knows only the flat shape finds the right holders in our lines', () => {
  const lease = (agent_id: string) => ({ agent_id, session_id: `${agent_id}-1`, token: 1 });
  const started = (who: string, feature: string) =>
    row(who, [claim('edge_started', feature, 'design→code', { granted_to: who, lease: lease(who) })]);
  const log = [
    started('anna', 'F-1'),
    started('bert', 'F-2'),
    row('carl', [claim('claim_rejected', 'F-1', 'design→code', { agent_id: 'carl', held_by: 'anna' })]),
    // A lock in the same log, and a line separator in a reason.
    row('carl', [{ kind: 'lock', id: 'a.ts', type: 'lock_acquired', data: { reason: 'a\u2028b' } }]),
    started('dora', 'F-3'),
    row('dora', [claim('edge_converged', 'F-3', 'design→code', { agent_id: 'dora' })]),
    started('carl', 'F-3'),
    // Coxswain says it about bert, and bert still holds it.
    row('coxswain', [claim('claim_expired', 'F-2', 'design→code', { held_by: 'bert', seconds_idle: 1900 })]),
    started('emil', 'F-4'),
    row('emil', [claim('edge_released', 'F-4', 'design→code', { agent_id: 'emil', reason: 'lunch' })]),
  ].flatMap((entry) => lines(entry));
  assert.deepEqual(Object.fromEntries(holders(log.join('\n'))), {
    'F-1 design→code': 'anna',
    'F-2 design→code': 'bert',
    'F-3 design→code': 'carl',
  });
  const record = JSON.parse(log[0] ?? '') as JsonObject;
  assert.equal(record.timestamp, '2026-02-23T10:30:00.250Z');
  assert.equal(record.instance_id, 'anna-1');
  assert.equal((record.data as JsonObject).granted_to, 'anna');
});
