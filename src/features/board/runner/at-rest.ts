import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { type BoardClaimRecord, type BoardClaimState, endedClaims, openClaims } from '../board-claim.ts';
import { awaitedDecisions, fateNeeds, fateOf } from '../fate.ts';

export interface Rest {
  /** Claims that ended since then, with no other result. */
  readonly failed: readonly BoardClaimRecord[];
  /** What a person has to decide. */
  readonly decisions: readonly JsonObject[];
  readonly completed: number;
}

const one = openClaims(1);

/**
 * Undefined: some claim is open. Looked at twice, since on some stores a read of a range is not a consistent
 * snapshot.
 */
export async function restOf({ store, project }: Coxswain, since_ms: number): Promise<Rest | undefined> {
  const over = endedClaims(limits.board_claims_listed_max);
  const first = await store.find(project, { ranges: [one, over] });
  if (first.loaded.list(one).length > 0) return undefined;
  const ended = first.loaded
    .list<BoardClaimState>(over)
    .filter(({ state }) => (state.ended_at_ms ?? 0) >= since_ms);
  const terminated = ended.filter(({ state }) => state.status === 'terminated');
  const fates = fateNeeds(terminated.map(({ id, state }) => ({ id, logical_id: state.logical_id })));
  const { loaded, now_ms } = await store.find(project, { ...fates, ranges: [one, ...fates.ranges] });
  if (loaded.list(one).length > 0) return undefined;
  return {
    failed: terminated.filter((claim) => fateOf(claim, loaded, now_ms).fate === 'failed'),
    decisions: awaitedDecisions(loaded, now_ms),
    completed: ended.length - terminated.length,
  };
}
