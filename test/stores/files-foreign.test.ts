import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ClaimState, claimEntity, claimEvent, NEVER_MS } from '../../src/features/claims/edge-claim.ts';
import { foreignKey, toClaimEvent } from '../../src/features/claims/foreign-event.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { limits } from '../../src/kernel/limits.ts';
import type { ForeignRecord } from '../../src/ledger/foreign.ts';
import { readForeign } from '../../src/stores/files/foreign-lines.ts';
import { timeOf } from '../../src/stores/files/foreign-time.ts';
import { parseObject } from '../../src/stores/files/parse-line.ts';

const AT = '2026-02-23T10:30:00Z';
const AT_MS = Date.parse(AT);
const PLACE = { feature: 'F-1', edge: 'design→code' };

const flat = (event_type: string, more: JsonObject = {}): JsonObject => ({
  event_type,
  timestamp: AT,
  project: 'demo',
  ...more,
});

const inData = (event_type: string, data: JsonObject = {}): JsonObject => flat(event_type, { data });

const openLineage = (type: string, payload: JsonObject, eventType = 'OTHER'): JsonObject => ({
  eventType,
  eventTime: '2026-02-23T10:30:00.123456+00:00',
  run: {
    runId: 'r-1',
    facets: {
      'sdlc:universal': { instance_id: 'i-1', actor: 'engine' },
      'sdlc:event_type': { _producer: 'p', type },
      'sdlc:payload': { _producer: 'p', ...payload },
    },
  },
  job: { namespace: 'aisdlc://demo', name: 'CLAIM:F-1:design→code' },
});

function said(record: JsonObject): ForeignRecord {
  const foreign = readForeign(record);
  assert.ok(foreign, JSON.stringify(record));
  return foreign;
}

/** The claim after all of it, as the store would have it. */
function fold(records: readonly JsonObject[], before?: ClaimState): ClaimState | undefined {
  let state = before;
  for (const record of records) {
    const foreign = said(record);
    const event = toClaimEvent(foreign, state);
    if (event !== undefined) state = claimEntity.evolve(state, event, foreign.at_ms);
  }
  return state;
}

test('[CLAIM-14] one fact in each of the shapes is read as the same', () => {
  const who = { agent_id: 'anna', agent_role: 'architect' };
  const shapes = [
    flat('edge_started', { ...PLACE, ...who, instance_id: 'i-1', data: { note: 'n' } }),
    inData('edge_started', { ...PLACE, ...who, instance_id: 'i-1', note: 'n' }),
    openLineage('EdgeStarted', { ...PLACE, ...who, note: 'n' }),
    openLineage('edge_started', { ...PLACE, ...who, note: 'n' }),
  ];
  for (const shape of shapes) {
    const { at_ms, data, ...rest } = said(shape);
    assert.ok(at_ms === AT_MS || at_ms === AT_MS + 123);
    assert.equal(data.note, 'n');
    assert.deepEqual(rest, {
      ...PLACE,
      ...who,
      event_type: 'edge_started',
      project: 'demo',
      agent_named: true,
      instance_id: 'i-1',
    });
  }
});

test('[CLAIM-14] mixed lines: converted ones, facets with an underscore, the place only in the job', () => {
  const original = { event_type: 'edge_started', timestamp: AT, ...PLACE, data: { iteration: 2 } };
  const converted = said({
    eventType: 'START',
    eventTime: AT,
    run: { runId: 'r', facets: { 'sdlc:req_keys': { feature_id: 'F-1', edge: 'design→code' } } },
    job: { namespace: 'aisdlc://demo', name: 'design→code' },
    _metadata: { project: 'demo', original_data: original },
  });
  assert.equal(converted.event_type, 'edge_started');
  assert.deepEqual([converted.feature, converted.edge, converted.data.iteration], ['F-1', 'design→code', 2]);
  const underscored = said({
    ...inData('edge_converged'),
    eventType: 'COMPLETE',
    run: { facets: { sdlc_req_keys: { feature_id: 'F-1', edge: 'design→code' } } },
  });
  assert.deepEqual([underscored.feature, underscored.edge], ['F-1', 'design→code']);
  const bare = said({ eventType: 'COMPLETE', eventTime: AT, job: { name: 'F-1:design→code' } });
  assert.deepEqual([bare.event_type, bare.feature, bare.edge], ['edge_converged', 'F-1', 'design→code']);
  // Empty and null are nothing: the next place counts.
  const empty = said(flat('edge_started', { feature: '', edge: null, agent_id: null, data: { ...PLACE } }));
  assert.deepEqual([empty.feature, empty.edge], ['F-1', 'design→code']);
  assert.deepEqual([empty.agent_id, empty.agent_named], ['primary', false]);
});

