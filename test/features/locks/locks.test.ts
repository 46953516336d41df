import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquireLock } from '../../../src/features/locks/acquire-lock.ts';
import { checkLocks, checkLocksNeeds } from '../../../src/features/locks/check-locks.ts';
import { releaseLock } from '../../../src/features/locks/release-lock.ts';
import { lockEvent } from '../../../src/features/locks/state.ts';
import { isoTime } from '../../../src/kernel/clock.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, fact, folded, given, load, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';
import { anna, annaAgain, bert, lease, locked } from '../../support/facts.ts';

const A = 'src/a.ts';
const TTL_MS = 10 * MINUTE_MS;
const LATER_MS = NOON_MS + MINUTE_MS;
const EXPIRY_MS = NOON_MS + TTL_MS;

function acquire(caller: Caller, reason?: string, ttl_ms = TTL_MS) {
  return acquireLock({ areas: [{ place: A }], single: true, caller, ttl_ms, reason });
}

function release(caller: Caller) {
  return releaseLock({ area: { place: A }, caller });
}

test('[LOCK-1] a free file is granted, with an expiry', () => {
  given()
    .at(NOON_MS)
    .when(acquire(anna, 'rename the router'))
    .thenCommits(
      lockEvent(A, 'lock_acquired', {
        lease: { ...lease(anna, NOON_MS, TTL_MS) },
        reason: 'rename the router',
      }),
    )
    .answering({ success: true, action: 'acquired', file_path: A, expires_at: isoTime(EXPIRY_MS) })
    .notAfter(undefined);
});

test('[LOCK-1] from then on every other agent is refused', () => {
  const held = given().at(NOON_MS).when(acquire(anna)).facts;
  given(...held)
    .at(NOON_MS)
    .when(acquire(bert))
    .thenRefuses('blocked');
  given(...held)
    .at(EXPIRY_MS - 1)
    .when(acquire(bert))
    .thenRefuses('blocked');
});

test('[LOCK-2] who is refused learns who holds the lock, why and until when', () => {
  given(locked(A, anna, { reason: 'rename the router' }))
    .at(LATER_MS)
    .when(acquire(bert))
    .thenRefuses('blocked', {
      success: false,
      action: 'blocked',
      locked_by: 'anna',
      expires_at: isoTime(EXPIRY_MS),
      lock_reason: 'rename the router',
    });
});

test('[LOCK-3] a lock past its time is free without anyone acting, and the takeover writes down the expiry', () => {
  given(locked(A, anna))
    .at(EXPIRY_MS)
    .when(acquire(bert))
    .thenCommits(
      lockEvent(A, 'lock_expired', { lease: { ...lease(anna, NOON_MS, TTL_MS) } }),
      lockEvent(A, 'lock_acquired', { lease: { ...lease(bert, EXPIRY_MS, TTL_MS) } }),
    )
    .answering({ success: true, action: 'acquired' });
});

test('[LOCK-4] the holder releases, in time', () => {
  given(locked(A, anna))
    .at(LATER_MS)
    .when(release(anna))
    .thenCommits(lockEvent(A, 'lock_released', { token: NOON_MS }))
    .answering({ success: true, released: true })
    .notAfter(EXPIRY_MS);
});

test('[LOCK-4] a non-holder’s release is refused and leaves the lock alone', () => {
  const held = locked(A, anna);
  given(held)
    .at(LATER_MS)
    .when(release(bert))
    .thenRefuses('not_holder', { released: false, locked_by: 'anna' });
  // Naming the holder's token does not make one the holder.
  given(held)
    .at(LATER_MS)
    .when(release({ ...bert, token: NOON_MS }))
    .thenRefuses('not_holder');
  given(held).at(LATER_MS).when(acquire(bert)).thenRefuses('blocked', { locked_by: 'anna' });
});

test('[LOCK-4] a release of what nobody holds says so instead of doing nothing', () => {
  given().at(NOON_MS).when(release(anna)).thenRefuses('not_held', { released: false });
  given(locked(A, anna)).at(EXPIRY_MS).when(release(anna)).thenRefuses('not_held');
});

test('[LOCK-4] a superseded grant is refused, also between two sessions of one agent', () => {
  const taken: Fact[] = [
    locked(A, anna),
    ...given(locked(A, anna)).at(EXPIRY_MS).when(acquire(bert)).facts.slice(1),
  ];
  given(...taken)
    .at(EXPIRY_MS + 1)
    .when(release({ ...anna, token: NOON_MS }))
    .thenRefuses('superseded', { locked_by: 'bert' });

  const moved = given(locked(A, anna)).at(LATER_MS).when(acquire(annaAgain)).facts;
  given(...moved)
    .at(LATER_MS)
    .when(release({ ...anna, token: NOON_MS }))
    .thenRefuses('superseded');
  given(...moved)
    .at(LATER_MS)
    .when(release({ ...annaAgain, token: LATER_MS }))
    .answering({ released: true });
});

