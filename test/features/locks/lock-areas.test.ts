import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tidyLocks } from '../../../src/features/locks/await-lock.ts';
import { checkLocks, checkLocksMore, checkLocksNeeds } from '../../../src/features/locks/check-locks.ts';
import { releaseLock, releaseLocks } from '../../../src/features/locks/release-lock.ts';
import { lockEvent } from '../../../src/features/locks/state.ts';
import { getWork } from '../../../src/features/queue/get-work.ts';
import type { Area } from '../../../src/kernel/area.ts';
import { isoTime } from '../../../src/kernel/clock.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { limits } from '../../../src/kernel/limits.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { LoadedSet } from '../../../src/ledger/proposal.ts';
import { type Fact, folded, given, load, NOON_MS } from '../../support/decider-spec.ts';
import { anna, bert, lease, locked, submitted } from '../../support/facts.ts';
import {
  A,
  acquire,
  B,
  carl,
  folderEvent,
  holding,
  inLine,
  LATER_MS,
  SRC,
  TS,
  TTL_MS,
  wait,
} from './lock-facts.ts';

test('[LOCK-10] a folder is announced before it is granted: first a place in line, then a look', () => {
  given().at(NOON_MS).when(acquire(anna, SRC)).thenFirst({ step: 'announce' });
  const announced = given()
    .at(NOON_MS)
    .when(wait(anna, [SRC]));
  announced.thenCommits(
    lockEvent('src/', 'lock_awaited', { waiter: { id: 'wait-anna', agent_id: 'anna', since_ms: NOON_MS } }),
    folderEvent('lock_folder_opened', 'src/'),
  );
  given(...announced.facts)
    .at(LATER_MS)
    .when(acquire(anna, SRC, { waiter_id: 'wait-anna' }))
    .thenCommits(
      lockEvent('src/', 'lock_acquired', { lease: { ...lease(anna, LATER_MS, TTL_MS) } }),
      lockEvent('src/', 'lock_wait_ended', { waiter_id: 'wait-anna' }),
    )
    .answering({ action: 'acquired', file_path: 'src/' })
    .notAfter(NOON_MS + limits.waiter_alive_ms);
});

test('[LOCK-10] an announcement that died does not count', () => {
  const announced = inLine(anna, [SRC], NOON_MS, []);
  given(...announced)
    .at(NOON_MS + limits.waiter_alive_ms)
    .when(acquire(anna, SRC, { waiter_id: 'wait-anna' }))
    .thenFirst({ step: 'announce' });
});

test('[LOCK-10] a lock on a folder covers what is under it, and who is refused learns by which lock', () => {
  const held = holding(anna, SRC, [], { reason: 'move it all' });
  for (const area of [A, TS, { place: 'src/api/' }, { place: './' }, { place: 'src' }])
    given(...held)
      .at(LATER_MS)
      .when(acquire(bert, area))
      .thenRefuses('blocked', {
        locked_by: 'anna',
        overlaps: 'src/',
        lock_reason: 'move it all',
        expires_at: isoTime(NOON_MS + TTL_MS),
      });
  given(...held)
    .at(LATER_MS)
    .when(acquire(bert, B))
    .answering({ action: 'acquired' });
  given(...held)
    .at(LATER_MS)
    .when(acquire(anna, A))
    .answering({ action: 'acquired' })
    .notAfter(NOON_MS + TTL_MS);
});

test('[LOCK-10] a file that is held below keeps the folder, unless it is one’s own', () => {
  const announced = (caller: Caller) => inLine(caller, [SRC], LATER_MS, [locked('src/api/x.ts', anna)]);
  given(...announced(bert))
    .at(LATER_MS)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .thenRefuses('blocked', { locked_by: 'anna', overlaps: 'src/api/x.ts' });
  given(...announced(anna))
    .at(LATER_MS)
    .when(acquire(anna, SRC, { waiter_id: 'wait-anna' }))
    .answering({ action: 'acquired', file_path: 'src/' });
});

test('[LOCK-10] a pattern locks what matches it', () => {
  const held = holding(anna, TS);
  given(...held)
    .at(LATER_MS)
    .when(acquire(bert, A))
    .thenRefuses('blocked', { overlaps: 'src/**/*.ts' });
  given(...held)
    .at(LATER_MS)
    .when(acquire(bert, { place: 'src/a.css' }))
    .answering({ action: 'acquired' });
});

