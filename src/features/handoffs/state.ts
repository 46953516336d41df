import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { refuse } from '../../kernel/refusal.ts';
import {
  commit,
  type Decision,
  type Loaded,
  type Needs,
  prefixed,
  type Range,
  refused,
  type Verdict,
} from '../../ledger/decision.ts';
import type { EntityKey, EntityType } from '../../ledger/entity.ts';
import { newestFirst } from '../../ledger/index-order.ts';
import type { Caller } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';

/** What one session leaves for the next. */
export interface Handoff {
  agent_name: string;
  session_id: string;
  summary: string;
  completed_work: string[];
  in_progress: string[];
  decisions: string[];
  next_steps: string[];
  relevant_files: string[];
  created_at_ms: number;
}

const HANDOFF = 'handoff';

const ALL = 'all/';

/** Names contain no line breaks, so no name is a prefix of another name's key. */
function ofAgent(agent_name: string): string {
  return `${agent_name}\n`;
}

export const handoffEntity: EntityType<Handoff> = {
  kind: HANDOFF,
  evolve(_state, event, at_ms) {
    if (event.type !== 'handoff_written') throw new Error(`unknown event of a hand-off: ${event.type}`);
    return { ...(event.data as unknown as Handoff), created_at_ms: at_ms };
  },
  index(state) {
    const when = newestFirst(state.created_at_ms);
    return { sort: `${ALL}${when}`, group: `${ofAgent(state.agent_name)}${when}` };
  },
};

export function handoffKey(id: string): EntityKey {
  return { kind: HANDOFF, id };
}

export type NewHandoff = Omit<Handoff, 'agent_name' | 'session_id' | 'created_at_ms'>;

export function writeHandoff(id: string, caller: Caller, handoff: NewHandoff): Decision<JsonObject> {
  return {
    needs: { keys: [handoffKey(id)] },
    decide: () => handoffWritten(id, caller, handoff),
  };
}

/** Under an id derived from its subject: writing it again changes nothing. */
export function writeHandoffOnce(id: string, author: SessionName, handoff: NewHandoff): Decision<JsonObject> {
  return {
    needs: { keys: [handoffKey(id)] },
    decide: (loaded) =>
      loaded.get(handoffKey(id)) === undefined
        ? handoffWritten(id, author, handoff)
        : refused(refuse('wrong_status', 'It was handed over before.')),
  };
}

export function handoffWritten(id: string, author: SessionName, handoff: NewHandoff): Verdict<JsonObject> {
  const { agent_id, session_id } = author;
  const data = { agent_name: agent_id, session_id, ...handoff } as unknown as JsonObject;
  return commit([{ ...handoffKey(id), type: 'handoff_written', data }], { success: true, handoff_id: id });
}

/** Newest first. */
export function handoffRange(agent_name: string | undefined, limit: number): Range {
  return agent_name === undefined
    ? prefixed('sort', HANDOFF, ALL, limit)
    : prefixed('group', HANDOFF, ofAgent(agent_name), limit);
}

export function handoffNeeds(agent_name: string | undefined, limit: number): Needs {
  return { ranges: [handoffRange(agent_name, limit)] };
}

export function listHandoffs(range: Range, loaded: Loaded): JsonObject[] {
  return loaded.list<Handoff>(range).map(({ id, state }) => {
    const { created_at_ms, ...rest } = state;
    return { handoff_id: id, ...rest, created_at: isoTime(created_at_ms) };
  });
}
