import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type Caller, grant, type Lease, renew, standing } from '../lease.ts';
import { type LockState, lockEvent, lockKey } from './lock.ts';

export interface AcquireLock {
  readonly path: string;
  readonly caller: Caller;
  readonly ttl_ms: number;
  readonly reason: string | undefined;
}

export function acquireLock({ path, caller, ttl_ms, reason }: AcquireLock): Decision<JsonObject> {
  const key = lockKey(path);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const record = loaded.get<LockState>(key);
      const current = standing(record?.state.lease, caller, now_ms);
      if (
        current.standing === 'taken' ||
        (current.standing === 'superseded' && isOthers(current.lease, caller))
      )
        return refused(blocked(path, current.lease, record?.state.reason));
      if (current.standing === 'superseded') return refused(supersededLock(path, caller, current.lease));
      if (current.standing === 'mine' && record !== undefined) {
        const lease = renew(record, current.lease, caller, ttl_ms, now_ms);
        const event = lockEvent(path, 'lock_refreshed', granted(lease, reason ?? record.state.reason));
        // A refresh needs the lease alive until it is committed; past that it is a new acquisition.
        return commit([event], answer('refreshed', path, lease), current.lease.expires_at_ms);
      }
      const lease = grant(record, caller, ttl_ms, now_ms);
      const events: EventBody[] = [];
      if (current.standing === 'free' && current.lapsed !== undefined)
        events.push(lockEvent(path, 'lock_expired', { lease: { ...current.lapsed } }));
      events.push(lockEvent(path, 'lock_acquired', granted(lease, reason)));
      return commit(events, answer('acquired', path, lease));
    },
  };
}

function isOthers(lease: Lease, caller: Caller): boolean {
  return lease.agent_id !== caller.agent_id;
}

function granted(lease: Lease, reason: string | undefined): JsonObject {
  return { lease: { ...lease }, reason };
}

function answer(action: 'acquired' | 'refreshed', path: string, lease: Lease): JsonObject {
  return {
    success: true,
    action,
    file_path: path,
    expires_at: isoTime(lease.expires_at_ms),
    fencing_token: lease.token,
  };
}

function blocked(path: string, lease: Lease, reason: string | undefined) {
  const until = isoTime(lease.expires_at_ms);
  const why = reason === undefined ? '' : ` (${JSON.stringify(reason)})`;
  return refuse('blocked', `${path} is locked by ${lease.agent_id} until ${until}${why}.`, {
    reason: 'locked_by_other',
    file_path: path,
    locked_by: lease.agent_id,
    agent_type: lease.agent_type,
    expires_at: until,
    lock_reason: reason,
  });
}

export function supersededLock(path: string, caller: Caller, lease: Lease) {
  const message = `Grant ${caller.token} of ${path} is over; grant ${lease.token} of ${lease.agent_id} has replaced it.`;
  return refuse('superseded', message, {
    file_path: path,
    locked_by: lease.agent_id,
    expires_at: isoTime(lease.expires_at_ms),
    fencing_token: lease.token,
  });
}