test('[LOCK-10] several areas are granted together or not at all, and every obstacle is named', () => {
  given()
    .at(NOON_MS)
    .when(acquire(anna, [A, B]))
    .thenCommits(lockEvent('src/a.ts', 'lock_acquired', {}), lockEvent('lib/b.ts', 'lock_acquired', {}))
    .answering({
      action: 'acquired',
      locks: [
        { file_path: 'src/a.ts', action: 'acquired', fencing_token: NOON_MS },
        { file_path: 'lib/b.ts', action: 'acquired', fencing_token: NOON_MS },
      ],
    });
  given(locked('src/a.ts', bert), locked('lib/b.ts', carl))
    .at(LATER_MS)
    .when(acquire(anna, [{ place: 'free.ts' }, A, B]))
    .thenRefuses('blocked', {
      locked_by: 'bert',
      conflicts: [
        { file_path: 'src/a.ts', locked_by: 'bert' },
        { file_path: 'lib/b.ts', locked_by: 'carl' },
      ],
    });
});

test('[LOCK-10] what ran out above or below is written down by whoever goes past it', () => {
  const over_ms = NOON_MS + TTL_MS;
  given(...holding(anna, SRC))
    .at(over_ms)
    .when(acquire(bert, A))
    .thenCommits(
      lockEvent('src/', 'lock_expired', { lease: { token: NOON_MS } }),
      lockEvent('src/a.ts', 'lock_acquired', { lease: { agent_id: 'bert' } }),
      folderEvent('lock_folder_closed', 'src/'),
    );
  const announced = inLine(bert, [SRC], over_ms, [locked('src/a.ts', anna)]);
  given(...announced)
    .at(over_ms)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .thenCommits(
      lockEvent('src/a.ts', 'lock_expired', { lease: { agent_id: 'anna' } }),
      lockEvent('src/', 'lock_acquired', {}),
      lockEvent('src/', 'lock_wait_ended', {}),
    );
});

test('[LOCK-10] more that ran out than fits beside a grant is cleared away first', () => {
  const places = Array.from({ length: limits.expiries_per_commit + 1 }, (_, n) => `src/${n + 10}.ts`);
  const many = places.map((place) => locked(place, anna));
  const over_ms = NOON_MS + TTL_MS;
  const announced = inLine(bert, [SRC], over_ms, many);
  given(...announced)
    .at(over_ms)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .thenFirst({ step: 'tidy', places });
  const tidied = given(...announced)
    .at(over_ms)
    .when(tidyLocks({ places })).facts;
  given(...tidied)
    .at(over_ms)
    .when(acquire(bert, SRC, { waiter_id: 'wait-bert' }))
    .answering({ action: 'acquired' });
  given(...tidied)
    .at(over_ms)
    .when(tidyLocks({ places }))
    .thenRefuses('not_held');
});

test('[LOCK-10] a folder full of what ran out, be it the caller’s own, is cleared and not too much', () => {
  const places = Array.from({ length: limits.locks_below_max }, (_, n) => `src/${n}.ts`);
  const many = places.map((place) => locked(place, bert));
  const announced = inLine(bert, [SRC], NOON_MS + TTL_MS, many);
  const asked = acquire(bert, SRC, { waiter_id: 'wait-bert' });
  given(...announced)
    .at(NOON_MS + TTL_MS)
    .when(asked)
    // One of the records that are read is the folder's own.
    .thenFirst({ step: 'tidy', places: places.sort().slice(0, limits.locks_below_max - 1) });
  given(...inLine(bert, [SRC], NOON_MS, many))
    .at(NOON_MS)
    .when(asked)
    .thenRefuses('too_large');
});

test('[LOCK-10] the list of folders is bounded, and makes room for the living', () => {
  const facts = Array.from({ length: limits.lock_folders_max }, (_, n) => `d${n}/`).flatMap(
    (place) =>
      given()
        .at(NOON_MS)
        .when(wait(anna, [{ place }])).facts,
  );
  const late_ms = NOON_MS + limits.waiter_alive_ms;
  given(...facts)
    .at(late_ms)
    .when(wait(bert, [SRC]))
    .thenRefuses('too_large', { folders_max: limits.lock_folders_max });
  const tidied = given(...facts)
    .at(late_ms)
    .when(tidyLocks({ offset: 0 })).facts;
  given(...tidied)
    .at(late_ms)
    .when(wait(bert, [SRC]))
    .answering({ success: true });
});

test('[LOCK-10] refreshing a folder needs no announcement, and a new pattern in it does', () => {
  const held = holding(anna, SRC);
  given(...held)
    .at(LATER_MS)
    .when(acquire(anna, SRC))
    .thenCommits(lockEvent('src/', 'lock_refreshed', { lease: { token: NOON_MS } }))
    .notAfter(NOON_MS + TTL_MS);
  given(...holding(anna, TS))
    .at(LATER_MS)
    .when(acquire(anna, { place: 'src/', pattern: 'src/*.css' }))
    .thenFirst({ step: 'announce' });
});

