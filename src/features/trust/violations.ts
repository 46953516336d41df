import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Loaded, prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst } from '../../ledger/index-order.ts';
import type { Actor } from '../../ledger/log.ts';
import type { Category } from './finding.ts';

/** The outcome: `elevated` went ahead on the profile's trust, `approved` on a person's decision. */
export type ViolationOutcome = 'blocked' | 'asked' | 'warned' | 'elevated' | 'approved';

/** An agent attempted something dangerous. */
export interface Violation {
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
  readonly operation: string;
  readonly category: Category;
  readonly pattern_matched: string;
  readonly matched_text: string;
  readonly context: JsonObject;
  readonly blocked: boolean;
  readonly outcome: ViolationOutcome;
  readonly trust_level: number;
  readonly approval_id?: string | undefined;
  readonly created_at_ms: number;
}

/** How often. The number is also part of the next violation's id, so that no two have the same id. */
export interface ViolationCount {
  readonly agent_id: string;
  readonly recorded: number;
  readonly blocked: number;
  /**
   * Blocked violations since trust was last lowered for them, without mere repetitions of a pending request.
   */
  readonly towards_lowering: number;
  readonly last_at_ms: number;
}

const VIOLATION = 'violation';
const VIOLATION_COUNT = 'violation_count';
const ALL = 'all/';

/** Names contain no line breaks, so no name is a prefix of another name's key. */
const ofAgent = (agent_id: string) => `${agent_id}\n`;

export const violationEntity: EntityType<Violation> = {
  kind: VIOLATION,
  evolve(_state, event, at_ms) {
    if (event.type !== 'violation_recorded') throw new Error(`unknown event of a violation: ${event.type}`);
    return { ...(event.data as unknown as Violation), created_at_ms: at_ms };
  },
  index(state) {
    const when = newestFirst(state.created_at_ms);
    return { sort: `${ALL}${when}`, group: `${ofAgent(state.agent_id)}${when}` };
  },
};

export const violationCountEntity: EntityType<ViolationCount> = {
  kind: VIOLATION_COUNT,
  evolve(state, event, at_ms) {
    if (event.type !== 'violation_counted')
      throw new Error(`unknown event of a violation count: ${event.type}`);
    const { recorded, blocked, towards_lowering } = event.data as unknown as ViolationCount;
    const before = state ?? { recorded: 0, blocked: 0 };
    return {
      agent_id: event.id,
      recorded: before.recorded + recorded,
      blocked: before.blocked + blocked,
      towards_lowering,
      last_at_ms: at_ms,
    };
  },
  index: (state) => (state.blocked === 0 ? {} : { sort: newestFirst(state.last_at_ms) }),
};

export function violationCountKey(agent_id: string): EntityKey {
  return { kind: VIOLATION_COUNT, id: agent_id };
}

/** The agents that were stopped most recently. */
export function violatorsRange(limit: number): Range {
  return prefixed('sort', VIOLATION_COUNT, '', limit);
}

export function violationEvent(
  { agent_id, agent_type, session_id }: Actor,
  number: number,
  data: Omit<Violation, keyof Actor | 'created_at_ms'>,
): EventBody {
  const id = `${ofAgent(agent_id)}${number}`;
  return {
    kind: VIOLATION,
    id,
    type: 'violation_recorded',
    data: { agent_id, agent_type, session_id, ...data },
  };
}

export function countEvent(
  agent_id: string,
  counts: Pick<ViolationCount, 'recorded' | 'blocked' | 'towards_lowering'>,
): EventBody {
  return { ...violationCountKey(agent_id), type: 'violation_counted', data: { ...counts } };
}

/** Newest first, of one agent or of all. */
export function violationRange(agent_id: string | undefined, limit: number): Range {
  return agent_id === undefined
    ? prefixed('sort', VIOLATION, ALL, limit)
    : prefixed('group', VIOLATION, ofAgent(agent_id), limit);
}

export function violationsIn(range: Range, loaded: Loaded): JsonObject[] {
  return loaded.list<Violation>(range).map(({ state }) => {
    const { created_at_ms, ...rest } = state;
    return { timestamp: isoTime(created_at_ms), ...rest };
  });
}
