import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcquireLock } from '../../../src/features/locks/acquire-lock.ts';
import { withdrawLock } from '../../../src/features/locks/await-lock.ts';
import { type LockState, lockEvent } from '../../../src/features/locks/state.ts';
import { limits } from '../../../src/kernel/limits.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { type Fact, folded, given, NOON_MS } from '../../support/decider-spec.ts';
import { anna, bert, locked } from '../../support/facts.ts';
import { A, acquire, carl, folderEvent, holding, inLine, LATER_MS, SRC, TTL_MS, wait } from './lock-facts.ts';

test('[LOCK-11] somebody in line who died is cleared away by whoever goes past it, above and below', () => {
  const dead_ms = NOON_MS + limits.waiter_alive_ms;
  given(...inLine(anna, [SRC], NOON_MS, []))
    .at(dead_ms)
    .when(acquire(bert, A))
    .thenCommits(
      lockEvent('src/', 'lock_wait_ended', { waiter_id: 'wait-anna' }),
      lockEvent('src/a.ts', 'lock_acquired', {}),
      folderEvent('lock_folder_closed', 'src/'),
    );
  const below = inLine(anna, [A], NOON_MS, []);
  given(...inLine(bert, [SRC], dead_ms, below))
    .at(dead_ms)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .thenCommits(
      lockEvent('src/a.ts', 'lock_wait_ended', { waiter_id: 'wait-anna' }),
      lockEvent('src/', 'lock_acquired', {}),
      lockEvent('src/', 'lock_wait_ended', { waiter_id: 'wait-bert' }),
    );
});

test('[LOCK-11] readers stand each other; a writer stands nobody', () => {
  const shared = { shared: true };
  const read = given()
    .at(NOON_MS)
    .when(acquire(anna, A, shared));
  read.thenCommits(lockEvent('src/a.ts', 'lock_acquired', { shared: true })).answering({ shared: true });
  const two = given(...read.facts)
    .at(LATER_MS)
    .when(acquire(bert, A, shared)).facts;
  given(...two)
    .at(LATER_MS)
    .when(acquire(carl, A))
    .thenRefuses('blocked', { locked_by: 'anna', shared: true, conflicts: [{}, { locked_by: 'bert' }] });
  given(locked('src/a.ts', anna))
    .at(LATER_MS)
    .when(acquire(bert, A, shared))
    .thenRefuses('blocked', { locked_by: 'anna' });
  given(...holding(anna, SRC, [], shared))
    .at(LATER_MS)
    .when(acquire(bert, A, shared))
    .answering({ action: 'acquired' });
});

test('[LOCK-11] a reader becomes a writer when nobody else reads, under a new token', () => {
  const read = given()
    .at(NOON_MS)
    .when(acquire(anna, A, { shared: true })).facts;
  given(...read)
    .at(LATER_MS)
    .when(acquire(anna, A))
    .thenCommits(
      lockEvent('src/a.ts', 'lock_released', { token: NOON_MS }),
      lockEvent('src/a.ts', 'lock_acquired', { lease: { token: LATER_MS } }),
    )
    .answering({ action: 'acquired', fencing_token: LATER_MS })
    .notAfter(NOON_MS + TTL_MS);
  const two = given(...read)
    .at(LATER_MS)
    .when(acquire(bert, A, { shared: true })).facts;
  given(...two)
    .at(LATER_MS)
    .when(acquire(anna, A))
    .thenRefuses('blocked', { locked_by: 'bert' });
  given(locked('src/a.ts', anna))
    .at(LATER_MS)
    .when(acquire(anna, A, { shared: true }))
    .thenCommits(lockEvent('src/a.ts', 'lock_refreshed', { shared: true, lease: { token: NOON_MS } }));
});

test('[LOCK-11] two readers who both wait to write would wait for each other: the second is told so', () => {
  const read = given()
    .at(NOON_MS)
    .when(acquire(anna, A, { shared: true })).facts;
  const two = given(...read)
    .at(NOON_MS)
    .when(acquire(bert, A, { shared: true })).facts;
  const first = given(...two)
    .at(NOON_MS)
    .when(wait(anna, [A], { stays: true })).facts;
  given(...first)
    .at(LATER_MS)
    .when(wait(bert, [A], { stays: true }))
    .thenRefuses('would_deadlock', { locked_by: 'anna', file_path: 'src/a.ts' });
  given(...first)
    .at(LATER_MS)
    .when(wait(carl, [A], { stays: true }))
    .answering({ success: true });
});

test('[LOCK-11] first come, first served: a newcomer overtakes nobody, the line moves in its order', () => {
  const free: Fact[] = [];
  const line = inLine(carl, [A], LATER_MS, inLine(bert, [A], NOON_MS, free));
  const ask = (caller: Caller, more: Partial<AcquireLock> = {}) =>
    given(...line)
      .at(LATER_MS)
      .when(acquire(caller, A, more));
  ask(anna).thenRefuses('blocked', { reason: 'others_wait_first', locked_by: 'bert', waiting: true });
  ask(anna, { shared: true }).thenRefuses('blocked', { locked_by: 'bert' });
  ask(carl, { waiter_id: 'wait-carl', waited: true }).thenRefuses('blocked', {
    locked_by: 'bert',
    position: 2,
    waited_seconds: 0,
  });
  ask(bert, { waiter_id: 'wait-bert', waited: true })
    .thenCommits(
      lockEvent('src/a.ts', 'lock_acquired', { lease: { agent_id: 'bert' } }),
      lockEvent('src/a.ts', 'lock_wait_ended', { waiter_id: 'wait-bert' }),
    )
    .answering({ action: 'acquired', waited_seconds: 1 })
    .notAfter(NOON_MS + limits.waiter_alive_ms);
});