test('[LOCK-10] each is released by its own name, and the last one closes the folder', () => {
  const held = holding(anna, SRC, holding(anna, TS));
  const release = (area: Area, caller: Caller) => releaseLock({ area, caller });
  given(...held)
    .at(LATER_MS)
    .when(release(TS, bert))
    .thenRefuses('not_holder');
  const once = given(...held)
    .at(LATER_MS)
    .when(release(TS, anna));
  once.thenCommits(lockEvent('src/', 'lock_released', { token: NOON_MS, pattern: 'src/**/*.ts' }));
  given(...once.facts)
    .at(LATER_MS)
    .when(release(TS, anna))
    .thenRefuses('not_held');
  given(...once.facts)
    .at(LATER_MS)
    .when(release(SRC, anna))
    .thenCommits(lockEvent('src/', 'lock_released', {}), folderEvent('lock_folder_closed', 'src/'))
    .answering({ released: true, file_path: 'src/' });
});

test('[LOCK-10] several are released with an answer about each; one that is not held keeps none of the others', () => {
  given(locked('src/a.ts', anna), locked('lib/b.ts', bert))
    .at(LATER_MS)
    .when(releaseLocks([A, B].map((area) => ({ area, caller: anna }))))
    .thenCommits(lockEvent('src/a.ts', 'lock_released', { token: NOON_MS }))
    .answering({
      success: false,
      released: false,
      results: [
        { success: true, released: true, file_path: 'src/a.ts' },
        { success: false, error: 'not_holder', file_path: 'lib/b.ts' },
      ],
    });
});

function check(areas: Area[] | undefined, ...facts: Fact[]): JsonObject {
  const loaded = new LoadedSet();
  load(folded(facts), checkLocksNeeds(areas), loaded);
  const more = checkLocksMore(areas, loaded);
  if (more !== undefined) load(folded(facts), more, loaded);
  return checkLocks(areas, loaded, LATER_MS);
}

test('[LOCK-10] [LOCK-11] the list shows folders, patterns, readers and who waits; a path shows what covers it', () => {
  const facts = inLine(bert, [A], NOON_MS, holding(anna, TS, holding(anna, SRC, [], { shared: true })));
  const ts = { file_path: 'src/**/*.ts', locked_by: 'anna' };
  const src = { file_path: 'src/', locked_by: 'anna', shared: true };
  const waiting = [{ file_path: 'src/a.ts', agent_id: 'bert', waiting_since_at: isoTime(NOON_MS) }];
  assert.partialDeepStrictEqual(check(undefined, ...facts), { locks: [src, ts], waiting });
  assert.partialDeepStrictEqual(check([A], ...facts), { locks: [src, ts], waiting });
  const css = check([{ place: 'src/a.css' }], ...facts);
  assert.deepEqual(
    (css.locks as JsonObject[]).map(({ file_path }) => file_path),
    ['src/'],
  );
  assert.equal(css.waiting, undefined);
  assert.deepEqual(check([B], ...facts), { success: true, locks: [] });
  const below = check([SRC], locked('src/api/x.ts', bert));
  assert.partialDeepStrictEqual(below, { locks: [{ file_path: 'src/api/x.ts', locked_by: 'bert' }] });
});

test('[LOCK-10] [QUEUE-8] a task waits while a folder, a pattern or a reader of another agent covers its files', () => {
  const take = (caller: Caller) =>
    getWork({ caller, task_types: undefined, count: 1, lease_ms: TTL_MS, settled: true }).decision;
  const task = submitted('t1', { files: ['src/a.ts'] });
  const reading = given()
    .at(NOON_MS)
    .when(acquire(anna, A, { shared: true })).facts;
  for (const facts of [holding(anna, SRC), holding(anna, TS), holding(anna, { place: './' }), reading]) {
    given(task, ...facts)
      .at(LATER_MS)
      .when(take(bert))
      .thenRefuses('no_tasks_available');
    given(task, ...facts)
      .at(LATER_MS)
      .when(take(anna))
      .answering({ success: true });
  }
  given(task, ...holding(anna, { place: 'src/', pattern: 'src/*.css' }))
    .at(LATER_MS)
    .when(take(bert))
    .answering({ success: true });
  given(task, ...inLine(anna, [A], NOON_MS, []))
    .at(LATER_MS)
    .when(take(bert))
    .answering({ success: true });
});
