import { nameMatches } from '../../kernel/glob.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { type Bid, type Bidder, type BoardSettings, DEFAULT_SETTINGS, type Phase } from './board-settings.ts';

/** An agent on the roster. */
export interface BoardMember extends Bidder {
  /** It comes from a configuration file. Agents that joined by themselves are not removed by a file. */
  readonly configured: boolean;
  readonly joined_at_ms: number;
}

/** The rules of the board, and all agents whose bids it waits for. */
export interface BoardState {
  readonly settings: BoardSettings;
  /** Sorted by name, so that every process goes through them in the same order. */
  readonly members: readonly BoardMember[];
  /** Grows with every change. A claim with an older generation has to be updated. */
  readonly generation: number;
}

export type BoardRecord = EntityRecord<BoardState>;

const BOARD = 'board';

export const boardKey: EntityKey = { kind: BOARD, id: BOARD };

const EMPTY: BoardState = { settings: DEFAULT_SETTINGS, members: [], generation: 0 };

/** Of logs from before the board waited for every bid unless told otherwise. */
const BEFORE_CONSENSUS: BoardState = {
  ...EMPTY,
  settings: { ...DEFAULT_SETTINGS, bid_deadline_ms: 60_000 },
};

export function boardOf(record: BoardRecord | undefined): BoardState {
  return record?.state ?? EMPTY;
}

export function boardEvent(type: string, data: JsonObject): EventBody {
  return { ...boardKey, type, data };
}

export const boardEntity: EntityType<BoardState> = {
  kind: BOARD,
  // Every publication and every bid reads it, and it changes only when an agent joins or leaves.
  steady: true,
  evolve(before, event, at_ms) {
    const state = before ?? BEFORE_CONSENSUS;
    const generation = state.generation + 1;
    switch (event.type) {
      case 'board_configured': {
        const { settings, agents } = event.data as unknown as { settings: BoardSettings; agents: Bidder[] };
        const others = state.members.filter(
          ({ configured, agent_id }) => !configured && !agents.some((agent) => agent.agent_id === agent_id),
        );
        const members = agents.map((agent) => ({ ...agent, configured: true, joined_at_ms: at_ms }));
        return { settings, members: inOrder([...others, ...members]), generation };
      }
      case 'bidder_joined': {
        const joined = { ...(event.data as unknown as Bidder), configured: false, joined_at_ms: at_ms };
        const others = state.members.filter(({ agent_id }) => agent_id !== joined.agent_id);
        return { ...state, members: inOrder([...others, joined]), generation };
      }
      case 'bidder_left': {
        const members = state.members.filter(({ agent_id }) => agent_id !== event.data.agent_id);
        return { ...state, members, generation };
      }
      default:
        throw new Error(`unknown event of the board: ${event.type}`);
    }
  },
  index: () => ({}),
};

/** By code units, not by locale: the same order on every machine. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function inOrder(members: readonly BoardMember[]): BoardMember[] {
  return [...members].sort((a, b) => byName(a.agent_id, b.agent_id));
}

export function memberOf(board: BoardState, agent_id: string): BoardMember | undefined {
  return board.members.find((member) => member.agent_id === agent_id);
}

/** What a standing bid looks at in an artefact. */
export interface Offered {
  readonly artefact_type: string;
  readonly produced_by_agent: string;
}

/**
 * Undefined: the agent has to be asked. An agent does not bid to work on its own artefact, or the work would
 * never end.
 */
export function standingBid({ standing_bid, agent_id }: Bidder, offered: Offered): Bid | undefined {
  if (standing_bid === undefined) return undefined;
  const { bid, target_types } = standing_bid;
  if (target_types?.some((pattern) => nameMatches(pattern, offered.artefact_type)) === false) return 'ignore';
  return bid !== 'review' && offered.produced_by_agent === agent_id ? 'ignore' : bid;
}

/** The agent's own limit takes precedence over the phase's. */
export function limitOf(board: BoardState, agent_id: string, phase: Phase): number {
  return memberOf(board, agent_id)?.timeout_ms ?? board.settings.timeouts_ms[phase];
}

/** How often an agent may try one part of a claim before that part has failed. */
export function attemptsOf(board: BoardState, agent_id: string): number {
  const member = memberOf(board, agent_id);
  const policy = member?.on_failure ?? board.settings.on_failure;
  return policy === 'retry' ? (member?.max_attempts ?? board.settings.max_attempts) : 1;
}
