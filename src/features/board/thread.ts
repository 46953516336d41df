import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';

/**
 * The versions of one thing, named after its first version. A record exists only when there is more to say:
 * another version, or work that was sent back.
 */
export interface ThreadState {
  /** The newest version. */
  readonly artefact_id: string;
  readonly version: number;
  /** Rounds of rework that were started. */
  readonly reworks: number;
  /** Rounds that people have granted beyond the limit. */
  readonly granted: number;
}

export type ThreadRecord = EntityRecord<ThreadState>;

const THREAD = 'thread';

export function threadKey(logical_id: string): EntityKey {
  return { kind: THREAD, id: logical_id };
}

function threadEvent(logical_id: string, type: string, data: EventBody['data']): EventBody {
  return { ...threadKey(logical_id), type, data };
}

export function advanced(logical_id: string, artefact_id: string, version: number): EventBody {
  return threadEvent(logical_id, 'thread_advanced', { artefact_id, version });
}

export function sentBack(logical_id: string, claim_id: string): EventBody {
  return threadEvent(logical_id, 'rework_started', { claim_id });
}

export function roundGranted(logical_id: string, granted_by: string): EventBody {
  return threadEvent(logical_id, 'rework_granted', { granted_by });
}

const firstOf = (logical_id: string): ThreadState => ({
  artefact_id: logical_id,
  version: 1,
  reworks: 0,
  granted: 0,
});

export function threadOf(record: ThreadRecord | undefined, logical_id: string): ThreadState {
  return record?.state ?? firstOf(logical_id);
}

export const threadEntity: EntityType<ThreadState> = {
  kind: THREAD,
  evolve(before, event) {
    const state = before ?? firstOf(event.id);
    switch (event.type) {
      case 'thread_advanced': {
        const { artefact_id, version } = event.data as { artefact_id: string; version: number };
        return { ...state, artefact_id, version };
      }
      case 'rework_started':
        return { ...state, reworks: state.reworks + 1 };
      case 'rework_granted':
        return { ...state, granted: state.granted + 1 };
      default:
        throw new Error(`unknown event of a thread: ${event.type}`);
    }
  },
  index: () => ({}),
};
