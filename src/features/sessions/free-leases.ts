import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, prefixed, type Range, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type HeldPage, isHeldBy } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';
import { foldersKey, type LockState, lockEvent, lockKey, placeOf, withFolders } from '../locks/index.ts';
import { DUE, dueAt_ms, dueKey, giveBack, TASK, type TaskState, taskKey } from '../queue/index.ts';
import { refuseToFree } from './change-session.ts';
import { sessionKey } from './state.ts';

export const claimedTasks: HeldPage<TaskState> = taskPage(DUE);

function taskPage(from: string): HeldPage<TaskState> {
  const range: Range = { ...prefixed('sort', TASK, DUE, limits.range_rows_max), from };
  return {
    range,
    heldBy: (records, session) =>
      records
        .filter(({ state }) => state.lease !== undefined && isHeldBy(state.lease, session))
        .map(({ id }) => id),
    next(records) {
      const last = records.at(-1);
      if (records.length < range.limit || last === undefined) return undefined;
      const key = dueKey(dueAt_ms(last.state));
      // More than a page of them at one instant: the rest follows when these are gone.
      return key === from ? undefined : taskPage(key);
    },
  };
}

/** Releases what an ended session holds in these places. */
export function freeLocks(session: SessionName, places: readonly string[]): Decision<JsonObject> {
  return {
    needs: { keys: [sessionKey(session), foldersKey, ...places.map(lockKey)] },
    decide(loaded) {
      const back = refuseToFree(session, loaded);
      if (back !== undefined) return refused(back);
      const released: EventBody[] = [];
      for (const place of places)
        for (const lease of placeOf(loaded.get<LockState>(lockKey(place))?.state).leases)
          if (isHeldBy(lease, session)) {
            const { token, pattern, agent_id } = lease;
            released.push(
              lockEvent(place, 'lock_released', { token, pattern, agent_id, cause: 'session_ended' }),
            );
          }
      if (released.length === 0) return refused(refuse('not_held', 'Nothing of it is held there.'));
      // Ending leases only makes room in the list of folders.
      return commit(withFolders(released, loaded) ?? [], { success: true, freed: released.length });
    },
  };
}

/**
 * Its claims end as if they had expired: back to the queue, or to the dead letters after the last attempt.
 */
export function freeTasks(session: SessionName, task_ids: readonly string[]): Decision<JsonObject> {
  return {
    needs: { keys: [sessionKey(session), ...task_ids.map(taskKey)] },
    decide(loaded, now_ms) {
      const back = refuseToFree(session, loaded);
      if (back !== undefined) return refused(back);
      const events = task_ids.flatMap((id) => {
        const task = loaded.get<TaskState>(taskKey(id));
        if (task?.state.lease === undefined || !isHeldBy(task.state.lease, session)) return [];
        return giveBack(task, now_ms);
      });
      if (events.length === 0) return refused(refuse('not_held', 'None of them is its own.'));
      return commit(events, { success: true, freed: events.length });
    },
  };
}
