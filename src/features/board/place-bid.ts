import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import { boardKey, boardOf, memberOf } from './board.ts';
import {
  type BoardClaimRecord,
  type BoardClaimState,
  bidBy,
  boardClaimKey,
  isBidding,
  isOutstanding,
} from './board-claim.ts';
import { ClaimDraft, followRoster, placeBid as place } from './board-phases.ts';
import { BIDS, type Bid } from './board-settings.ts';
import { unknownBoardClaim } from './deliver-artefact.ts';

export interface PlaceBid {
  readonly claim_id: string;
  readonly agent_id: string;
  /** The agent's answer. An unknown word counts as `ignore`. */
  readonly bid: string;
  readonly files?: readonly string[] | undefined;
}

function isBid(word: string): word is Bid {
  return (BIDS as readonly string[]).includes(word);
}

export function placeBid(command: PlaceBid): Decision<JsonObject> {
  const { claim_id, agent_id, files } = command;
  const key = boardClaimKey(claim_id);
  return {
    needs: { keys: [key, boardKey] },
    decide(loaded, now_ms) {
      const record = loaded.get<BoardClaimState>(key) as BoardClaimRecord | undefined;
      if (record === undefined) return refused(unknownBoardClaim(claim_id));
      const board = boardOf(loaded.get(boardKey));
      if (memberOf(board, agent_id) === undefined) return refused(notABidder(agent_id, claim_id));
      const word = command.bid.trim();
      const bid = isBid(word) ? word : 'ignore';
      const draft = ClaimDraft.of(record, board, now_ms);
      followRoster(draft);
      const before = bidBy(draft.state, agent_id);
      if (before !== undefined && before.bid === bid)
        return commit(draft.events, { ...bidAnswer(draft, agent_id), repeated: true });
      if (before !== undefined || !isBidding(draft.state)) return refused(tooLate(draft, agent_id));
      const invalid = isBid(word) ? undefined : word;
      place(draft, agent_id, { bid, by: 'agent', invalid, files });
      return commit(draft.events, bidAnswer(draft, agent_id));
    },
  };
}

function bidAnswer({ id, state }: ClaimDraft, agent_id: string): JsonObject {
  const { status, phase, awaited } = state;
  const placed = bidBy(state, agent_id);
  return {
    success: true,
    claim_id: id,
    bid: placed?.bid ?? null,
    ...(placed?.invalid === undefined
      ? {}
      : { warning: `${JSON.stringify(placed.invalid)} is no bid: it counts as ignore.` }),
    status,
    phase: phase ?? null,
    granted: isOutstanding(state, agent_id),
    awaiting_bids: [...awaited],
  };
}

function notABidder(agent_id: string, claim_id: string): Refusal {
  return refuse('not_a_bidder', `${agent_id} is not on the board's roster.`, { claim_id, agent_id });
}

function tooLate({ id, state }: ClaimDraft, agent_id: string): Refusal {
  const before = bidBy(state, agent_id);
  const about = { claim_id: id, status: state.status, bid: before?.bid ?? null };
  const message =
    before === undefined
      ? `Bids on claim ${id} are over.`
      : `${agent_id}'s bid on claim ${id} stands: ${before.bid}${before.by === 'deadline' ? ', for it said nothing in time' : ''}.`;
  return refuse('bidding_over', message, about);
}
