import { type Area, covers, fileOfFolder, foldersAbove, isFolderPlace, overlap } from '../../kernel/area.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { type Decision, type Loaded, type Needs, need, type Verdict } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EventBody } from '../../ledger/entity.ts';
import { type Caller, isOver, type Sharing, standEachOther } from '../../ledger/lease.ts';
import {
  areaOf,
  belowRange,
  foldersKey,
  type Held,
  type LockState,
  leaseOf,
  lockEvent,
  lockedFolders,
  lockKey,
  placeOf,
  type Waiter,
} from './state.ts';

/** What a caller wants: all of it or nothing. */
export interface Wish extends Sharing {
  readonly areas: readonly Area[];
  readonly caller: Caller;
  /** The name under which it is in line, or has announced itself. */
  readonly waiter_id?: string | undefined;
}

/** Who is in the way of which wanted area, by a lease or by an earlier place in line. */
export type Blocker = { readonly wanted: Area; readonly area: Area } & (
  | { readonly lease: Held; readonly waiter?: undefined }
  | { readonly waiter: Waiter; readonly lease?: undefined }
);

export interface OwnLease {
  readonly area: Area;
  readonly lease: Held;
}

export interface ReachFindings {
  readonly blockers: readonly Blocker[];
  /**
   * What has expired and is no longer in the way. A grant logs it; otherwise a clock set back would revive
   * it.
   */
  readonly over: readonly EventBody[];
  /** The caller's own live leases in reach. */
  readonly own: readonly OwnLease[];
  /** Its place in line, if it is there with everything it wants and has not died meanwhile. */
  readonly line: { readonly since_ms: number; readonly alive_until_ms: number } | undefined;
  /** Every live waiter in reach, including the caller's own. */
  readonly waiters: readonly { readonly area: Area; readonly waiter: Waiter }[];
}

/** Areas, and what has to be read first to decide about them. */
export interface Reach {
  readonly areas: readonly Area[];
  readonly needs: Needs;
}

export function reachOf(areas: readonly Area[]): Reach {
  return { areas, needs: needsOf(areas) };
}

function needsOf(areas: readonly Area[]): Needs {
  const [only] = areas;
  // One file, as nearly always.
  if (areas.length === 1 && only !== undefined && !isFolderPlace(only.place))
    return { keys: [foldersKey, lockKey(only.place)] };
  const keys: EntityKey[] = [foldersKey];
  const folders = [...new Set(areas.map(({ place }) => place).filter(isFolderPlace))];
  const files = folders.flatMap((folder) => fileOfFolder(folder) ?? []);
  for (const place of new Set([...areas.map((area) => area.place), ...files])) keys.push(lockKey(place));
  return { keys, ranges: folders.map(belowRange) };
}

/** The folders above that are locked or waited for. */
export function furtherNeeds({ areas }: Reach, loaded: Loaded): Needs | undefined {
  const keys = above(areas, loaded).filter((key) => !loaded.hasKey(key));
  return keys.length === 0 ? undefined : { keys };
}

function above(areas: readonly Area[], loaded: Loaded): EntityKey[] {
  const listed = new Set(lockedFolders(loaded));
  if (listed.size === 0) return [];
  const folders = new Set(
    areas.flatMap(({ place }) => foldersAbove(place)).filter((each) => listed.has(each)),
  );
  return [...folders].map(lockKey);
}

/** The loaded places whose leases and waiters can matter to these areas. */
export function placesInReach({ areas, needs }: Reach, loaded: Loaded): Map<string, LockState> {
  const places = new Map<string, LockState>();
  const { keys = [], ranges = [] } = needs;
  for (const range of ranges)
    for (const { id, state } of loaded.list<LockState>(range)) places.set(id, state);
  // What was loaded by key may be newer than what a range showed.
  for (const key of [...keys, ...above(areas, loaded)]) {
    if (key.kind === foldersKey.kind) continue;
    const record = loaded.get<LockState>(key);
    if (record === undefined) places.delete(key.id);
    else places.set(key.id, record.state);
  }
  return places;
}

/** What was seen below a folder that contains more than one listing shows. */
export function fullBelow({ needs }: Reach, loaded: Loaded): readonly EntityRecord<LockState>[] | undefined {
  const full = needs.ranges?.find((range) => loaded.list(range).length === range.limit);
  return full === undefined ? undefined : loaded.list<LockState>(full);
}

export function tooMuchBelow(): Refusal {
  const message = `${limits.locks_below_max} or more locks are held below the folder; lock a smaller part of it.`;
  return refuse('too_large', message);
}

export function isDead(waiter: Waiter, now_ms: number): boolean {
  return now_ms >= waiter.alive_until_ms;
}

