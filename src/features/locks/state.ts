import { type Area, isFolderPlace, ROOT_PLACE } from '../../kernel/area.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { Lease } from '../../ledger/lease.ts';

/** A lease in a place's record: on the whole place, or on what matches a pattern in a folder. */
export interface Held extends Lease {
  readonly shared?: true | undefined;
  readonly pattern?: string | undefined;
  readonly reason?: string | undefined;
}

/**
 * A caller in line, or one that announces a folder before reading what is below it. It holds nothing. A
 * waiter that has not reported for a while is dead, even if no process has noticed.
 */
export interface Waiter {
  readonly id: string;
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
  readonly shared?: true | undefined;
  readonly pattern?: string | undefined;
  /** The order of the line; the id decides between equals. */
  readonly since_ms: number;
  readonly alive_until_ms: number;
}

export interface LockPlace {
  readonly leases: readonly Held[];
  readonly waiters: readonly Waiter[];
}

/**
 * Empty once released: the record stays, so that its version, and with it the fencing token, keeps growing.
 * One exclusive lease on the whole place, which nearly every lock is, is stored as `lease` and `reason`;
 * everything else is stored in lists.
 */
export interface LockState {
  lease?: Lease | undefined;
  reason?: string | undefined;
  leases?: readonly Held[] | undefined;
  waiters?: readonly Waiter[] | undefined;
}

export const LOCK = 'lock';

/**
 * Every place with a lease or a waiter is under this prefix, by its key: everything below a folder is one
 * range.
 */
export const HELD = 'held/';

export function lockKey(path: string): EntityKey {
  return { kind: LOCK, id: path };
}

export function lockEvent(path: string, type: string, data: EventBody['data']): EventBody {
  return { kind: LOCK, id: path, type, data };
}

/** What is held or waited for below a folder, files and folders alike. */
export function belowRange(folder: string): Range {
  const prefix = folder === ROOT_PLACE ? HELD : `${HELD}${folder}`;
  return prefixed('sort', LOCK, prefix, limits.locks_below_max);
}

export function placeOf(state: LockState | undefined): LockPlace {
  if (state?.lease !== undefined) return { leases: [{ ...state.lease, reason: state.reason }], waiters: [] };
  return { leases: state?.leases ?? [], waiters: state?.waiters ?? [] };
}

function stateOf({ leases, waiters }: LockPlace): LockState {
  const [only] = leases;
  if (only === undefined && waiters.length === 0) return {};
  const plain = leases.length === 1 && waiters.length === 0 && !only?.shared && only?.pattern === undefined;
  if (plain && only !== undefined) return { lease: leaseOf(only), reason: only.reason };
  return { leases, ...(waiters.length === 0 ? {} : { waiters }) };
}

/** Without the fields that only locks have. */
export function leaseOf({
  agent_id,
  agent_type,
  session_id,
  token,
  granted_at_ms,
  expires_at_ms,
}: Lease): Lease {
  return { agent_id, agent_type, session_id, token, granted_at_ms, expires_at_ms };
}

function isEmpty(state: LockState | undefined): boolean {
  return state?.lease === undefined && !state?.leases?.length && !state?.waiters?.length;
}

export function areaOf(place: string, { pattern }: { readonly pattern?: string | undefined }): Area {
  return pattern === undefined ? { place } : { place, pattern };
}

/** The fields of lock events; each event carries some of them. */
interface LockEventData {
  readonly lease: Lease;
  readonly reason?: string;
  readonly shared?: true;
  readonly pattern?: string;
  readonly token: number;
  readonly waiter: Waiter;
  readonly waiter_id: string;
}

function evolve(state: LockState | undefined, event: EventBody): LockState {
  const { leases, waiters } = placeOf(state);
  const { lease, reason, shared, pattern, token, waiter, waiter_id } = event.data as unknown as LockEventData;
  const others = (gone: number) => leases.filter((held) => held.token !== gone || held.pattern !== pattern);
  switch (event.type) {
    case 'lock_acquired':
    case 'lock_refreshed': {
      const rest = leases.filter((held) => held.agent_id !== lease.agent_id || held.pattern !== pattern);
      return stateOf({ leases: [...rest, { ...lease, shared, pattern, reason }], waiters });
    }
    case 'lock_released':
      return stateOf({ leases: others(token), waiters });
    case 'lock_expired':
      return stateOf({ leases: others(lease.token), waiters });
    case 'lock_awaited': {
      const rest = waiters.filter(({ id, pattern }) => id !== waiter.id || pattern !== waiter.pattern);
      return stateOf({ leases, waiters: [...rest, waiter] });
    }
    case 'lock_wait_ended': {
      const rest = waiters.filter((each) => each.id !== waiter_id || each.pattern !== pattern);
      return stateOf({ leases, waiters: rest });
    }
    default:
      throw new Error(`unknown event of a lock: ${event.type}`);
  }
}

export const lockEntity: EntityType<LockState> = {
  kind: LOCK,
  evolve,
  index: (state, id) => (isEmpty(state) ? {} : { sort: `${HELD}${id}` }),
};

export function hasFolder(areas: readonly Area[]): boolean {
  return areas.some(({ place }) => isFolderPlace(place));
}

/**
 * The folders that are locked or waited for, in one record. A commit that locks a file expects it unchanged.
 * So one read says whether any folder above matters, and no folder is locked between that read and the
 * commit.
 */
export interface FoldersState {
  readonly folders: readonly string[];
}

const LOCK_FOLDERS = 'lock_folders';

export const foldersKey: EntityKey = { kind: LOCK_FOLDERS, id: 'all' };

export const lockFoldersEntity: EntityType<FoldersState> = {
  kind: LOCK_FOLDERS,
  steady: true,
  everyones: true,
  evolve(state, event) {
    const folder = event.data.folder as string;
    const rest = (state?.folders ?? []).filter((each) => each !== folder);
    switch (event.type) {
      case 'lock_folder_opened':
        return { folders: [...rest, folder] };
      case 'lock_folder_closed':
        return { folders: rest };
      default:
        throw new Error(`unknown event of the locked folders: ${event.type}`);
    }
  },
  index: () => ({}),
};

export function lockedFolders(loaded: Loaded): readonly string[] {
  return loaded.get<FoldersState>(foldersKey)?.state.folders ?? [];
}

/**
 * The events, and what they change in the list of folders. Undefined: the list has no room for another
 * folder.
 */
export function withFolders(events: readonly EventBody[], loaded: Loaded): EventBody[] | undefined {
  const touched = new Set(
    events.filter(({ kind, id }) => kind === LOCK && isFolderPlace(id)).map(({ id }) => id),
  );
  if (touched.size === 0) return [...events];
  const listed = new Set(lockedFolders(loaded));
  const changes: EventBody[] = [];
  for (const folder of touched) {
    const before = loaded.has(lockKey(folder)) ? loaded.get<LockState>(lockKey(folder))?.state : undefined;
    const after = events
      .filter(({ kind, id }) => kind === LOCK && id === folder)
      .reduce<LockState | undefined>((state, event) => lockEntity.evolve(state, event, 0), before);
    if (isEmpty(after) === !listed.has(folder)) continue;
    changes.push({
      ...foldersKey,
      type: isEmpty(after) ? 'lock_folder_closed' : 'lock_folder_opened',
      data: { folder },
    });
  }
  const opened = changes.filter(({ type }) => type === 'lock_folder_opened').length;
  if (listed.size + 2 * opened - changes.length > limits.lock_folders_max) return undefined;
  return [...events, ...changes];
}
