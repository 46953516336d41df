import type { JsonObject } from '../../kernel/json.ts';
import { command, commit, type Decision, refused } from '../../ledger/decision.ts';
import type { EntityKey, EntityType } from '../../ledger/entity.ts';
import type { Actor } from '../../ledger/log.ts';
import type { TrustLevel } from '../../runtime/access.ts';
import { type RulebookState, rulebookKey, standingOf } from './rulebook.ts';
import { overLimit } from './usage.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;

/**
 * The calls of an agent across all its sessions, by the minute. Kept only for agents whose profile limits
 * them.
 */
interface CallsState {
  readonly minutes: readonly (readonly [minute: number, calls: number])[];
}

const CALLS = 'calls';

function callsKey(agent_id: string): EntityKey {
  return { kind: CALLS, id: agent_id };
}

export const callsEntity: EntityType<CallsState> = {
  kind: CALLS,
  evolve(state, event, at_ms) {
    if (event.type !== 'call_counted') throw new Error(`unknown event of calls: ${event.type}`);
    const minute = Math.floor(at_ms / MINUTE_MS);
    const recent = within(state, minute);
    const last = recent.at(-1);
    // If the clock was set back, the call counts into the newest minute: no agent gains an hour.
    if (last !== undefined && last[0] >= minute)
      return { minutes: [...recent.slice(0, -1), [last[0], last[1] + 1]] };
    return { minutes: [...recent, [minute, 1]] };
  },
  index: () => ({}),
};

function within(state: CallsState | undefined, minute: number): CallsState['minutes'] {
  return (state?.minutes ?? []).filter(([each]) => each > minute - MINUTES);
}

/** Counts one call before it is made; refused when the profile's hourly limit is reached. */
function decideCountCall(actor: Actor, default_trust?: TrustLevel): Decision<JsonObject> {
  const key = callsKey(actor.agent_id);
  return {
    needs: { keys: [rulebookKey, key] },
    decide(loaded, now_ms) {
      const { profile } = standingOf(loaded.get<RulebookState>(rulebookKey)?.state, actor, default_trust);
      const { max_api_calls_per_hour: allowed } = profile.resource_limits;
      if (allowed === undefined) return commit([], { success: true });
      const state = loaded.get<CallsState>(key)?.state;
      const calls = within(state, Math.floor(now_ms / MINUTE_MS)).reduce((sum, [, each]) => sum + each, 0);
      if (calls >= allowed) {
        const message = `Your profile ${profile.name} allows ${allowed} calls an hour, and they are used up.`;
        return refused(overLimit('max_api_calls_per_hour', allowed, message, profile.name));
      }
      return commit([{ ...key, type: 'call_counted', data: {} }], { success: true, calls: calls + 1 });
    },
  };
}

export const countCall = command('count_call', decideCountCall);