test('[LOCK-6] the holder acquiring again extends the lock, updates the reason and keeps its grant', () => {
  given(locked(A, anna, { reason: 'rename' }))
    .at(LATER_MS)
    .when(acquire(anna, 'rename, then format', 30 * MINUTE_MS))
    .thenCommits(
      lockEvent(A, 'lock_refreshed', {
        lease: { agent_id: 'anna', token: NOON_MS, expires_at_ms: LATER_MS + 30 * MINUTE_MS },
        reason: 'rename, then format',
      }),
    )
    .answering({ success: true, action: 'refreshed', fencing_token: NOON_MS })
    .notAfter(EXPIRY_MS);
});

test('[LOCK-6] a refresh without a reason keeps the old one', () => {
  given(locked(A, anna, { reason: 'rename' }))
    .at(LATER_MS)
    .when(acquire(anna))
    .thenCommits(lockEvent(A, 'lock_refreshed', { reason: 'rename' }));
});

test('[LOCK-6] another session of the holder takes the lock over with a grant of its own', () => {
  given(locked(A, anna))
    .at(LATER_MS)
    .when(acquire(annaAgain))
    .thenCommits(lockEvent(A, 'lock_refreshed', { lease: { session_id: 'anna-2', token: LATER_MS } }))
    .answering({ action: 'refreshed', fencing_token: LATER_MS });
});

function check(paths: readonly string[] | undefined, now_ms: number, ...facts: Fact[]) {
  const loaded = new LoadedSet();
  const areas = paths?.map((place) => ({ place }));
  load(folded(facts), checkLocksNeeds(areas), loaded);
  return checkLocks(areas, loaded, now_ms);
}

test('[LOCK-7] the list says who holds what, why, until when; what ran out or was released is not in it', () => {
  const facts = [
    locked('src/b.ts', bert, { reason: 'tests' }),
    locked(A, anna, { ttl_ms: 60 * MINUTE_MS }),
    locked('src/c.ts', anna),
    fact(NOON_MS, lockEvent('src/c.ts', 'lock_released', { token: NOON_MS })),
  ];
  const b = { file_path: 'src/b.ts', locked_by: 'bert', reason: 'tests', expires_at: isoTime(EXPIRY_MS) };
  const a = { file_path: A, locked_by: 'anna', expires_at: isoTime(NOON_MS + 60 * MINUTE_MS) };
  assert.partialDeepStrictEqual(check(undefined, LATER_MS, ...facts), { success: true, locks: [a, b] });
  assert.equal((check(undefined, LATER_MS, ...facts).locks as unknown[]).length, 2);
  assert.partialDeepStrictEqual(check(undefined, EXPIRY_MS, ...facts), { locks: [a] });
  assert.equal((check(undefined, EXPIRY_MS, ...facts).locks as unknown[]).length, 1);
  assert.deepEqual(check(['src/c.ts', 'src/none.ts'], LATER_MS, ...facts), { success: true, locks: [] });
  assert.partialDeepStrictEqual(check(['src/b.ts'], LATER_MS, ...facts), { locks: [b] });
});

test('[LOCK-8] tokens of a path grow across expiry, release and a clock that goes back', () => {
  const tokens: number[] = [];
  let facts: Fact[] = [];
  const acquiring = (caller: Caller, at_ms: number) => {
    const granted = given(...facts)
      .at(at_ms)
      .when(acquire(caller));
    tokens.push(granted.answer.fencing_token as number);
    facts = granted.facts;
  };
  const releasing = (caller: Caller, at_ms: number) => {
    facts = given(...facts)
      .at(at_ms)
      .when(release(caller)).facts;
  };
  acquiring(anna, NOON_MS);
  releasing(anna, NOON_MS); // the same millisecond
  acquiring(bert, NOON_MS);
  acquiring(anna, NOON_MS + TTL_MS); // after an expiry
  releasing(anna, NOON_MS - 60 * MINUTE_MS); // the clock was set back by more than an hour
  acquiring(bert, NOON_MS - 60 * MINUTE_MS);
  for (const [index, token] of tokens.entries())
    assert.ok(token > (tokens[index - 1] ?? 0), tokens.join(', '));
});

test('[LOCK-8] a call guarded by an older token is refused, whoever holds the lock now', () => {
  const stale = { ...anna, token: NOON_MS };
  const moved = given(locked(A, anna)).at(LATER_MS).when(acquire(annaAgain)).facts;
  given(...moved)
    .at(LATER_MS)
    .when(acquire(stale))
    .thenRefuses('superseded', { fencing_token: LATER_MS });
  const taken = given(locked(A, anna)).at(EXPIRY_MS).when(acquire(bert)).facts;
  given(...taken)
    .at(EXPIRY_MS)
    .when(acquire(stale))
    .thenRefuses('blocked', { locked_by: 'bert' });
  given(...taken)
    .at(EXPIRY_MS)
    .when(release(stale))
    .thenRefuses('superseded');
});
