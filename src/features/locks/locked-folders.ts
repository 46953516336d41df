import { isFolderPlace } from '../../kernel/area.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import { isEmpty, LOCK, type LockState, lockEntity, lockKey } from './state.ts';

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
