import { type AcquireLock, acquireLock } from '../../../src/features/locks/acquire-lock.ts';
import { awaitLock } from '../../../src/features/locks/await-lock.ts';
import { foldersKey } from '../../../src/features/locks/state.ts';
import type { Area } from '../../../src/kernel/area.ts';
import type { EventBody } from '../../../src/ledger/entity.ts';
import type { Caller } from '../../../src/ledger/lease.ts';
import { type Fact, given, MINUTE_MS, NOON_MS } from '../../support/decider-spec.ts';

export const carl: Caller = { agent_id: 'carl', agent_type: 'codex', session_id: 'carl-1' };
export const TTL_MS = 10 * MINUTE_MS;
export const LATER_MS = NOON_MS + 1000;
export const SRC: Area = { place: 'src/' };
export const TS: Area = { place: 'src/', pattern: 'src/**/*.ts' };
export const A: Area = { place: 'src/a.ts' };
export const B: Area = { place: 'lib/b.ts' };

export function acquire(caller: Caller, areas: Area | Area[], more: Partial<AcquireLock> = {}) {
  const list = Array.isArray(areas) ? areas : [areas];
  const single = !Array.isArray(areas);
  return acquireLock({ areas: list, single, caller, ttl_ms: TTL_MS, reason: undefined, ...more });
}

const waiterId = (caller: Caller) => `wait-${caller.agent_id}`;

export function wait(caller: Caller, areas: Area[], more: { shared?: boolean; stays?: boolean } = {}) {
  return awaitLock({ areas, caller, waiter_id: waiterId(caller), stays: false, ...more });
}

export function inLine(caller: Caller, areas: Area[], at_ms: number, facts: Fact[], shared = false): Fact[] {
  return given(...facts)
    .at(at_ms)
    .when(wait(caller, areas, { shared })).facts;
}

/** Announced a moment before noon and granted at noon. */
export function holding(
  caller: Caller,
  area: Area,
  facts: Fact[] = [],
  more: Partial<AcquireLock> = {},
): Fact[] {
  const announced = inLine(caller, [area], NOON_MS - 1, facts, more.shared === true);
  return given(...announced)
    .at(NOON_MS)
    .when(acquire(caller, area, { ...more, waiter_id: waiterId(caller) })).facts;
}

export function folderEvent(type: string, folder: string): EventBody {
  return { ...foldersKey, type, data: { folder } };
}
