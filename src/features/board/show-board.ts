import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type BoardMember, type BoardState, byName } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  type BoardGrant,
  bidBy,
  grantTo,
  isBidding,
  isOpen,
  outstanding,
} from './board-claim.ts';
import type { Phase } from './board-settings.ts';

/** A claim in the seed's words, with what it waits for. */
export function describeBoardClaim(
  { id, state }: BoardClaimRecord,
  board: BoardState,
  now_ms: number,
): JsonObject {
  const pending_ms = Math.max(0, (state.ended_at_ms ?? now_ms) - state.opened_at_ms);
  return {
    id,
    artefact_id: state.artefact_id,
    artefact_type: state.artefact_type,
    produced_by_agent: state.produced_by_agent,
    produced_by_role: state.produced_by_role,
    status: state.status,
    granted_review_agents: grantedIn(state, 'review'),
    granted_parallel_agents: grantedIn(state, 'parallel'),
    granted_exclusive_agent: grantedIn(state, 'exclusive')[0] ?? null,
    additional_context_ids: [...state.additional_context_ids],
    termination_reason: state.termination_reason ?? null,
    phase_state: isOpen(state) ? phaseState(state, now_ms) : null,
    bids: bidsOf(state),
    opened_at: isoTime(state.opened_at_ms),
    ended_at: state.ended_at_ms === undefined ? null : isoTime(state.ended_at_ms),
    waits_for: waitsFor(state, board),
    pending_seconds: Math.floor(pending_ms / 1000),
    pending_for_long: isStuck(state, board, now_ms),
  };
}

export function isStuck(state: BoardClaimState, board: BoardState, now_ms: number): boolean {
  return isOpen(state) && now_ms - state.opened_at_ms >= board.settings.stuck_ms;
}

function grantedIn(state: BoardClaimState, phase: Phase): string[] {
  return Object.keys(state.grants)
    .filter((name) => grantTo(state, name)?.phase === phase)
    .sort(byName);
}

function bidsOf(state: BoardClaimState): JsonObject {
  const names = Object.keys(state.bids).sort(byName);
  return Object.fromEntries(
    names.flatMap((name) => {
      const placed = bidBy(state, name);
      if (placed === undefined) return [];
      const { bid, by, at_ms, invalid, files } = placed;
      return [[name, { bid, by, at: isoTime(at_ms), invalid, files: files && [...files] }]];
    }),
  );
}

function phaseState(state: BoardClaimState, now_ms: number): JsonObject {
  if (isBidding(state))
    return {
      phase: 'bidding',
      awaiting: [...state.awaited],
      due: state.bids_due_ms === undefined ? null : isoTime(state.bids_due_ms),
    };
  const names = Object.keys(state.grants).filter((name) => grantTo(state, name)?.phase === state.phase);
  const grants = names.sort(byName).flatMap((name) => {
    const grant = grantTo(state, name);
    return grant === undefined ? [] : [describeGrant(name, grant, now_ms)];
  });
  return { phase: state.phase, awaiting: outstanding(state), grants };
}

/** The state of a grant: not started, waiting for its turn or for files, or being worked on. */
export function grantStanding({ taken, delivered }: BoardGrant, now_ms: number): string {
  if (delivered !== undefined) return 'delivered';
  if (taken === undefined || now_ms >= taken.until_ms) return 'waiting';
  if (taken.queued === true) return 'queued';
  return taken.preparing === true ? 'preparing' : 'working';
}

function describeGrant(agent_id: string, grant: BoardGrant, now_ms: number): JsonObject {
  const { role, attempt, granted_at_ms, deadline_ms, started_at_ms, taken, delivered } = grant;
  const moment = (time_ms: number | undefined) => (time_ms === undefined ? null : isoTime(time_ms));
  return {
    agent_id,
    role,
    attempt,
    standing: grantStanding(grant, now_ms),
    granted_at: isoTime(granted_at_ms),
    started_at: moment(started_at_ms),
    deadline: isoTime(deadline_ms),
    taken_until: moment(taken?.until_ms),
    delivered: delivered === undefined ? null : { ...delivered },
  };
}

/** In one line, for people. */
export function waitsFor(state: BoardClaimState, board: BoardState): string | null {
  if (!isOpen(state)) return null;
  if (!isBidding(state)) return `${state.phase} by ${outstanding(state).join(', ')}`;
  if (board.members.length === 0) return 'agents: nobody is on the board';
  return state.awaited.length === 0 ? 'the roster' : `bids of ${state.awaited.join(', ')}`;
}

/** The other agents in the same phase, and what they said they would touch. */
export function coWorkers(state: BoardClaimState, agent_id: string, board: BoardState): CoWorker[] {
  if (state.phase !== 'parallel') return [];
  return grantedIn(state, 'parallel')
    .filter((name) => name !== agent_id)
    .map((name) => {
      const member = board.members.find((each) => each.agent_id === name);
      const declared = [...new Set([...(member?.files ?? []), ...(bidBy(state, name)?.files ?? [])])];
      return { agent_id: name, role: grantTo(state, name)?.role ?? '', declared };
    });
}

export interface CoWorker {
  readonly agent_id: string;
  readonly role: string;
  readonly declared: readonly string[];
}

export function describeMember({
  standing_bid,
  files,
  joined_at_ms,
  timeout_ms,
  ...member
}: BoardMember): JsonObject {
  return {
    ...member,
    bidding: standing_bid === undefined ? 'asked' : standing_bid.bid,
    target_types: standing_bid?.target_types === undefined ? undefined : [...standing_bid.target_types],
    timeout_seconds: timeout_ms === undefined ? undefined : timeout_ms / 1000,
    files: files === undefined ? [] : [...files],
    joined_at: isoTime(joined_at_ms),
  };
}
