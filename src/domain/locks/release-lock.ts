import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import { type Caller, type Lease, standing } from '../lease.ts';
import { supersededLock } from './acquire-lock.ts';
import { type LockState, lockEvent, lockKey } from './lock.ts';

export interface ReleaseLock {
  readonly path: string;
  readonly caller: Caller;
}

export function releaseLock({ path, caller }: ReleaseLock): Decision<JsonObject> {
  const key = lockKey(path);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const current = standing(loaded.get<LockState>(key)?.state.lease, caller, now_ms);
      switch (current.standing) {
        case 'free':
          return refused(notHeld(path, current.lapsed));
        case 'superseded':
          return refused(supersededLock(path, caller, current.lease));
        case 'taken':
          return refused(notHolder(path, current.lease));
        case 'mine': {
          const event = lockEvent(path, 'lock_released', { token: current.lease.token });
          const answer = { success: true, released: true, file_path: path };
          return commit([event], answer, current.lease.expires_at_ms);
        }
      }
    },
  };
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
