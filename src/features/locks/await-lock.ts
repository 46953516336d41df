import { type Area, areaName, overlap } from '../../kernel/area.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, need, refused } from '../../ledger/decision.ts';
import { standEachOther } from '../../ledger/lease.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { wouldDeadlock } from './blocked.ts';
import { type Blocker, decideWith, isDead, overIn, type ReachFindings, type Wish } from './reach.ts';
import {
  areaOf,
  foldersKey,
  LOCK,
  type LockState,
  lockEvent,
  lockedFolders,
  lockKey,
  placeOf,
  type Waiter,
  withFolders,
} from './state.ts';

export interface AwaitLock extends Wish {
  readonly waiter_id: string;
  /** The caller means to stay in line, so a line that can never move is refused. */
  readonly stays: boolean;
}

/**
 * Puts the caller into the line for everything it wants, in one commit, or reports that it is still waiting.
 * It keeps its place; a waiter that was removed as dead in the meantime starts again at the end.
 */
export function awaitLock(command: AwaitLock): Decision<JsonObject> {
  const { areas, caller, waiter_id } = command;
  return decideWith(command, (findings, loaded, now_ms) => {
    const circle = command.stays ? findCircle(command, findings) : undefined;
    if (circle !== undefined) return refused(wouldDeadlock(circle));
    const since_ms = ownSince(command, loaded) ?? endOfLine(command, findings, now_ms);
    const places = [...new Set(areas.map(({ place }) => place))];
    const events = places.flatMap((place) =>
      overIn(place, loaded.get<LockState>(lockKey(place))?.state, now_ms, waiter_id),
    );
    for (const { place, pattern } of areas) {
      const { waiters } = placeOf(loaded.get<LockState>(lockKey(place))?.state);
      // This very commit removes the dead waiters.
      const others = waiters.filter((each) => each.id !== waiter_id && !isDead(each, now_ms));
      if (others.length >= limits.lock_waiters_max)
        return refused(refuse('too_large', `${limits.lock_waiters_max} already wait for ${place}.`));
      const { agent_id, agent_type, session_id } = caller;
      const about = { shared: command.shared === true ? true : undefined, pattern } as const;
      const alive_until_ms = now_ms + limits.waiter_alive_ms;
      const waiter: Waiter = {
        id: waiter_id,
        agent_id,
        agent_type,
        session_id,
        ...about,
        since_ms,
        alive_until_ms,
      };
      events.push(lockEvent(place, 'lock_awaited', { waiter: { ...waiter } }));
    }
    const all = withFolders(events, loaded);
    if (all === undefined) return refused(tooManyFolders());
    return commit(all, { success: true, since_ms });
  });
}

function tooManyFolders() {
  const message = `${limits.lock_folders_max} folders are locked or waited for already.`;
  return refuse('too_large', message, { folders_max: limits.lock_folders_max });
}

/** Also of an entry that died: any caller that had passed it would have removed it. */
function ownSince({ areas, waiter_id }: AwaitLock, loaded: Loaded): number | undefined {
  const since = areas.map(({ place, pattern }) => {
    const { waiters } = placeOf(loaded.get<LockState>(lockKey(place))?.state);
    return waiters.find((each) => each.id === waiter_id && each.pattern === pattern)?.since_ms;
  });
  return since.includes(undefined) ? undefined : since[0];
}

/** Behind every visible waiter, even if the clock was set back since they came. */
function endOfLine({ areas }: AwaitLock, { waiters }: ReachFindings, now_ms: number): number {
  const others = waiters.filter(({ area }) => areas.some((wanted) => overlap(wanted, area)));
  return Math.max(Math.floor(now_ms), ...others.map(({ waiter }) => waiter.since_ms + 1));
}

/**
 * A blocker that itself waits for what the caller holds: for example two holders of a shared lock that both
 * want to write.
 */
function findCircle(wish: Wish, { blockers, own, waiters }: ReachFindings): Blocker | undefined {
  return blockers.find(({ lease, waiter }) =>
    waiters.some(
      (theirs) =>
        theirs.waiter.agent_id === (lease ?? waiter).agent_id &&
        theirs.waiter.agent_id !== wish.caller.agent_id &&
        own.some((mine) => !standEachOther(mine.lease, theirs.waiter) && overlap(mine.area, theirs.area)),
    ),
  );
}

const FREEING = new Set(['lock_released', 'lock_expired', 'lock_refreshed', 'lock_wait_ended']);

/** Whether this row can have freed something for a caller that waits for these areas. */
export function mayFreeLock(areas: readonly Area[], { events }: LogEntry): boolean {
  return events.some(({ kind, id, type, data }) => {
    if (kind !== LOCK || !FREEING.has(type)) return false;
    const area = areaOf(id, { pattern: data.pattern as string | undefined });
    return areas.some((wanted) => overlap(wanted, area));
  });
}

/** Gives up the caller's places in line; refused when it has none. */
export function withdrawLock({
  areas,
  waiter_id,
}: Pick<AwaitLock, 'areas' | 'waiter_id'>): Decision<JsonObject> {
  const places = [...new Set(areas.map(({ place }) => place))];
  return {
    needs: { keys: [foldersKey, ...places.map(lockKey)] },
    decide(loaded) {
      const events = places.flatMap((place) =>
        placeOf(loaded.get<LockState>(lockKey(place))?.state)
          .waiters.filter(({ id }) => id === waiter_id)
          .map(({ pattern }) => lockEvent(place, 'lock_wait_ended', { waiter_id, pattern })),
      );
      const all = withFolders(events, loaded);
      if (all === undefined || all.length === 0)
        return refused(
          refuse('not_held', `Nobody waits as ${waiter_id} for ${areas.map(areaName).join(', ')}.`),
        );
      return commit(all, { success: true });
    },
  };
}

/** One round of logging what has expired, in these places or in the list of folders from `offset` on. */
export function tidyLocks(where: { places: readonly string[] } | { offset: number }): Decision<JsonObject> {
  const named = 'places' in where ? where.places : [];
  return {
    needs: { keys: [foldersKey, ...named.map(lockKey)] },
    decide(loaded, now_ms) {
      const places =
        'offset' in where
          ? lockedFolders(loaded).slice(where.offset, where.offset + TIDIED_PLACES)
          : where.places;
      const unread = places.map(lockKey).filter((key) => !loaded.has(key));
      if (unread.length > 0) return need({ keys: unread });
      const over = places.flatMap((place) =>
        overIn(place, loaded.get<LockState>(lockKey(place))?.state, now_ms),
      );
      const all = withFolders(over.slice(0, TIDIED_AT_ONCE), loaded);
      if (all === undefined || all.length === 0) return refused(refuse('not_held', 'Nothing has run out.'));
      return commit(all, { success: true });
    },
  };
}

/**
 * This many places fit into one commit and, since many agents may have shared one place, this many expired
 * leases into one row.
 */
export const TIDIED_PLACES = 60;
const TIDIED_AT_ONCE = 300;
