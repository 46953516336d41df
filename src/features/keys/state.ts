import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';

/**
 * What a key lets its bearer be: one agent; any agent it names (a service that acts for many); or a person,
 * who is of a different kind than all agents and may decide about them.
 */
export type KeyRole = 'agent' | 'service' | 'person';

/** An API key without its secret: the log and the store only know the hash. */
export interface KeyState {
  readonly name: string;
  readonly role: KeyRole;
  readonly agent_id?: string | undefined;
  readonly agent_type?: string | undefined;
  readonly hash: string;
  readonly created_at_ms: number;
  readonly created_by: string;
  readonly expires_at_ms?: number | undefined;
  readonly revoked_at_ms?: number | undefined;
}

export const API_KEY = 'api_key';

export function apiKey(id: string): EntityKey {
  return { kind: API_KEY, id };
}

export function keyEvent(id: string, type: string, data: EventBody['data']): EventBody {
  return { kind: API_KEY, id, type, data };
}

export const keyEntity: EntityType<KeyState> = {
  kind: API_KEY,
  evolve(state, event) {
    switch (event.type) {
      case 'key_created':
        return event.data as unknown as KeyState;
      case 'key_revoked':
        if (state === undefined) throw new Error(`key ${event.id} was revoked before it was made`);
        return { ...state, revoked_at_ms: event.data.revoked_at_ms as number };
      default:
        throw new Error(`unknown event of a key: ${event.type}`);
    }
  },
  index: () => ({}),
};

/** Whether it is valid at that moment. */
export function isLive(state: KeyState, now_ms: number): boolean {
  return state.revoked_at_ms === undefined && (state.expires_at_ms ?? Number.POSITIVE_INFINITY) > now_ms;
}

/** What people see of it; never the hash. */
export function describeKey(id: string, state: KeyState, now_ms: number): JsonObject {
  const { name, role, agent_id, agent_type, created_at_ms, created_by, expires_at_ms, revoked_at_ms } = state;
  const over = revoked_at_ms === undefined ? 'expired' : 'revoked';
  return {
    key_id: id,
    name,
    role,
    agent_id,
    agent_type,
    status: isLive(state, now_ms) ? 'live' : over,
    created_at: isoTime(created_at_ms),
    created_by,
    expires_at: expires_at_ms === undefined ? undefined : isoTime(expires_at_ms),
    revoked_at: revoked_at_ms === undefined ? undefined : isoTime(revoked_at_ms),
  };
}
