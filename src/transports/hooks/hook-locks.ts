import {
  AUTOMATIC,
  areaOf,
  checkLocks,
  checkLocksMore,
  checkLocksNeeds,
  foldersKey,
  type Held,
  heldLocks,
  type LockState,
  lockedFolders,
  lockKey,
  placeOf,
  releaseLock,
} from '../../features/locks/index.ts';
import { type SessionState, sessionKey } from '../../features/sessions/index.ts';
import { rulebookKey } from '../../features/trust/index.ts';
import { type Area, areaName, covers, isFolderPlace, overlap } from '../../kernel/area.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { normaliseArea } from '../../kernel/path.ts';
import { isRefusal, type Refusal } from '../../kernel/refusal.ts';
import type { Loaded } from '../../ledger/decision.ts';
import { acquireAutomatically } from '../shared/automatic-locks.ts';
import type { HookPlace } from './hook-place.ts';

export const TTL_MINUTES = limits.lock_ttl_minutes_default;
/** If one of the agent's own locks has less time left than this, it is extended before the edit. */
const ENOUGH_MS = (TTL_MINUTES * 60_000) / 4;

/** The locks on these places, as `check_locks` lists them; no row of the log says that a hook has looked. */
export async function locksOn(place: HookPlace, names?: readonly string[]): Promise<JsonObject[]> {
  const { store, project } = place.coxswain;
  const areas = names === undefined ? undefined : areasOf(place, names);
  let found = await store.find(project, checkLocksNeeds(areas));
  const more = checkLocksMore(areas, found.loaded);
  if (more !== undefined) found = await store.find(project, more);
  return checkLocks(areas, found.loaded, found.now_ms).locks as JsonObject[];
}

/** A tool call with more files than this is not checked: no agent locks so many one by one. */
export const FILES_MAX = 500;

/** What is known of the files a call would write, and of the agent that makes it. */
export interface Looked {
  readonly names: readonly string[];
  readonly areas: readonly Area[];
  readonly loaded: Loaded;
}

/**
 * One read for everything an ordinary edit needs. It also shows whether the agent gave a sign of life lately,
 * so that it need not give another.
 */
export async function lookAt(place: HookPlace, names: readonly string[]): Promise<Looked> {
  const { coxswain, connection, actor } = place;
  const session = sessionKey(actor);
  const areas = names.length > FILES_MAX ? [] : areasOf(place, names);
  const keys = [rulebookKey, session, foldersKey, ...areas.map((area) => lockKey(area.place))];
  const { loaded } = await coxswain.store.find(coxswain.project, { keys });
  const state = loaded.get<SessionState>(session)?.state;
  if (state !== undefined && state.ended_at_ms === undefined) connection.wasHeard(state.last_active_ms);
  return { names, areas, loaded };
}

/** The names that no lock of the agent's own covers; `lasting`: for a while. */
export async function notHeld(place: HookPlace, looked: Looked, lasting: boolean): Promise<string[]> {
  const { coxswain, actor } = place;
  const { names } = looked;
  const soon_ms = coxswain.clock.now_ms() + (lasting ? ENOUGH_MS : 0);
  const files = plainFiles(place, looked);
  if (files !== undefined)
    return names.filter((_, index) => !files[index]?.some(({ expires_at_ms }) => expires_at_ms > soon_ms));
  const locks = await locksOn(place, names);
  const own = locks
    .filter((lock) => lock.locked_by === actor.agent_id && lock.session_id === actor.session_id)
    .filter((lock) => lock.shared !== true && Date.parse(lock.expires_at as string) > soon_ms)
    .flatMap((lock) => areasOf(place, [lock.file_path as string]));
  if (own.length === 0) return [...names];
  return names.filter((name) => !areasOf(place, [name]).some((area) => own.some((held) => isIn(held, area))));
}

/** The agent's own leases on each, if all are files and no folder is locked: nearly always, and then their records say it all. */
function plainFiles({ actor }: HookPlace, { names, areas, loaded }: Looked): Held[][] | undefined {
  if (areas.length < names.length || lockedFolders(loaded).length > 0) return undefined;
  if (areas.some((area) => area.pattern !== undefined || isFolderPlace(area.place))) return undefined;
  const isOwn = (lease: Held) =>
    lease.agent_id === actor.agent_id && lease.session_id === actor.session_id && lease.shared !== true;
  return areas.map((area) => placeOf(loaded.get<LockState>(lockKey(area.place))?.state).leases.filter(isOwn));
}

/** A file is inside a pattern or it is not; for a folder, only another folder can say for sure. */
function isIn(held: Area, area: Area): boolean {
  return isFolderPlace(area.place) ? covers(held, area) : overlap(held, area);
}

function areasOf({ coxswain }: HookPlace, names: readonly string[]): Area[] {
  return names.flatMap((name) => {
    const normal = normaliseArea(name, coxswain.workspace);
    return normal.ok ? [normal.area] : [];
  });
}

/** What a call has locked by itself, or why it could not. */
export type Taken = { readonly fresh: readonly string[] } | { readonly refusal: Refusal };

/** Locks them all for the agent or, as far as one call's limit lets it, none. Answers what stands in the way. */
export async function take(place: HookPlace, names: readonly string[]): Promise<Taken> {
  const taken: string[] = [];
  for (let start = 0; start < names.length; start += limits.paths_per_call) {
    const part = names.slice(start, start + limits.paths_per_call);
    const answer = await acquireAutomatically(place.connection, part, TTL_MINUTES);
    if (isRefusal(answer)) {
      await release(place, taken);
      return { refusal: answer };
    }
    const fresh = (answer.locks as JsonObject[]).filter(({ action }) => action === 'acquired');
    taken.push(...fresh.map(({ file_path }) => file_path as string));
  }
  return { fresh: taken };
}

/** What a call has locked and will not need, for it is not made. */
export async function release({ connection }: HookPlace, names: readonly string[]): Promise<void> {
  for (let start = 0; start < names.length; start += limits.paths_per_call)
    await connection.performBuilt(releaseLock, {
      file_paths: names.slice(start, start + limits.paths_per_call),
    });
}

/** What was locked for this session by its edits. What it asked for itself stays. */
export async function releaseAutomatic(place: HookPlace): Promise<void> {
  const { coxswain, connection, actor } = place;
  const names: string[] = [];
  for (let page: typeof heldLocks | undefined = heldLocks; page !== undefined; ) {
    const { loaded } = await coxswain.store.find(coxswain.project, { ranges: [page.range] });
    const records = loaded.list<LockState>(page.range);
    for (const { id, state } of records)
      for (const lease of placeOf(state).leases) {
        const isOwn = lease.agent_id === actor.agent_id && lease.session_id === actor.session_id;
        if (!isOwn || lease.reason !== AUTOMATIC) continue;
        const name = areaName(areaOf(id, lease));
        // This grant and no later one: another session of the agent may have taken over the lock.
        connection.adopt(name, lease.token);
        names.push(name);
      }
    page = page.next(records);
  }
  await release(place, names);
}
