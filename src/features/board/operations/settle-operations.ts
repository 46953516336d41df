import { limits } from '../../../kernel/limits.ts';
import { isRefusal } from '../../../kernel/refusal.ts';
import { answerOf } from '../../../ledger/decision.ts';
import type { InternalCommand, Step } from '../../../runtime/operation.ts';
import { type BoardState, boardKey, boardOf } from '../board.ts';
import { type BoardClaimState, biddingClaims, boardClaimDueAt_ms, openClaims } from '../board-claim.ts';
import { settleBoard } from '../commands.ts';

/**
 * What falls due at the same time is settled in at most this many commits. The rest is left to the next
 * process that looks.
 */
const ROUNDS_MAX = 50;

const soonest = openClaims(limits.board_claims_per_round);
const bidding = biddingClaims(limits.board_claims_per_round);
const dueNeeds = { keys: [boardKey], ranges: [soonest, bidding] };

/**
 * Settles what time and a changed roster mean for the claims on the board. No schedule is needed: every call
 * that looks for grants or at the board does it. Answers in how long something falls due next.
 */
export async function settleDueClaims(step: Step): Promise<number> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const { due, next_ms } = await dueNow(step);
    if (due.length === 0) return next_ms;
    const answer = answerOf(await step.chore('settle_board', settleBoard(due)));
    if (isRefusal(answer)) return next_ms;
    step.announce();
  }
  return 0;
}

export async function dueNow(step: Pick<Step, 'find'>): Promise<{ due: string[]; next_ms: number }> {
  const { loaded, now_ms } = await step.find(dueNeeds);
  const { generation, members } = boardOf(loaded.get<BoardState>(boardKey));
  const timed = loaded.list<BoardClaimState>(soonest);
  const late = timed.filter(({ state }) => boardClaimDueAt_ms(state) <= now_ms);
  const outdated =
    members.length === 0
      ? []
      : loaded.list<BoardClaimState>(bidding).filter(({ state }) => state.generation < generation);
  const due = [...new Set([...late, ...outdated].map(({ id }) => id))].slice(
    0,
    limits.board_claims_per_round,
  );
  const first = timed.find(({ state }) => boardClaimDueAt_ms(state) > now_ms);
  return {
    due,
    next_ms: first === undefined ? Number.POSITIVE_INFINITY : boardClaimDueAt_ms(first.state) - now_ms,
  };
}

/** Not listed: only long-running processes call it, with an input they have built themselves. */
export const settleDueBoard = {
  name: 'settle_board',
  group: 'board',
  mutates: true,
  async handle(_input, step) {
    const next_ms = await settleDueClaims(step);
    return { success: true, next_ms: Number.isFinite(next_ms) ? next_ms : null };
  },
} satisfies InternalCommand;
