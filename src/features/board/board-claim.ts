import type { JsonObject } from '../../kernel/json.ts';
import { prefixed, type Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../ledger/entity.ts';
import { newestFirst, padded } from '../../ledger/index-order.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { byName } from './board.ts';
import type { Bid, Phase } from './board-settings.ts';

/** docs/board-states.md draws these, and a test compares the drawing with the code. */
export type BoardClaimStatus =
  | 'pending_review'
  | 'pending_parallel'
  | 'pending_exclusive'
  /** Work that was sent back to its author, without bids. */
  | 'pending_assignment'
  | 'complete'
  | 'terminated';

export interface PlacedBid {
  readonly bid: Bid;
  readonly at_ms: number;
  /** Where the bid comes from: the agent, its configuration, or the deadline that passed without an answer. */
  readonly by: 'agent' | 'strategy' | 'deadline';
  /** The invalid answer the agent gave instead of a bid. It counts as `ignore`. */
  readonly invalid?: string | undefined;
  /** The files that the agent intends to touch. */
  readonly files?: readonly string[] | undefined;
}

/** The process that runs the agent's command records itself here, so that no other process runs it too. */
export interface GrantTaking {
  readonly session_id: string;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** It waits until its agent has a free slot. Any process with a free slot for the agent may start it. */
  readonly queued?: boolean | undefined;
  /** It is reserved for this process but has not started: it waits for its files. */
  readonly preparing?: boolean | undefined;
  readonly until_ms: number;
}

export type BoardVerdict = 'approved' | 'feedback' | 'done' | 'failed';

/** The right and the duty of one agent to deliver its part in one phase. */
export interface BoardGrant {
  readonly phase: Phase;
  readonly role: string;
  readonly attempt: number;
  readonly granted_at_ms: number;
  readonly deadline_ms: number;
  readonly limit_ms: number;
  /** When this attempt was started. */
  readonly started_at_ms?: number | undefined;
  readonly taken?: GrantTaking | undefined;
  readonly delivered?: { readonly artefact_id: string; readonly verdict: BoardVerdict } | undefined;
}

export interface BoardClaimState {
  readonly artefact_id: string;
  readonly artefact_type: string;
  readonly logical_id: string;
  readonly produced_by_agent: string;
  readonly produced_by_role: string;
  readonly status: BoardClaimStatus;
  /** Undefined while bids are collected. */
  readonly phase?: Phase | undefined;
  /** The generation of the roster whose members were asked to bid. */
  readonly generation: number;
  /** The agents whose bid is missing. */
  readonly awaited: readonly string[];
  readonly bids: Readonly<Record<string, PlacedBid>>;
  /** From then on, an agent that has not answered counts as not interested. */
  readonly bids_due_ms?: number | undefined;
  /** An agent has at most one part in a claim, so it has one grant. */
  readonly grants: Readonly<Record<string, BoardGrant>>;
  /** What an author gets besides the artefact when its work is sent back. */
  readonly additional_context_ids: readonly string[];
  readonly opened_at_ms: number;
  readonly ended_at_ms?: number | undefined;
  readonly termination_reason?: string | undefined;
}

export type BoardClaimRecord = EntityRecord<BoardClaimState>;

const BOARD_CLAIM = 'board_claim';

export function boardClaimKey(id: string): EntityKey {
  return { kind: BOARD_CLAIM, id };
}

const STATUS_OF: Readonly<Record<Phase, BoardClaimStatus>> = {
  review: 'pending_review',
  parallel: 'pending_parallel',
  exclusive: 'pending_exclusive',
};

const DUE = 'due/';
const ENDED = 'ended/';
const BIDDING = 'bidding/';
/** Names contain no line breaks, so no name's key is a prefix of another name's key. */
const bidOf = (agent_id: string) => `bid/${agent_id}\n`;
const grantOf = (agent_id: string) => `grant/${agent_id}\n`;

export function isOpen({ status }: Pick<BoardClaimState, 'status'>): boolean {
  return status !== 'complete' && status !== 'terminated';
}

export function isBidding(state: BoardClaimState): boolean {
  return isOpen(state) && state.phase === undefined;
}

/** The agents whose part is still missing. */
export function outstanding(state: BoardClaimState): string[] {
  if (!isOpen(state) || state.phase === undefined) return [];
  return Object.keys(state.grants)
    .filter((agent_id) => isOutstanding(state, agent_id))
    .sort(byName);
}

/** Agents choose their own names, and one may be `constructor`. */
export function grantTo({ grants }: BoardClaimState, agent_id: string): BoardGrant | undefined {
  return Object.hasOwn(grants, agent_id) ? grants[agent_id] : undefined;
}

export function bidBy({ bids }: Pick<BoardClaimState, 'bids'>, agent_id: string): PlacedBid | undefined {
  return Object.hasOwn(bids, agent_id) ? bids[agent_id] : undefined;
}

export function isOutstanding(state: BoardClaimState, agent_id: string): boolean {
  const grant = grantTo(state, agent_id);
  return isOpen(state) && grant !== undefined && grant.phase === state.phase && grant.delivered === undefined;
}

/** Sorts after every real time. */
const NEVER_MS = 999_999_999_999_999;

/** The next time at which something changes without any agent doing anything. */
export function boardClaimDueAt_ms(state: BoardClaimState): number {
  const deadlines = outstanding(state).map((agent_id) => grantTo(state, agent_id)?.deadline_ms ?? 0);
  if (isBidding(state) && state.bids_due_ms !== undefined && state.awaited.length > 0)
    deadlines.push(state.bids_due_ms);
  return Math.min(NEVER_MS, ...deadlines);
}

export const boardClaimEntity: EntityType<BoardClaimState> = {
  kind: BOARD_CLAIM,
  evolve,
  index(state) {
    if (!isOpen(state)) return { sort: `${ENDED}${newestFirst(state.ended_at_ms ?? 0)}` };
    return {
      sort: `${DUE}${padded(boardClaimDueAt_ms(state))}`,
      group: isBidding(state) ? `${BIDDING}${padded(state.generation)}` : undefined,
      links: isBidding(state) ? state.awaited.map(bidOf) : outstanding(state).map(grantOf),
    };
  },
};

interface BoardEventData {
  readonly opened: Omit<BoardClaimState, 'opened_at_ms' | 'status' | 'grants'>;
  readonly agent_id: string;
  readonly placed: Omit<PlacedBid, 'at_ms'>;
  readonly silent: readonly string[];
  readonly roster: Pick<BoardClaimState, 'generation' | 'awaited' | 'bids' | 'bids_due_ms'>;
  readonly phase: Phase;
  readonly granted: Readonly<Record<string, Omit<BoardGrant, 'phase' | 'granted_at_ms'>>>;
  readonly grant: BoardGrant;
  readonly artefact_id: string;
  readonly verdict: BoardVerdict;
  readonly reason: string;
}

function evolve(before: BoardClaimState | undefined, event: EventBody, at_ms: number): BoardClaimState {
  const data = event.data as unknown as BoardEventData;
  if (event.type === 'claim_opened')
    return { ...data.opened, status: 'pending_review', grants: {}, opened_at_ms: at_ms };
  if (before === undefined) throw new Error(`${event.type} of a claim that was never opened: ${event.id}`);
  const state = before;
  switch (event.type) {
    case 'bid_placed':
      return withBids(state, { [data.agent_id]: { ...data.placed, at_ms } });
    case 'bids_closed':
      return withBids(
        state,
        Object.fromEntries(data.silent.map((name) => [name, { bid: 'ignore', at_ms, by: 'deadline' }])),
      );
    case 'bidders_changed':
      // The log drops fields that are undefined. When no agent is awaited any more, the old deadline must not
      // come back.
      return { ...state, bids_due_ms: undefined, ...data.roster };
    case 'phase_started':
      return { ...granting(state, data, at_ms), status: STATUS_OF[data.phase] };
    case 'work_assigned':
      return { ...granting(state, { ...data, phase: 'exclusive' }, at_ms), status: 'pending_assignment' };
    case 'grant_taken':
    case 'grant_repeated':
      return { ...state, grants: { ...state.grants, [data.agent_id]: data.grant } };
    case 'work_delivered': {
      const grant = grantTo(state, data.agent_id);
      if (grant === undefined) throw new Error(`${data.agent_id} delivered what it was not granted`);
      const { artefact_id, verdict } = data;
      const delivered = { ...grant, taken: undefined, delivered: { artefact_id, verdict } };
      return { ...state, grants: { ...state.grants, [data.agent_id]: delivered } };
    }
    case 'claim_completed':
      return { ...state, status: 'complete', phase: undefined, ended_at_ms: at_ms };
    case 'claim_terminated': {
      const termination_reason = data.reason;
      return { ...state, status: 'terminated', phase: undefined, ended_at_ms: at_ms, termination_reason };
    }
    default:
      throw new Error(`unknown event of a claim on the board: ${event.type}`);
  }
}

function withBids(state: BoardClaimState, bids: Record<string, PlacedBid>): BoardClaimState {
  const awaited = state.awaited.filter((name) => !Object.hasOwn(bids, name));
  return { ...state, awaited, bids: { ...state.bids, ...bids } };
}

function granting(
  state: BoardClaimState,
  { phase, granted }: Pick<BoardEventData, 'phase' | 'granted'>,
  at_ms: number,
): BoardClaimState {
  const grants = Object.entries(granted).map(([agent_id, grant]) => [
    agent_id,
    { ...grant, phase, granted_at_ms: at_ms },
  ]);
  return { ...state, phase, grants: { ...state.grants, ...Object.fromEntries(grants) } };
}

/** The claims that wait for bids, those opened under the oldest roster first. */
export function biddingClaims(limit: number): Range {
  return prefixed('group', BOARD_CLAIM, BIDDING, limit);
}

/** The claim that is due next comes first. */
export function openClaims(limit: number): Range {
  return prefixed('sort', BOARD_CLAIM, DUE, limit);
}

export function endedClaims(limit: number): Range {
  return prefixed('sort', BOARD_CLAIM, ENDED, limit);
}

export function claimsAwaiting(agent_id: string, limit: number): Range {
  return prefixed('link', BOARD_CLAIM, bidOf(agent_id), limit);
}

export function claimsGranted(agent_id: string, limit: number): Range {
  return prefixed('link', BOARD_CLAIM, grantOf(agent_id), limit);
}

export function boardClaimEvent(id: string, type: string, data: JsonObject): EventBody {
  return { ...boardClaimKey(id), type, data };
}

/** Whether a row of the log may contain a grant for the agent, or something it can bid on. */
export function mayConcern(agent_id: string, { events }: Pick<LogEntry, 'events'>): boolean {
  return events.some(({ kind, type, data }) => {
    if (kind !== BOARD_CLAIM) return false;
    const { granted, opened, roster, agent_id: named } = data as unknown as Partial<BoardEventData>;
    if (type === 'grant_taken') return false;
    return (
      named === agent_id ||
      (granted !== undefined && Object.hasOwn(granted, agent_id)) ||
      (opened ?? roster)?.awaited.includes(agent_id) === true
    );
  });
}

/** Whether a row of the log says more about the board than that an agent is still working. */
export function isBoardRow({ events }: Pick<LogEntry, 'events'>): boolean {
  return events.some(({ kind, type }) => kind === BOARD_CLAIM && type !== 'grant_taken');
}