test('moments with and without zone and decimals', () => {
  const times: [unknown, number | undefined][] = [
    ['2026-02-23T10:30:00Z', AT_MS],
    ['2026-02-23T10:30:00.123456+00:00', AT_MS + 123],
    ['2026-02-23T10:30:00.5Z', AT_MS + 500],
    ['2026-02-23T21:30:00+11:00', AT_MS],
    ['2026-02-23T21:30:00+1100', AT_MS],
    ['2026-02-23T21:30:00+11', AT_MS],
    ['2026-02-23T10:30:00.000001', AT_MS],
    ['2026-02-23 10:30:00', AT_MS],
    ['2026-02-23T10:30', AT_MS],
    [AT_MS, AT_MS],
    [AT_MS / 1000, AT_MS],
    ['2026-13-01T00:00:00Z', undefined],
    ['yesterday', undefined],
    [`${'9'.repeat(100)}`, undefined],
    ['', undefined],
    [Number.NaN, undefined],
    [-1, undefined],
    [1e300, undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [text, expected] of times) assert.equal(timeOf(text), expected, String(text));
  // A line without one happened not before the line above it.
  assert.equal(readForeign({ event_type: 'x', timestamp: 'soon' }, 42)?.at_ms, 42);
});

test('[CLAIM-14] what others started is held until it ends, in any mixture of shapes', () => {
  const held = fold([openLineage('EdgeStarted', { ...PLACE, agent_id: 'anna' })]);
  assert.deepEqual(held?.lease, {
    agent_id: 'anna',
    agent_type: 'foreign',
    session_id: 'i-1',
    token: AT_MS + 123,
    granted_at_ms: AT_MS + 123,
    expires_at_ms: NEVER_MS,
  });
  const start = flat('edge_started', { ...PLACE, agent_id: 'anna' });
  const rejected = inData('claim_rejected', {
    agent_id: 'bert',
    ...PLACE,
    reason: 'already_claimed',
    holding_agent: 'anna',
  });
  assert.equal(fold([start, rejected])?.lease?.agent_id, 'anna');
  const iterated = flat('iteration_completed', { ...PLACE, iteration: 3, timestamp: '2026-02-23T11:00:00Z' });
  const working = fold([start, iterated]);
  assert.deepEqual([working?.iteration, working?.last_active_ms], [3, AT_MS + 1_800_000]);
  const stale = flat('claim_expired', { ...PLACE, agent_id: 'anna', data: { seconds_idle: 4000 } });
  const silent = fold([start, stale]);
  assert.equal(silent?.lease?.agent_id, 'anna');
  assert.equal(silent?.last_active_ms, AT_MS, 'said about it, not by it');
  // Other spellings of the edge are the same claim.
  const end = openLineage('EdgeConverged', { feature: 'F-1', edge: 'design_code', iteration: 4 }, 'COMPLETE');
  const over = fold([start, iterated, { ...end, job: {} }]);
  assert.equal(over?.lease, undefined);
  assert.deepEqual([over?.converged?.agent_id, over?.converged?.iteration], ['anna', 4]);
  const released = inData('edge_released', { ...PLACE, agent_id: 'anna', reason: 'iteration_complete' });
  assert.equal(fold([start, released])?.lease, undefined);
});

test('[CLAIM-2] what one holds is not taken from it by a line that says another has started', () => {
  const start = (agent_id: string) => flat('edge_started', { ...PLACE, agent_id });
  const held = fold([start('anna')]);
  const event = toClaimEvent(said(start('bert')), held);
  assert.deepEqual([event?.type, event?.data.held_by], ['claim_rejected', 'anna']);
  assert.deepEqual(fold([start('anna'), start('bert')]), held);
  const released = flat('edge_released', { ...PLACE, agent_id: 'anna' });
  assert.equal(fold([start('anna'), released, start('bert')])?.lease?.agent_id, 'bert');
  assert.equal(fold([start('anna'), start('anna')])?.lease?.agent_id, 'anna');
  const refused = flat('claim_rejected', { ...PLACE, agent_id: 'anna', data: { reason: 'role' } });
  assert.deepEqual(fold([start('anna'), refused]), held, 'nor does a later refusal end what was granted');
  // What had an end and is over by then is free.
  const timed = { ...held, lease: { ...held?.lease, expires_at_ms: AT_MS } } as typeof held;
  assert.equal(toClaimEvent(said(start('bert')), timed)?.type, 'edge_started');
});

test('[CLAIM-14] who starts what nobody named has started takes it over, and ends it', () => {
  const unnamed = flat('edge_started', PLACE);
  const line = (event_type: string) => flat(event_type, { ...PLACE, agent_id: 'claude' });
  assert.equal(fold([unnamed])?.lease?.agent_id, 'primary');
  const taken = fold([unnamed, line('edge_started')]);
  assert.deepEqual([taken?.lease?.agent_id, taken?.unnamed], ['claude', undefined]);
  const over = fold([unnamed, line('edge_started'), line('edge_converged')]);
  assert.deepEqual([over?.lease, over?.converged?.agent_id], [undefined, 'claude']);
  // Only from a holder without a name: neither from a holder of that name, nor by a start that names no agent.
  assert.equal(fold([{ ...unnamed, agent_id: 'primary' }, line('edge_started')])?.lease?.agent_id, 'primary');
  assert.equal(fold([line('edge_started'), unnamed])?.lease?.agent_id, 'claude');
  // A call of ours under that name says who it is.
  const held = fold([unnamed]);
  const data = { agent_id: 'primary', lease: { ...held?.lease } } as JsonObject;
  const known = claimEntity.evolve(held, claimEvent(PLACE, 'claim_renewed', data), AT_MS);
  for (const state of [known, fold([unnamed], known)])
    assert.equal(toClaimEvent(said(line('edge_started')), state)?.type, 'claim_rejected');
});

test('[CLAIM-14] signs of others are not signs of the holder', () => {
  const start = flat('edge_started', { ...PLACE, agent_id: 'anna' });
  const later = { ...PLACE, timestamp: '2026-02-23T12:00:00Z' };
  const byOther = flat('iteration_completed', { ...later, agent_id: 'bert', iteration: 9 });
  const state = fold([start, byOther]);
  assert.deepEqual([state?.last_active_ms, state?.iteration], [AT_MS, undefined]);
  // Nor does a line decide what waits for a person.
  const review = flat('review_completed', { ...later, agent_id: 'bert', data: { decision: 'approved' } });
  assert.equal(toClaimEvent(said(review), state), undefined);
});

test('[CLAIM-14] what was only asked for is kept for who asked, unless it is held or refused', () => {
  const asked = (agent_id: string) => openLineage('EdgeClaimed', { ...PLACE, agent_id });
  assert.equal(fold([asked('anna')])?.lease?.agent_id, 'anna');
  assert.equal(fold([asked('anna'), asked('bert')])?.lease?.agent_id, 'anna');
  const refused = openLineage('ClaimRejected', { ...PLACE, agent_id: 'anna', reason: 'role' }, 'FAIL');
  assert.equal(fold([asked('anna'), refused])?.lease, undefined);
  const tokens = [asked('anna'), flat('edge_started', { ...PLACE, agent_id: 'bert' })];
  assert.ok((fold(tokens)?.lease?.token ?? 0) > AT_MS + 123, 'a later grant has a greater token');
});

test('[CLAIM-2] asked for is over with what ends it, and with a person who leaves it with its holder', () => {
  const asked = fold([openLineage('EdgeClaimed', { ...PLACE, agent_id: 'anna' })]);
  assert.equal(asked?.asked, true);
  for (const end of ['edge_released', 'edge_converged']) {
    const over = claimEntity.evolve(asked, claimEvent(PLACE, end, { agent_id: 'anna' }), AT_MS);
    assert.deepEqual([over.lease, over.asked], [undefined, undefined], end);
  }
  const kept = claimEntity.evolve(asked, claimEvent(PLACE, 'claim_kept', { kept_by: 'person:pat' }), AT_MS);
  const refused = flat('claim_rejected', { ...PLACE, agent_id: 'anna' });
  for (const line of [flat('edge_started', { ...PLACE, agent_id: 'bert' }), refused])
    assert.equal(toClaimEvent(said(line), kept)?.type, 'claim_rejected');
});

test('evaluators as text and as numbers; an ending keeps the spelling of the beginning', () => {
  const start = flat('edge_started', { ...PLACE, agent_id: 'anna' });
  const end = (evaluators: JsonObject | string) =>
    said(flat('edge_converged', { feature: 'F-1', edge: 'design_code', evaluators }));
  const state = fold([start]);
  assert.equal(toClaimEvent(end('6/6'), state)?.data.evaluators, '6/6');
  const counted = toClaimEvent(end({ passed: 5, failed: 1, total: 6 }), state);
  assert.equal(counted?.data.evaluators, '5/6');
  assert.equal(counted?.data.edge, 'design→code');
  assert.equal(counted?.id, 'F-1#design_code');
});

test('names that we would give nobody hold nothing, and no hostile line throws', () => {
  const hostile = ['person:bob', 'Coxswain', 'a\u0000b', 'a\u001b[2Jb', '\ud800', 'x'.repeat(500), ' '];
  for (const agent_id of hostile) {
    const foreign = said(flat('edge_started', { ...PLACE, agent_id }));
    if (foreign.agent_named) assert.equal(toClaimEvent(foreign, undefined), undefined, agent_id);
  }
  for (const feature of ['a\nb', 'x'.repeat(10_000), '\udc00', '\u{1D160}'.repeat(100)])
    assert.equal(toClaimEvent(said(flat('edge_started', { feature, edge: 'e' })), undefined), undefined);
  assert.equal(toClaimEvent(said(flat('edge_started', { feature: 'F', edge: '→' })), undefined), undefined);
  for (const record of [
    undefined,
    null,
    7,
    'x',
    [],
    [[]],
    {},
    { event_type: 7 },
    { eventType: 'constructor' },
  ])
    assert.equal(readForeign(record), undefined, JSON.stringify(record));
  assert.equal(
    readForeign({ event_type: '__proto__', run: [], job: 'x', data: 'y' })?.event_type,
    '__proto__',
  );
});

test('texts that are no record have a reason', () => {
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const texts: [string, RegExp][] = [
    ['', /empty/],
    ['{"a":1', /not JSON/],
    ['{"a":"\u0000"}', /not JSON/],
    ['[]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['"x"', /not a JSON object/],
    [deep, /nested deeper/],
  ];
  for (const [text, reason] of texts) {
    const read = parseObject(text);
    assert.match('problem' in read ? read.problem : '', reason, text.slice(0, 20));
  }
  assert.ok('record' in parseObject('{"a":"\\u0000\\ud800","__proto__":{"x":1}}'));
});

test('[CLAIM-14] whatever a log holds, reading it ends in an event of sound size or in nothing', () => {
  const word = fc.oneof(
    fc.constantFrom('event_type', 'data', 'run', 'facets', 'job', 'name', 'feature', 'edge', 'agent_id'),
    fc.constantFrom('sdlc:payload', 'sdlc:event_type', 'type', '_metadata', 'original_data', 'timestamp'),
    fc.string({ unit: 'binary' }),
  );
  const value = fc.oneof(
    fc.constantFrom('edge_started', 'EdgeConverged', 'claim_rejected', 'F-1', 'design→code', 'anna', AT),
    fc.jsonValue({ maxDepth: 2 }),
    fc.string({ unit: 'binary' }),
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 5, withCrossShrink: true }, value, fc.dictionary(word, tie('tree'))),
  }));
  const record = fc.dictionary(word, tree).map((made) => ({ event_type: 'edge_started', ...PLACE, ...made }));
  fc.assert(
    fc.property(fc.oneof(record, tree), (line) => {
      const foreign = readForeign(line);
      if (foreign === undefined) return;
      assert.ok(Number.isSafeInteger(foreign.at_ms) && foreign.at_ms >= 0);
      const event = toClaimEvent(foreign, undefined);
      if (event === undefined) return;
      assert.deepEqual(foreignKey(foreign), { kind: event.kind, id: event.id });
      assert.ok(Buffer.byteLength(event.id) <= limits.entity_id_bytes_max);
      assert.ok(JSON.stringify(event).length < 10_000);
      const state = claimEntity.evolve(undefined, event, foreign.at_ms);
      assert.ok(
        Buffer.byteLength(claimEntity.index(state, event.id).sort ?? '') <= limits.index_key_bytes_max,
      );
    }),
    { numRuns: 500 },
  );
});
