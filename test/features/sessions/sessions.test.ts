import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closeFreeing,
  endSession,
  registerSession,
  touchSession,
} from '../../../src/features/sessions/change-session.ts';
import { freeLocks, freeTasks } from '../../../src/features/sessions/free-leases.ts';
import {
  discoverAgents,
  discoverNeeds,
  type SessionState,
  sessionKey,
} from '../../../src/features/sessions/state.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { claimed, submitted } from '../../support/facts.ts';
import { acquire, carl, LATER_MS } from '../locks/lock-facts.ts';

const name = { agent_id: carl.agent_id, session_id: carl.session_id };
const id = sessionKey(name).id;
const event = (type: string, data = {}) => ({ kind: 'session', id, type, data });
const touch = (more = {}) => touchSession(carl, { active: true, calls: 1, ...more });

/** Heard of at noon. */
const here: Fact[] = given().at(NOON_MS).when(touch()).facts;
/** Ended for its silence twenty minutes later. */
const GONE_MS = NOON_MS + 20 * MINUTE_MS;
const silent = (facts: Fact[]) =>
  given(...facts)
    .at(GONE_MS)
    .when(endSession(name, { end_reason: 'silent', silent_since_ms: NOON_MS })).facts;

function seen(
  facts: Fact[],
  status: 'active' | 'idle' | 'disconnected' | undefined,
  now_ms: number,
): unknown[] {
  const discovery = { status, idle_ms: 5 * MINUTE_MS };
  const loaded = new LoadedSet();
  load(folded(facts), discoverNeeds(discovery), loaded);
  const answer = discoverAgents(discovery, (range) => loaded.list<SessionState>(range), now_ms);
  return (answer.agents as { agent_id: string; status: string }[]).map((each) => [
    each.agent_id,
    each.status,
  ]);
}

test('[SESS-6] the first that is heard of an agent starts its session', () => {
  given()
    .at(NOON_MS)
    .when(touch({ capabilities: ['review'] }))
    .thenCommits(event('session_started', { agent_id: 'carl', capabilities: ['review'] }))
    .answering({ success: true, session_id: 'carl-1' });
});

test('[SESS-6] active turns idle after a quiet time, and back on the next call', () => {
  assert.deepEqual(seen(here, undefined, NOON_MS + 5 * MINUTE_MS - 1), [['carl', 'active']]);
  assert.deepEqual(seen(here, undefined, NOON_MS + 5 * MINUTE_MS), [['carl', 'idle']]);
  assert.deepEqual(seen(here, 'active', NOON_MS + 5 * MINUTE_MS), []);
  const later_ms = NOON_MS + 6 * MINUTE_MS;
  // Only still there: that is no activity.
  const beating = given(...here)
    .at(later_ms)
    .when(touch({ active: false })).facts;
  assert.deepEqual(seen(beating, undefined, later_ms), [['carl', 'idle']]);
  const back = given(...here)
    .at(later_ms)
    .when(touch()).facts;
  assert.deepEqual(seen(back, undefined, later_ms), [['carl', 'active']]);
});

test('[SESS-6] one sign of life is enough for a while, unless the clock was set back', () => {
  const sign = touch({ enough_ms: MINUTE_MS });
  given(...here)
    .at(NOON_MS + MINUTE_MS - 1)
    .when(sign)
    .thenRefuses('wrong_status');
  given(...here)
    .at(NOON_MS + MINUTE_MS)
    .when(sign)
    .thenCommits(event('session_active', { calls: 1 }));
  given(...here)
    .at(NOON_MS - 1)
    .when(sign)
    .thenCommits(event('session_active'));
});

test('[SESS-1] registering again changes what is named and keeps the rest', () => {
  const first = given()
    .at(NOON_MS)
    .when(registerSession({ caller: carl, capabilities: ['ts', 'ts'], current_task: 'a', token_hash: 'x' }))
    .thenCommits(event('session_started'), event('session_registered', { capabilities: ['ts'] })).facts;
  const second = given(...first)
    .at(LATER_MS)
    .when(registerSession({ caller: carl, current_task: 'b', token_hash: 'y' }))
    .thenCommits(event('session_registered', { current_task: 'b' }));
  const state = second.after.get(`session/${id}`)?.state;
  assert.deepEqual(
    [state?.capabilities, state?.current_task, state?.token_hash, state?.started_at_ms],
    [['ts'], 'b', 'y', NOON_MS],
  );
});

test('[SESS-4] a session is ended for its silence only if nothing was heard of it since', () => {
  const silence = endSession(name, { end_reason: 'silent', silent_since_ms: NOON_MS });
  given(...here)
    .at(GONE_MS)
    .when(silence)
    .thenCommits(event('session_ended', { end_reason: 'silent' }));
  const alive = given(...here)
    .at(GONE_MS)
    .when(touch()).facts;
  given(...alive)
    .at(GONE_MS)
    .when(silence)
    .thenRefuses('wrong_status');
  given(...silent(here))
    .at(GONE_MS)
    .when(silence)
    .thenRefuses('not_held');
});

test('[SESS-4] what it held is freed while it is gone, and nothing any more once it is back', () => {
  const area = { place: 'src/a.ts' };
  const holding = given(...here)
    .at(NOON_MS)
    .when(acquire(carl, area)).facts;
  const gone = silent(holding);
  const release = freeLocks(name, ['src/a.ts']);
  given(...gone)
    .at(GONE_MS + 1)
    .when(release)
    .thenCommits({ kind: 'lock', id: 'src/a.ts', type: 'lock_released', data: { cause: 'session_ended' } });
  const back = given(...gone)
    .at(GONE_MS)
    .when(touch()).facts;
  given(...back)
    .at(GONE_MS)
    .when(release)
    .thenRefuses('wrong_status');
  given(...holding)
    .at(GONE_MS)
    .when(release)
    .thenRefuses('wrong_status');
  // Another session of the same agent is none of its business.
  const twin = given(...here)
    .at(NOON_MS)
    .when(acquire({ ...carl, session_id: 'carl-2' }, area)).facts;
  given(...silent(twin))
    .at(GONE_MS + 1)
    .when(release)
    .thenRefuses('not_held');
});

test('[SESS-4] its task goes back to the queue with its attempt counted', () => {
  const task = submitted('t1');
  const facts = [...here, task, claimed('t1', carl, { ttl_ms: 60 * MINUTE_MS })];
  const freed = given(...silent(facts))
    .at(GONE_MS + 1)
    .when(freeTasks(name, ['t1']));
  freed.thenCommits({ kind: 'task', id: 't1', type: 'task_lease_expired', data: {} });
  assert.equal(freed.after.get('task/t1')?.state.attempt_count, 1);
  given(...freed.facts)
    .at(GONE_MS + 2)
    .when(freeTasks(name, ['t1']))
    .thenRefuses('not_held');
});

test('[SESS-4] freeing is closed once, and not for one that is back', () => {
  const gone = silent(here);
  const closed = given(...gone)
    .at(GONE_MS + 6)
    .when(closeFreeing(name, { locks_released: 1 }));
  closed.thenCommits(event('session_freed', { locks_released: 1 }));
  given(...closed.facts)
    .at(GONE_MS + 7)
    .when(closeFreeing(name, {}))
    .thenRefuses('wrong_status');
  const back = given(...gone)
    .at(GONE_MS + 5)
    .when(touch());
  back.thenCommits(event('session_resumed')).answering({ resumed: true });
  given(...back.facts)
    .at(GONE_MS + 6)
    .when(closeFreeing(name, {}))
    .thenRefuses('wrong_status');
});
