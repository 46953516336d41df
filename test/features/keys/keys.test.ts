import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  anyKeyOpens,
  createKey,
  everyKey,
  listKeys,
  revokeKey,
} from '../../../src/features/keys/change-keys.ts';
import { keyEvent } from '../../../src/features/keys/state.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';

const DAY_MS = 24 * 60 * MINUTE_MS;
const alice = { role: 'agent', name: 'alice', agent_id: 'alice', created_by: 'cli-me' } as const;
const made = (id: string, more: JsonObject = {}) =>
  fact(NOON_MS, keyEvent(id, 'key_created', { ...alice, hash: 'h', created_at_ms: NOON_MS, ...more }));

function look<T>(facts: Fact[], ask: (loaded: LoadedSet) => T): T {
  const loaded = new LoadedSet();
  load(folded(facts), everyKey, loaded);
  return ask(loaded);
}

test('[HTTP-2] a key is made with its hash; the answer, which is logged, has neither hash nor secret', () => {
  const outcome = given()
    .at(NOON_MS)
    .when(createKey({ ...alice, id: 'k1', hash: 'the-hash', valid_ms: 2 * DAY_MS }))
    .thenCommits(keyEvent('k1', 'key_created', { ...alice, hash: 'the-hash', created_at_ms: NOON_MS }))
    .answering({
      success: true,
      key_id: 'k1',
      role: 'agent',
      status: 'live',
      expires_at: '2026-01-07T12:00:00.000Z',
    });
  assert.doesNotMatch(JSON.stringify(outcome.answer), /hash/);
});

test('[HTTP-2] a revoked key opens nothing, revoking again changes nothing, an unknown one is said to be', () => {
  const revoked = given(made('k1'))
    .at(NOON_MS + MINUTE_MS)
    .when(revokeKey('k1', 'bob'))
    .thenCommits(keyEvent('k1', 'key_revoked', { agent_id: 'bob', revoked_at_ms: NOON_MS + MINUTE_MS }))
    .answering({ status: 'revoked' });
  assert.equal(
    look(revoked.facts, (loaded) => anyKeyOpens(loaded, NOON_MS + MINUTE_MS)),
    false,
  );
  given(...revoked.facts)
    .at(NOON_MS + DAY_MS)
    .when(revokeKey('k1', 'carl'))
    .thenCommits()
    .answering({ success: true, revoked_at: '2026-01-05T12:01:00.000Z' });
  given().at(NOON_MS).when(revokeKey('k2', 'bob')).thenRefuses('unknown_key', { key_id: 'k2' });
});

test('[HTTP-2] a key is over at the very moment it expires', () => {
  const facts = [made('k1', { expires_at_ms: NOON_MS + DAY_MS })];
  const opens = (at_ms: number) => look(facts, (loaded) => anyKeyOpens(loaded, at_ms));
  assert.deepEqual([opens(NOON_MS + DAY_MS - 1), opens(NOON_MS + DAY_MS)], [true, false]);
});

test('[HTTP-2] lists show whose a key is, leave out what is over unless asked, and never show a hash', () => {
  const facts = [made('k1'), made('k2', { expires_at_ms: NOON_MS + 1 })];
  const listed = (all: boolean) =>
    look(facts, (loaded) => listKeys(loaded, NOON_MS + DAY_MS, all).keys as JsonObject[]);
  assert.deepEqual(
    listed(false).map(({ key_id }) => key_id),
    ['k1'],
  );
  assert.deepEqual(
    listed(true).map(({ key_id, status }) => [key_id, status]),
    [
      ['k1', 'live'],
      ['k2', 'expired'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(listed(true)), /hash/);
});
