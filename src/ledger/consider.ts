import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import type { Decision, Needs } from './decision.ts';
import type { Settled } from './proposal.ts';
import type { Store } from './store-port.ts';

/** What the decision would be now. Nothing is committed. */
export async function consider<A extends JsonObject>(
  store: Store,
  project: string,
  decision: Decision<A>,
): Promise<Settled<A>> {
  let needs: Needs = decision.needs;
  for (let round = 0; round <= limits.need_rounds; round += 1) {
    // Everything is loaded again in each round: one snapshot.
    const { loaded, now_ms } = await store.find(project, needs);
    const verdict = decision.decide(loaded, now_ms);
    if (verdict.verdict !== 'need') return verdict;
    const { keys = [], ranges = [] } = verdict.needs;
    needs = { keys: [...(needs.keys ?? []), ...keys], ranges: [...(needs.ranges ?? []), ...ranges] };
  }
  throw new Error(`a decision needed more than ${limits.need_rounds} further rounds`);
}
