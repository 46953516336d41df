import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { Caller } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';
import { type UsageState, usageEnded, usageKey } from '../trust/index.ts';
import { type SessionState, sessionEvent, sessionKey } from './state.ts';

function stateOf(caller: SessionName, loaded: Loaded): SessionState | undefined {
  return loaded.get<SessionState>(sessionKey(caller))?.state;
}

function started({ agent_id, agent_type, session_id }: Caller, capabilities: readonly string[]): EventBody {
  const data = { agent_id, agent_type, session_id, capabilities: [...capabilities] };
  return sessionEvent({ agent_id, session_id }, 'session_started', data);
}

export interface SignOfLife {
  /** It made a call, and is not merely alive. */
  readonly active: boolean;
  /** The calls that this one sign of life stands for. */
  readonly calls: number;
  /**
   * No new sign of life is written within this time: short commands are separate processes and know nothing
   * of each other.
   */
  readonly enough_ms?: number | undefined;
  /** Its known capabilities, in case this is its first sign of life. */
  readonly capabilities?: readonly string[] | undefined;
}

export function touchSession(caller: Caller, sign: SignOfLife): Decision<JsonObject> {
  return {
    needs: { keys: [sessionKey(caller)] },
    decide(loaded, now_ms) {
      const state = stateOf(caller, loaded);
      const { calls, enough_ms = 0 } = sign;
      const answer = { success: true, session_id: caller.session_id };
      if (state === undefined) return commit([started(caller, sign.capabilities ?? [])], answer);
      if (state.ended_at_ms !== undefined)
        return commit([sessionEvent(caller, 'session_resumed', { calls })], { ...answer, resumed: true });
      const since_ms = now_ms - state.last_active_ms;
      if (since_ms >= 0 && since_ms < enough_ms)
        return refused(
          refuse('wrong_status', 'It was heard of a moment ago.', { session_id: caller.session_id }),
        );
      const type = sign.active ? 'session_active' : 'session_heartbeat';
      return commit([sessionEvent(caller, type, { calls })], answer);
    },
  };
}

export interface RegisterSession {
  readonly caller: Caller;
  /** Absent: unchanged. */
  readonly capabilities?: readonly string[] | undefined;
  readonly current_task?: string | undefined;
  readonly token_hash: string;
}

export function registerSession(command: RegisterSession): Decision<JsonObject> {
  const { caller, capabilities, current_task, token_hash } = command;
  return {
    needs: { keys: [sessionKey(caller)] },
    decide(loaded) {
      const state = stateOf(caller, loaded);
      const events = state === undefined ? [started(caller, [])] : [];
      const data: JsonObject = { agent_type: caller.agent_type, token_hash };
      if (capabilities !== undefined) data.capabilities = [...new Set(capabilities)];
      if (current_task !== undefined) data.current_task = current_task;
      events.push(sessionEvent(caller, 'session_registered', data));
      return commit(events, {
        success: true,
        session_id: caller.session_id,
        agent_id: caller.agent_id,
        status: 'active',
        resumed: state?.ended_at_ms === undefined ? undefined : true,
      });
    },
  };
}

/**
 * Ends a session. With `silent_since_ms`, only if it has shown no sign of life since: a session that comes
 * back in the same instant changes that very field, and only one of the two commits.
 */
export function endSession(
  name: SessionName,
  how: { end_reason: string; silent_since_ms?: number | undefined },
): Decision<JsonObject> {
  return {
    needs: { keys: [sessionKey(name), usageKey(name)] },
    decide(loaded) {
      const state = stateOf(name, loaded);
      if (state === undefined || state.ended_at_ms !== undefined)
        return refused(refuse('not_held', 'The session has ended already.', { session_id: name.session_id }));
      if (how.silent_since_ms !== undefined && state.last_heartbeat_ms !== how.silent_since_ms)
        return refused(refuse('wrong_status', 'The session is alive.', { session_id: name.session_id }));
      const { end_reason } = how;
      const answer = { success: true, session_id: name.session_id };
      const usage = loaded.get<UsageState>(usageKey(name))?.state;
      return commit(
        [sessionEvent(name, 'session_ended', { end_reason }), ...usageEnded(name, usage)],
        answer,
      );
    },
  };
}

/** Everything the session held when it ended has been freed. */
export function closeFreeing(name: SessionName, freed: JsonObject): Decision<JsonObject> {
  return {
    needs: { keys: [sessionKey(name)] },
    decide(loaded) {
      const back = refuseToFree(name, loaded);
      return back === undefined
        ? commit([sessionEvent(name, 'session_freed', freed)], { success: true, ...freed })
        : refused(back);
    },
  };
}

/**
 * Only what an ended session holds is freed. The session is read by key, and so expected at the commit: a
 * session that comes back says so before it asks for anything, and from then on nothing of it is freed any
 * more.
 */
export function refuseToFree(name: SessionName, loaded: Loaded): Refusal | undefined {
  if (stateOf(name, loaded)?.freeing === true) return undefined;
  return refuse('wrong_status', 'The session is back, or has been freed.', { session_id: name.session_id });
}
