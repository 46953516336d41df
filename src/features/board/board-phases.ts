import { uuidBeside } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { EventBody } from '../../ledger/entity.ts';
import type { ArtefactRecord } from './artefact.ts';
import { attemptsOf, type BoardState, byName, limitOf, memberOf, standingBid } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  bidBy,
  boardClaimEntity,
  boardClaimEvent,
  grantTo,
  isBidding,
  outstanding,
  type PlacedBid,
} from './board-claim.ts';
import { PHASES, type Phase } from './board-settings.ts';

/**
 * The whole life of a claim, as pure steps. Each step appends what happened and continues from the state
 * after it. So everything that follows from a bid or a delivery is in the same commit: no transition can be
 * lost between two commits, and none can happen twice.
 */
export class ClaimDraft {
  readonly id: string;
  readonly board: BoardState;
  readonly now_ms: number;
  readonly events: EventBody[] = [];
  #state: BoardClaimState | undefined;

  constructor(id: string, state: BoardClaimState | undefined, board: BoardState, now_ms: number) {
    this.id = id;
    this.board = board;
    this.now_ms = now_ms;
    this.#state = state;
  }

  static of({ id, state }: BoardClaimRecord, board: BoardState, now_ms: number): ClaimDraft {
    return new ClaimDraft(id, state, board, now_ms);
  }

