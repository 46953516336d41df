import { type Area, isFolderPlace, overlap } from '../../kernel/area.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import { isOver } from '../../ledger/lease.ts';
import { placesInReach, type Reach } from './reach.ts';
import { areaOf, HELD, type Held, LOCK, type LockState, placeOf } from './state.ts';

export interface ExclusiveLock {
  readonly area: Area;
  readonly lease: Held;
}

/** All places with a lock, as many as one listing shows. */
export const everyPlace: Range = prefixed('sort', LOCK, HELD, limits.locks_listed_max);

/** Undefined: there are more than that, and the caller has to ask file by file. */
export function everyExclusiveLock(loaded: Loaded, now_ms: number): ExclusiveLock[] | undefined {
  const records = loaded.list<LockState>(everyPlace);
  if (records.length >= everyPlace.limit) return undefined;
  return exclusive(
    records.map(({ id, state }) => [id, state]),
    now_ms,
  );
}

export function exclusiveLocksInReach(reach: Reach, loaded: Loaded, now_ms: number): ExclusiveLock[] {
  return exclusive(placesInReach(reach, loaded), now_ms);
}

function exclusive(places: Iterable<readonly [string, LockState]>, now_ms: number): ExclusiveLock[] {
  const locks: ExclusiveLock[] = [];
  for (const [place, state] of places)
    for (const lease of placeOf(state).leases)
      if (lease.shared !== true && !isOver(lease, now_ms)) locks.push({ area: areaOf(place, lease), lease });
  return locks;
}

export interface HeldBy extends ExclusiveLock {
  /** The key of the file. */
  readonly file: string;
}

/**
 * Which of these files are held, and by which lock: on the file itself, on a folder above it or on a pattern.
 */
export function filesHeld(files: Iterable<string>, locks: readonly ExclusiveLock[]): HeldBy[] {
  const wide = locks.filter(({ area }) => isFolderPlace(area.place));
  const single = new Map(
    locks.filter(({ area }) => !isFolderPlace(area.place)).map((each) => [each.area.place, each]),
  );
  const held: HeldBy[] = [];
  for (const file of files) {
    const found = single.get(file) ?? wide.find(({ area }) => overlap(area, { place: file }));
    if (found !== undefined) held.push({ file, ...found });
  }
  return held;
}
