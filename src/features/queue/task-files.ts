import { foldersAbove, overlap } from '../../kernel/area.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord } from '../../ledger/entity.ts';
import { isOver } from '../../ledger/lease.ts';
import { areaOf, foldersKey, type LockState, lockedFolders, lockKey, placeOf } from '../locks/index.ts';
import type { TaskRecord } from './state.ts';

/**
 * The list of locked folders, the line, the caller's count of claims, the rulebook, and the session's usage.
 */
const BESIDES = 5;

/**
 * Locks that cover none of the task's files are not read, so few remain: this many fit beside the files' own.
 */
const FOLDERS_MAX = limits.entities_per_commit - limits.entities_per_take - BESIDES;

/** The files' locks, and those of the locked folders above them. */
export function locksToRead(tasks: readonly TaskRecord[], loaded: Loaded): EntityKey[] {
  const files = tasks.flatMap(({ state }) => state.files);
  if (files.length === 0) return [];
  // The commit also expects its absence: no folder is locked in between.
  if (!loaded.hasKey(foldersKey))
    return [foldersKey, ...files.map(lockKey)].filter((key) => !loaded.hasKey(key));
  const above = new Set(files.flatMap((path) => lockedAbove(path, loaded)));
  const keys = [...files, ...[...above].slice(0, FOLDERS_MAX)].map(lockKey);
  return keys.filter((key) => !loaded.hasKey(key));
}

function lockedAbove(path: string, loaded: Loaded): string[] {
  const listed = lockedFolders(loaded);
  return listed.length === 0 ? [] : foldersAbove(path).filter((folder) => listed.includes(folder));
}

/**
 * A task changes its files, so even another agent's shared lock blocks it. An agent that only waits in line
 * does not.
 */
export function filesAreFree(loaded: Loaded, task: TaskRecord, agent_id: string, now_ms: number): boolean {
  return taskPlacesOf(task, loaded).every(
    ([path, place]) =>
      loaded.hasKey(lockKey(place)) &&
      isFreeOf(place, path, loaded.get<LockState>(lockKey(place)), agent_id, now_ms),
  );
}

/** Each file with the places whose locks can cover it. */
export function taskPlacesOf({ state }: TaskRecord, loaded: Loaded): [path: string, place: string][] {
  return state.files.flatMap((path) =>
    [path, ...lockedAbove(path, loaded)].map((place): [string, string] => [path, place]),
  );
}

function isFreeOf(
  place: string,
  path: string,
  lock: EntityRecord<LockState> | undefined,
  agent_id: string,
  now_ms: number,
): boolean {
  const over = placeOf(lock?.state).leases.filter((lease) => overlap({ place: path }, areaOf(place, lease)));
  return over.every((lease) => lease.agent_id === agent_id || isOver(lease, now_ms));
}