  get state(): BoardClaimState {
    if (this.#state === undefined) throw new Error('a claim that is not open yet');
    return this.#state;
  }

  add(type: string, data: JsonObject): void {
    const event = boardClaimEvent(this.id, type, data);
    this.events.push(event);
    this.#state = boardClaimEntity.evolve(this.#state, event, this.now_ms);
  }
}

/** What a claim stores about its artefact, which never changes. */
export type AboutArtefact = Pick<
  BoardClaimState,
  'artefact_id' | 'artefact_type' | 'logical_id' | 'produced_by_agent' | 'produced_by_role'
>;

/** One claim for one artefact: a repeated request gets the same claim. */
export function claimIdOf(artefact_id: string): string {
  return uuidBeside(artefact_id, `board claim\0${artefact_id}`);
}

/** All agents on the roster are asked. A standing bid counts as an answer. */
export function openClaim(artefact: Pick<ArtefactRecord, 'id' | 'state'>, board: BoardState, now_ms: number) {
  const draft = new ClaimDraft(claimIdOf(artefact.id), undefined, board, now_ms);
  const about = aboutArtefact(artefact);
  const opened = { ...about, ...askedOf(board, about, {}, now_ms), additional_context_ids: [] };
  draft.add('claim_opened', { opened });
  grantIfAllBid(draft);
  return draft;
}

/** Assigned to its author directly, without bids. */
export function assignRework(
  claim_id: string,
  about: AboutArtefact,
  author: string,
  reviews: readonly string[],
  board: BoardState,
  now_ms: number,
): ClaimDraft {
  const draft = new ClaimDraft(claim_id, undefined, board, now_ms);
  const { generation } = board;
  const asked = { generation, awaited: [], bids: {} };
  const opened = { ...about, ...asked, additional_context_ids: [...reviews] };
  draft.add('claim_opened', { opened });
  draft.add('work_assigned', {
    agent_id: author,
    granted: { [author]: newGrant(draft, author, 'exclusive') },
  });
  return draft;
}

function aboutArtefact({ id, state }: Pick<ArtefactRecord, 'id' | 'state'>): AboutArtefact {
  const { type, logical_id, produced_by_agent, produced_by_role } = state;
  return { artefact_id: id, artefact_type: type, logical_id, produced_by_agent, produced_by_role };
}

function askedOf(
  board: BoardState,
  about: { readonly artefact_type: string; readonly produced_by_agent: string },
  placed: BoardClaimState['bids'],
  now_ms: number,
) {
  const bids: [string, PlacedBid][] = [];
  const awaited: string[] = [];
  for (const member of board.members) {
    const { agent_id } = member;
    const bid = standingBid(member, about);
    // A bid that was placed stands, even if the configuration has changed since.
    const given = bidBy({ bids: placed }, agent_id);
    if (given !== undefined) bids.push([agent_id, given]);
    else if (bid !== undefined) bids.push([agent_id, { bid, by: 'strategy', at_ms: now_ms }]);
    else awaited.push(agent_id);
  }
  const { bid_deadline_ms } = board.settings;
  const bids_due_ms = bid_deadline_ms > 0 && awaited.length > 0 ? now_ms + bid_deadline_ms : undefined;
  const { generation } = board;
  return { generation, awaited, bids: Object.fromEntries(bids) as unknown as JsonObject, bids_due_ms };
}

/**
 * Agents that joined since are asked, agents that left are not waited for, and all get the full time again:
 * the roster changes when agents (re)start.
 */
export function followRoster(draft: ClaimDraft): void {
  const { state, board, now_ms } = draft;
  if (!isBidding(state) || state.generation >= board.generation) return;
  draft.add('bidders_changed', { roster: askedOf(board, state, state.bids, now_ms) });
  grantIfAllBid(draft);
}

export function placeBid(draft: ClaimDraft, agent_id: string, placed: Omit<PlacedBid, 'at_ms'>): void {
  draft.add('bid_placed', { agent_id, placed: placed as unknown as JsonObject });
  grantIfAllBid(draft);
}

/** Once the time is up, silence counts as an answer. It is recorded as one, so that a replay grants the same. */
export function closeBids(draft: ClaimDraft): void {
  const { state, now_ms } = draft;
  if (!isBidding(state) || state.awaited.length === 0) return;
  if (state.bids_due_ms === undefined || now_ms < state.bids_due_ms) return;
  draft.add('bids_closed', { silent: [...state.awaited] });
  grantIfAllBid(draft);
}

/** Consensus: every agent on the roster has bid. An empty roster has no consensus. */
function grantIfAllBid(draft: ClaimDraft): void {
  const { state, board } = draft;
  if (isBidding(state) && state.awaited.length === 0 && board.members.length > 0)
    startPhaseAfter(draft, undefined);
}

/** The next phase that an agent has bid for. If there is none, the claim is complete. */
function startPhaseAfter(draft: ClaimDraft, done: Phase | undefined): void {
  const later = PHASES.slice(done === undefined ? 0 : PHASES.indexOf(done) + 1);
  for (const phase of later) {
    const agents = winners(draft.state, phase);
    if (agents.length === 0) continue;
    const granted = Object.fromEntries(
      agents.map((agent_id) => [agent_id, newGrant(draft, agent_id, phase)]),
    );
    draft.add('phase_started', { phase, granted });
    return;
  }
  draft.add('claim_completed', {});
}

/** The same bids give the same grants: all bidders for review and parallel, the first by name for exclusive. */
function winners({ bids }: Pick<BoardClaimState, 'bids'>, phase: Phase): string[] {
  const word = phase === 'parallel' ? 'claim' : phase;
  const names = Object.keys(bids)
    .filter((name) => bidBy({ bids }, name)?.bid === word)
    .sort(byName);
  return phase === 'exclusive' ? names.slice(0, 1) : names;
}

function newGrant({ board, state, now_ms }: ClaimDraft, agent_id: string, phase: Phase, attempt = 1) {
  const limit_ms = limitOf(board, agent_id, phase);
  // An agent that left the board after its bid keeps the role of its earlier grant, or else goes by its name;
  // it never gets another agent's role.
  const role = memberOf(board, agent_id)?.role ?? grantTo(state, agent_id)?.role ?? agent_id;
  return { role, attempt, limit_ms, deadline_ms: now_ms + limit_ms };
}

/**
 * Records what an agent delivered, and what follows if it was the last of its phase. A rejection is left to
 * the caller, which knows the author.
 */
export function takeDelivery(
  draft: ClaimDraft,
  agent_id: string,
  delivered: { readonly artefact_id: string; readonly verdict: 'approved' | 'feedback' | 'done' },
): 'waiting' | 'went_on' | 'rejected' {
  const { phase } = draft.state;
  draft.add('work_delivered', { agent_id, ...delivered });
  if (outstanding(draft.state).length > 0) return 'waiting';
  if (phase === 'review' && feedbackIn(draft.state).length > 0) {
    draft.add('claim_terminated', { reason: 'review_rejected' });
    return 'rejected';
  }
  if (draft.state.status === 'pending_assignment') draft.add('claim_completed', {});
  else startPhaseAfter(draft, phase);
  return 'went_on';
}

/** The reviews with feedback, in the order of their reviewers' names. */
export function feedbackIn({ grants }: BoardClaimState): string[] {
  return Object.keys(grants)
    .sort(byName)
    .flatMap((name) => {
      const delivered = grants[name]?.delivered;
      return delivered?.verdict === 'feedback' ? [delivered.artefact_id] : [];
    });
}

/**
 * An agent failed at its part, or ran out of time. It is asked again as long as the policy allows; after that
 * the claim is over.
 */
export function failGrant(draft: ClaimDraft, agent_id: string, artefact_id: string, reason: string): void {
  const grant = grantTo(draft.state, agent_id);
  if (grant === undefined) throw new Error(`${agent_id} failed at what it was not granted`);
  if (grant.attempt < attemptsOf(draft.board, agent_id)) {
    const again = newGrant(draft, agent_id, grant.phase, grant.attempt + 1);
    const { phase } = grant;
    const next = { ...again, phase, granted_at_ms: draft.now_ms };
    draft.add('grant_repeated', { agent_id, artefact_id, reason, grant: next });
    return;
  }
  draft.add('work_delivered', { agent_id, artefact_id, verdict: 'failed' });
  draft.add('claim_terminated', { reason, agent_id });
}
