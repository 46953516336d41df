import { covers, isFolderPlace, overlap } from '../../kernel/area.ts';
import { limits } from '../../kernel/limits.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Demand } from '../../runtime/access.ts';
import {
  type ExclusiveLock,
  everyExclusiveLock,
  everyPlace,
  exclusiveLocksInReach,
  furtherNeeds,
  reachOf,
} from '../locks/index.ts';
import type { Standing } from './profile.ts';

/**
 * Up to this many files are looked up one by one, and then expected unchanged; more are checked with one
 * listing of all locks.
 */
const BY_FILE_MAX = 40;

/**
 * What has to be read to know whether the caller holds the files it changes; undefined: all of it has been
 * read.
 */
export function lockNeeds(files: readonly string[], loaded: Loaded): Needs | undefined {
  if (files.length > BY_FILE_MAX) return loaded.hasList(everyPlace) ? undefined : { ranges: [everyPlace] };
  const reach = reachOf(files.map((place) => ({ place })));
  const missing = (reach.needs.keys ?? []).filter((key) => !loaded.hasKey(key));
  const ranges = (reach.needs.ranges ?? []).filter((range) => !loaded.hasList(range));
  if (missing.length + ranges.length > 0) return { keys: missing, ranges };
  return furtherNeeds(reach, loaded);
}

/** Why the files may not be changed: the agent does not hold their locks, as its profile demands. */
export function refuseUnlocked(
  files: readonly string[],
  { profile }: Standing,
  { actor }: Demand,
  loaded: Loaded,
  now_ms: number,
): Refusal | undefined {
  const locks =
    files.length > BY_FILE_MAX
      ? everyExclusiveLock(loaded, now_ms)
      : exclusiveLocksInReach(reachOf(files.map((place) => ({ place }))), loaded, now_ms);
  if (locks === undefined)
    return refuse('too_large', `Name at most ${BY_FILE_MAX} files at once while so many locks are held.`);
  const bare = files.filter((place) => !isHeld(place, locks, actor));
  if (bare.length === 0) return undefined;
  const shown = bare.slice(0, 5).join(', ');
  const more = bare.length > 5 ? ` and ${bare.length - 5} more` : '';
  return refuse('lock_required', `You change ${shown}${more} without holding the lock.`, {
    file_paths: bare.slice(0, limits.paths_per_call),
    profile: profile.name,
  });
}

function isHeld(place: string, locks: readonly ExclusiveLock[], { agent_id }: Actor): boolean {
  const reaches = isFolderPlace(place) ? covers : overlap;
  return locks.some(({ area, lease }) => lease.agent_id === agent_id && reaches(area, { place }));
}
