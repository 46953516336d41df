import { type Area, areaName } from '../../kernel/area.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type Caller, isOver, type Lease, standing } from '../../ledger/lease.ts';
import { supersededLock } from './acquire-lock.ts';
import { overIn } from './reach.ts';
import {
  foldersKey,
  type Held,
  hasFolder,
  type LockState,
  lockEvent,
  lockKey,
  placeOf,
  withFolders,
} from './state.ts';

export interface ReleaseLock {
  readonly area: Area;
  readonly caller: Caller;
}

export function releaseLock(release: ReleaseLock): Decision<JsonObject> {
  return {
    needs: needsOf([release]),
    decide(loaded, now_ms) {
      const ended = end(release, loaded, now_ms);
      if ('refusal' in ended) return refused(ended.refusal);
      const events = written([ended.event], loaded, now_ms);
      return commit(events, ended.answer, ended.not_after_ms);
    },
  };
}

/** Several at once: each has its own answer, and one that is not held does not keep the others locked. */
export function releaseLocks(releases: readonly ReleaseLock[]): Decision<JsonObject> {
  return {
    needs: needsOf(releases),
    decide(loaded, now_ms) {
      const results: JsonObject[] = [];
      const events: EventBody[] = [];
      let not_after_ms = Number.POSITIVE_INFINITY;
      for (const release of releases) {
        const ended = end(release, loaded, now_ms);
        if ('refusal' in ended) {
          results.push(ended.refusal);
          continue;
        }
        results.push(ended.answer);
        events.push(ended.event);
        not_after_ms = Math.min(not_after_ms, ended.not_after_ms);
      }
      const released = events.length === releases.length;
      const answer = { success: released, released, results };
      return commit(written(events, loaded, now_ms), answer, events.length === 0 ? undefined : not_after_ms);
    },
  };
}

function needsOf(releases: readonly ReleaseLock[]) {
  const areas = releases.map(({ area }) => area);
  const keys = [...new Set(areas.map(({ place }) => place))].map(lockKey);
  return { keys: hasFolder(areas) ? [foldersKey, ...keys] : keys };
}

/** Adds what else has expired in these places. */
function written(released: readonly EventBody[], loaded: Loaded, now_ms: number): EventBody[] {
  const places = [...new Set(released.map(({ id }) => id))];
  const over = places.flatMap((place) => overIn(place, loaded.get<LockState>(lockKey(place))?.state, now_ms));
  // Ending leases only makes room in the list of folders.
  return withFolders([...over, ...released], loaded) ?? [];
}

type Ended =
  | { readonly event: EventBody; readonly answer: JsonObject; readonly not_after_ms: number }
  | { readonly refusal: Refusal };

function end({ area, caller }: ReleaseLock, loaded: Loaded, now_ms: number): Ended {
  const { leases } = placeOf(loaded.get<LockState>(lockKey(area.place))?.state);
  const path = areaName(area);
  const current = standing(chosen(leases, area, caller, now_ms), caller, now_ms);
  switch (current.standing) {
    case 'free':
      return { refusal: notHeld(path, current.lapsed) };
    case 'superseded':
      return { refusal: supersededLock(path, caller, current.lease) };
    case 'taken':
      return { refusal: notHolder(path, current.lease) };
    case 'mine': {
      const event = lockEvent(area.place, 'lock_released', {
        token: current.lease.token,
        pattern: area.pattern,
      });
      const answer = { success: true, released: true, file_path: path };
      return { event, answer, not_after_ms: current.lease.expires_at_ms };
    }
  }
}

/** The lease that is released: the caller's own; else the one it names; else whichever is there. */
function chosen(leases: readonly Held[], area: Area, caller: Caller, now_ms: number): Held | undefined {
  const here = leases.filter(({ pattern }) => pattern === area.pattern);
  const live = here.filter((lease) => !isOver(lease, now_ms));
  return (
    live.find(({ agent_id }) => agent_id === caller.agent_id) ??
    live.find(({ token }) => token === caller.token) ??
    live[0] ??
    here[0]
  );
}

function notHeld(path: string, lapsed: Lease | undefined) {
  const when =
    lapsed === undefined ? '' : ` ${lapsed.agent_id}'s lock ran out at ${isoTime(lapsed.expires_at_ms)}.`;
  return refuse('not_held', `Nobody holds ${path}.${when}`, { released: false, file_path: path });
}

function notHolder(path: string, lease: Lease) {
  const until = isoTime(lease.expires_at_ms);
  return refuse('not_holder', `${path} is held by ${lease.agent_id} until ${until}; it stays locked.`, {
    released: false,
    file_path: path,
    locked_by: lease.agent_id,
    expires_at: until,
  });
}
