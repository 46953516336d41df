import {
  boardClaimsNeeds,
  isBidding,
  type OpenBoardClaim,
  openBoardClaims,
} from '../../features/board/index.ts';
import { limits } from '../../kernel/limits.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { escaped } from './metrics-route.ts';

const STATUSES = ['bidding', 'pending_review', 'pending_parallel', 'pending_exclusive', 'pending_assignment'];

/**
 * Counts open claims, and the stuck ones by what they wait for. There are few of either, so agent names do
 * not cause a flood of series.
 */
export async function boardMetrics({ store, project }: Coxswain): Promise<string> {
  let seen: { claims: OpenBoardClaim[]; now_ms: number };
  try {
    const { loaded, now_ms } = await store.find(project, boardClaimsNeeds);
    seen = { claims: openBoardClaims(loaded, now_ms), now_ms };
  } catch (error) {
    // Without the store there is nothing to count, but the server's own metrics are still worth reporting.
    if (error instanceof StoreFailure) return '';
    throw error;
  }
  const stuck = seen.claims.filter((each) => each.stuck);
  const lines = [
    '# HELP cox_board_claims Open claims on the board.',
    '# TYPE cox_board_claims gauge',
    ...STATUSES.map((status) => {
      const count = seen.claims.filter((each) => statusOf(each) === status).length;
      return `cox_board_claims{status="${status}"} ${count}`;
    }),
    '# HELP cox_board_claims_stuck Claims that have been open for longer than the threshold of the board.',
    '# TYPE cox_board_claims_stuck gauge',
    `cox_board_claims_stuck ${stuck.length}`,
    '# HELP cox_board_claim_pending_seconds For how long each of those has been open, and what it waits for.',
    '# TYPE cox_board_claim_pending_seconds gauge',
    ...stuck.slice(0, limits.overview_stuck_max).map((each) => pendingSample(each, seen.now_ms)),
  ];
  return `${lines.join('\n')}\n`;
}

/** A claim is pending_review from the start. That no agent reviews it yet is worth a status of its own. */
function statusOf({ claim: { state } }: OpenBoardClaim): string {
  return isBidding(state) ? 'bidding' : state.status;
}

function pendingSample({ claim: { id, state }, waits_for }: OpenBoardClaim, now_ms: number): string {
  const seconds = Math.floor((now_ms - state.opened_at_ms) / 1000);
  const labels = `claim_id="${id}",artefact_type="${escaped(state.artefact_type)}",waits_for="${escaped(waits_for)}"`;
  return `cox_board_claim_pending_seconds{${labels}} ${seconds}`;
}