/** First come, first served. */
function isBefore(a: Pick<Waiter, 'since_ms' | 'id'>, b: Pick<Waiter, 'since_ms' | 'id'>): boolean {
  return a.since_ms < b.since_ms || (a.since_ms === b.since_ms && a.id < b.id);
}

/** A decision about a wish: everything that can matter to it is read first. */
export function decideWith(
  wish: Wish,
  decide: (findings: ReachFindings, loaded: Loaded, now_ms: number) => Verdict<JsonObject>,
): Decision<JsonObject> {
  const reach = reachOf(wish.areas);
  return {
    needs: reach.needs,
    decide(loaded, now_ms) {
      const more = furtherNeeds(reach, loaded);
      return more === undefined ? decide(examine(wish, reach, loaded, now_ms), loaded, now_ms) : need(more);
    },
  };
}

function examine(wish: Wish, reach: Reach, loaded: Loaded, now_ms: number): ReachFindings {
  const blockers: Blocker[] = [];
  const over: EventBody[] = [];
  const own: OwnLease[] = [];
  const waiters: { area: Area; waiter: Waiter }[] = [];
  const line = lineOf(wish, loaded, now_ms);
  const wanted = new Set(wish.areas.map(({ place }) => place));
  for (const [place, state] of placesInReach(reach, loaded)) {
    const { leases, waiters: standing } = placeOf(state);
    for (const lease of leases) {
      const area = areaOf(place, lease);
      const hit = inTheWay(wish, area, lease);
      if (isOver(lease, now_ms)) {
        if (wanted.has(place) || hit.length > 0) over.push(expired(place, lease));
      } else if (lease.agent_id === wish.caller.agent_id) own.push({ area, lease });
      else for (const each of hit) blockers.push({ wanted: each, area, lease });
    }
    for (const waiter of standing) {
      const area = areaOf(place, waiter);
      const hit = inTheWay(wish, area, waiter);
      if (isDead(waiter, now_ms)) {
        if (waiter.id !== wish.waiter_id && (wanted.has(place) || hit.length > 0))
          over.push(waitEnded(place, waiter));
        continue;
      }
      waiters.push({ area, waiter });
      // A newcomer is behind every waiter.
      if (line !== undefined && !isBefore(waiter, { since_ms: line.since_ms, id: wish.waiter_id ?? '' }))
        continue;
      for (const each of hit) blockers.push({ wanted: each, area, waiter });
    }
  }
  const left = blockers.filter(({ wanted }) => !own.some((held) => suffices(held, wanted, wish)));
  return { blockers: left, over, own, line, waiters };
}

/** The wanted areas for which this is an obstacle; an agent is never in its own way. */
function inTheWay(wish: Wish, area: Area, theirs: Sharing & { readonly agent_id: string }): Area[] {
  if (theirs.agent_id === wish.caller.agent_id || standEachOther(wish, theirs)) return [];
  return wish.areas.filter((wanted) => overlap(wanted, area));
}

/** A caller that already has what it asks for, or more, waits for no other agent. */
export function suffices({ area, lease }: OwnLease, wanted: Area, wish: Sharing): boolean {
  return covers(area, wanted) && (lease.shared !== true || wish.shared === true);
}

function lineOf(wish: Wish, loaded: Loaded, now_ms: number): ReachFindings['line'] {
  if (wish.waiter_id === undefined) return undefined;
  let line: { since_ms: number; alive_until_ms: number } | undefined;
  for (const { place, pattern } of wish.areas) {
    const { waiters } = placeOf(loaded.get<LockState>(lockKey(place))?.state);
    const mine = waiters.find((each) => each.id === wish.waiter_id && each.pattern === pattern);
    if (mine === undefined || isDead(mine, now_ms)) return undefined;
    const { since_ms, alive_until_ms } = mine;
    line = { since_ms, alive_until_ms: Math.min(alive_until_ms, line?.alive_until_ms ?? alive_until_ms) };
  }
  return line;
}

function expired(place: string, { pattern, ...lease }: Held): EventBody {
  return lockEvent(place, 'lock_expired', { lease: { ...leaseOf(lease) }, pattern });
}

function waitEnded(place: string, { id, pattern }: Waiter): EventBody {
  return lockEvent(place, 'lock_wait_ended', { waiter_id: id, pattern });
}

/**
 * What has expired in a place, even if it was not in the caller's way: logged by any commit that writes the
 * record anyway.
 */
export function overIn(
  place: string,
  state: LockState | undefined,
  now_ms: number,
  except?: string,
): EventBody[] {
  const { leases, waiters } = placeOf(state);
  const dead = waiters.filter((waiter) => waiter.id !== except && isDead(waiter, now_ms));
  return [
    ...leases.filter((lease) => isOver(lease, now_ms)).map((lease) => expired(place, lease)),
    ...dead.map((waiter) => waitEnded(place, waiter)),
  ];
}
