import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import type { Lease } from '../lease.ts';

export interface LockState {
  /** Undefined once released: the record stays, so that its version and with it the fencing token keep growing. */
  lease?: Lease | undefined;
  reason?: string | undefined;
}

export type LockRecord = EntityRecord<LockState>;

export const LOCK = 'lock';

/** All held locks stand under this prefix, by session: listing them and freeing a dead session's both need it. */
export const HELD = 'held/';

export function lockKey(path: string): EntityKey {
  return { kind: LOCK, id: path };
}

export function lockEvent(path: string, type: string, data: EventBody['data']): EventBody {
  return { kind: LOCK, id: path, type, data };
}

export const lockEntity: EntityType<LockState> = {
  kind: LOCK,
  evolve(_state, event) {
    switch (event.type) {
      case 'lock_acquired':
      case 'lock_refreshed':
        return {
          lease: event.data.lease as unknown as Lease,
          reason: event.data.reason as string | undefined,
        };
      case 'lock_released':
      case 'lock_expired':
        return {};
      default:
        throw new Error(`unknown event of a lock: ${event.type}`);
    }
  },
  index: (state) => (state.lease === undefined ? {} : { sort: `${HELD}${state.lease.session_id}` }),
};