test('[LOCK-11] who waits for a folder is before whoever comes later to a file in it, and behind who waits already', () => {
  const waiting = inLine(bert, [SRC], NOON_MS, []);
  given(...waiting)
    .at(LATER_MS)
    .when(acquire(carl, A))
    .thenRefuses('blocked', { locked_by: 'bert', overlaps: 'src/' });
  const both = inLine(bert, [SRC], LATER_MS, inLine(carl, [A], NOON_MS, []));
  given(...both)
    .at(LATER_MS)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .thenRefuses('blocked', { locked_by: 'carl', overlaps: 'src/a.ts' });
  given(...both)
    .at(LATER_MS)
    .when(acquire(carl, A, { waiter_id: 'wait-carl' }))
    .answering({ action: 'acquired' });
});

test('[LOCK-11] readers queue behind a writer who waits, and pass no one who reads', () => {
  const read = given()
    .at(NOON_MS)
    .when(acquire(anna, A, { shared: true })).facts;
  const writer = inLine(bert, [A], NOON_MS, read);
  given(...writer)
    .at(LATER_MS)
    .when(acquire(carl, A, { shared: true }))
    .thenRefuses('blocked', { locked_by: 'bert', waiting: true });
  const reader = inLine(bert, [A], NOON_MS, read, true);
  given(...reader)
    .at(LATER_MS)
    .when(acquire(carl, A, { shared: true }))
    .answering({ action: 'acquired' });
});

test('[LOCK-11] somebody in line who says nothing for six seconds delays nobody', () => {
  const line = inLine(bert, [A], NOON_MS, []);
  const dead_ms = NOON_MS + limits.waiter_alive_ms;
  given(...line)
    .at(dead_ms - 1)
    .when(acquire(anna, A))
    .thenRefuses('blocked');
  given(...line)
    .at(dead_ms)
    .when(acquire(anna, A))
    .thenCommits(
      lockEvent('src/a.ts', 'lock_wait_ended', { waiter_id: 'wait-bert' }),
      lockEvent('src/a.ts', 'lock_acquired', {}),
    );
});

test('[LOCK-11] who says that it still waits keeps its place; who was cleared away starts anew; a clock set back helps nobody', () => {
  const early_ms = NOON_MS - 2000;
  const line = inLine(carl, [A], early_ms, inLine(bert, [A], NOON_MS, []));
  const waiters = (facts: Fact[]) => {
    const state = folded(facts).get('lock/src/a.ts')?.state as LockState | undefined;
    return state?.waiters?.map(({ id, since_ms }) => [id, since_ms]);
  };
  assert.deepEqual(waiters(line), [
    ['wait-bert', NOON_MS],
    ['wait-carl', NOON_MS + 1],
  ]);
  const renewed = inLine(bert, [A], LATER_MS, line);
  assert.deepEqual(waiters(renewed), [
    ['wait-carl', NOON_MS + 1],
    ['wait-bert', NOON_MS],
  ]);
  const gone = given(...renewed)
    .at(LATER_MS)
    .when(withdrawLock({ areas: [A], waiter_id: 'wait-bert' })).facts;
  const anew = waiters(inLine(bert, [A], LATER_MS, gone));
  assert.deepEqual(anew?.at(-1), ['wait-bert', LATER_MS]);
  given(...gone)
    .at(LATER_MS)
    .when(withdrawLock({ areas: [A], waiter_id: 'wait-bert' }))
    .thenRefuses('not_held');
});

test('[LOCK-11] whoever holds a lock extends it past those who wait for it', () => {
  const line = inLine(bert, [A], NOON_MS, [locked('src/a.ts', anna)]);
  given(...line)
    .at(LATER_MS)
    .when(acquire(anna, A))
    .thenCommits(lockEvent('src/a.ts', 'lock_refreshed', { lease: { token: NOON_MS } }));
});

test('[LOCK-11] a line is as long as those in it who live: the dead keep nobody out', () => {
  const crowd = Array.from({ length: limits.lock_waiters_max }, (_, n) => ({
    ...carl,
    agent_id: `agent-${n}`,
  }));
  const facts = crowd.reduce<Fact[]>(
    (so_far, each) => inLine(each, [A], NOON_MS, so_far),
    [locked('src/a.ts', anna)],
  );
  given(...facts)
    .at(NOON_MS)
    .when(wait(bert, [A], { stays: true }))
    .thenRefuses('too_large');
  given(...facts)
    .at(NOON_MS)
    .when(wait(crowd[0] ?? carl, [A], { stays: true }))
    .answering({ success: true });
  given(...facts)
    .at(NOON_MS + limits.waiter_alive_ms)
    .when(wait(bert, [A], { stays: true }))
    .answering({ success: true });
});
