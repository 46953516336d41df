import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, type Needs, prefixed, refused } from '../../ledger/decision.ts';
import { API_KEY, apiKey, describeKey, isLive, type KeyRole, type KeyState, keyEvent } from './state.ts';

export interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly agent_id?: string | undefined;
  readonly agent_type?: string | undefined;
  readonly hash: string;
  readonly created_by: string;
  readonly valid_ms?: number | undefined;
}

const EVERY_KEY = prefixed('id', API_KEY, '', limits.keys_max);

export function createKey({ id, valid_ms, ...key }: NewKey): Decision<JsonObject> {
  return {
    needs: { keys: [apiKey(id)], ranges: [EVERY_KEY] },
    decide(loaded, now_ms) {
      if (loaded.get(apiKey(id)) !== undefined) throw new Error(`there already is a key ${id}`);
      // A guard against carelessness, not a strict bound: two calls at once may create one more.
      if (loaded.list(EVERY_KEY).length >= limits.keys_max)
        return refused(refuse('too_large', `There are ${limits.keys_max} keys already.`));
      const expires_at_ms = valid_ms === undefined ? undefined : Math.floor(now_ms) + valid_ms;
      const state: KeyState = { ...key, created_at_ms: Math.floor(now_ms), expires_at_ms };
      const answer = { success: true, ...describeKey(id, state, now_ms) };
      return commit([keyEvent(id, 'key_created', { ...state })], answer);
    },
  };
}

/** Revoking twice is no error; the first time counts. */
export function revokeKey(id: string, agent_id: string): Decision<JsonObject> {
  const key = apiKey(id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const state = loaded.get<KeyState>(key)?.state;
      if (state === undefined)
        return refused(refuse('unknown_key', `There is no key ${id}.`, { key_id: id }));
      if (state.revoked_at_ms !== undefined)
        return commit([], { success: true, ...describeKey(id, state, now_ms) });
      const revoked = { agent_id, revoked_at_ms: Math.floor(now_ms) };
      const answer = describeKey(id, { ...state, revoked_at_ms: revoked.revoked_at_ms }, now_ms);
      return commit([keyEvent(id, 'key_revoked', revoked)], { success: true, ...answer });
    },
  };
}

export const everyKey: Needs = { ranges: [EVERY_KEY] };

export function listKeys(loaded: Loaded, now_ms: number, all: boolean): JsonObject {
  const keys = loaded.list<KeyState>(EVERY_KEY).filter(({ state }) => all || isLive(state, now_ms));
  return { success: true, keys: keys.map(({ id, state }) => describeKey(id, state, now_ms)) };
}

export function anyKeyOpens(loaded: Loaded, now_ms: number): boolean {
  return loaded.list<KeyState>(EVERY_KEY).some(({ state }) => isLive(state, now_ms));
}
