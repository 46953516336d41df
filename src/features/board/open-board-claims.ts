import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { type BoardState, boardKey, boardOf } from './board.ts';
import { type BoardClaimRecord, type BoardClaimState, openClaims } from './board-claim.ts';
import { isStuck, waitsFor } from './show-board.ts';

const open = openClaims(limits.overview_rows_max);

export const boardClaimsNeeds: Required<Needs> = { keys: [boardKey], ranges: [open] };

export interface OpenBoardClaim {
  readonly claim: BoardClaimRecord;
  /** One line; only for open claims. */
  readonly waits_for: string;
  /** It has been open for longer than the board's threshold. */
  readonly stuck: boolean;
}

/** The open claims, the longest open first. The read is bounded, however many there are. */
export function openBoardClaims(loaded: Loaded, now_ms: number): OpenBoardClaim[] {
  const board = boardOf(loaded.get<BoardState>(boardKey));
  return loaded
    .list<BoardClaimState>(open)
    .toSorted((a, b) => a.state.opened_at_ms - b.state.opened_at_ms)
    .map((claim) => ({
      claim,
      waits_for: waitsFor(claim.state, board) ?? '',
      stuck: isStuck(claim.state, board, now_ms),
    }));
}

/** All of them in one line; the board's screen shows them separately. */
export function stuckBoardClaims(loaded: Loaded, now_ms: number): JsonObject[] {
  const stuck = openBoardClaims(loaded, now_ms).filter((each) => each.stuck);
  const [oldest] = stuck;
  if (oldest === undefined) return [];
  const { claim, waits_for } = oldest;
  return [
    {
      what: 'stuck_board',
      claims: stuck.length,
      claim_id: claim.id,
      artefact_type: claim.state.artefact_type,
      waits_for,
      since_at: isoTime(claim.state.opened_at_ms),
      command: 'cox board',
    },
  ];
}
