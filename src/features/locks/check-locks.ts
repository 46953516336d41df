import { type Area, areaName, overlap } from '../../kernel/area.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, type Needs, prefixed } from '../../ledger/decision.ts';
import { isOver } from '../../ledger/lease.ts';
import { furtherNeeds, isDead, placesInReach, reachOf } from './reach.ts';
import { areaOf, HELD, type Held, LOCK, type LockState, placeOf, type Waiter } from './state.ts';

const all = prefixed('sort', LOCK, HELD, limits.locks_listed_max);

export function checkLocksNeeds(areas: readonly Area[] | undefined): Needs {
  return areas === undefined ? { ranges: [all] } : reachOf(areas).needs;
}

/** Adds the locked folders above, which are only known after the first read. */
export function checkLocksMore(areas: readonly Area[] | undefined, loaded: Loaded): Needs | undefined {
  const more = areas === undefined ? undefined : furtherNeeds(reachOf(areas), loaded);
  if (more === undefined || areas === undefined) return undefined;
  const first = reachOf(areas).needs;
  return { ...first, keys: [...(first.keys ?? []), ...(more.keys ?? [])] };
}

/** Who holds what, why, until when, and who waits. A lock past its expiry is not listed: it is free. */
export function checkLocks(areas: readonly Area[] | undefined, loaded: Loaded, now_ms: number): JsonObject {
  const places =
    areas === undefined
      ? loaded.list<LockState>(all).map(({ id, state }) => [id, state] as const)
      : [...placesInReach(reachOf(areas), loaded)];
  const asked = (area: Area) => areas === undefined || areas.some((each) => overlap(each, area));
  const leases: { area: Area; lease: Held }[] = [];
  const waiters: { area: Area; waiter: Waiter }[] = [];
  for (const [place, state] of places) {
    const here = placeOf(state);
    for (const lease of here.leases) leases.push({ area: areaOf(place, lease), lease });
    for (const waiter of here.waiters) waiters.push({ area: areaOf(place, waiter), waiter });
  }
  const locks = leases
    .filter(({ area, lease }) => !isOver(lease, now_ms) && asked(area))
    .map(({ area, lease }) => describe(area, lease))
    .sort(inOrder);
  const waiting = waiters
    .filter(({ area, waiter }) => !isDead(waiter, now_ms) && asked(area))
    .sort((a, b) => a.waiter.since_ms - b.waiter.since_ms || (a.waiter.id < b.waiter.id ? -1 : 1))
    .map(({ area, waiter }) => describeWaiter(area, waiter));
  const more = areas === undefined && places.length === limits.locks_listed_max;
  return {
    success: true,
    locks,
    ...(waiting.length === 0 ? {} : { waiting }),
    ...(more ? { truncated: true } : {}),
  };
}

function inOrder(a: JsonObject, b: JsonObject): number {
  const [x, y] = [`${a.file_path}\0${a.fencing_token}`, `${b.file_path}\0${b.fencing_token}`];
  return x < y ? -1 : x > y ? 1 : 0;
}

function describe(area: Area, lease: Held): JsonObject {
  return {
    file_path: areaName(area),
    locked_by: lease.agent_id,
    agent_type: lease.agent_type,
    session_id: lease.session_id,
    shared: lease.shared,
    locked_at: isoTime(lease.granted_at_ms),
    expires_at: isoTime(lease.expires_at_ms),
    fencing_token: lease.token,
    reason: lease.reason,
  };
}

function describeWaiter(area: Area, waiter: Waiter): JsonObject {
  return {
    file_path: areaName(area),
    agent_id: waiter.agent_id,
    agent_type: waiter.agent_type,
    shared: waiter.shared,
    waiting_since_at: isoTime(waiter.since_ms),
  };
}
