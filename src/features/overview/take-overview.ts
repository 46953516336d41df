import type { JsonObject } from '../../kernel/json.ts';
import { shownStore } from '../../runtime/about.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { fleetService } from '../claims/fleet/index.ts';
import { type OverviewTimes, overview, overviewNeeds } from './overview.ts';
import { stuckNeeds, stuckThings } from './stuck.ts';

/**
 * What a person wants to see first. It reads the records themselves, in one snapshot and without a row in the
 * log: a view that is redrawn when the log grows must not make it grow.
 */
export async function lookAround(
  place: Pick<Coxswain, 'store' | 'store_url' | 'project' | 'use'> & { readonly presence: OverviewTimes },
): Promise<{ seen: JsonObject; now_ms: number }> {
  const { store, store_url, project } = place;
  const rules = await place.use(fleetService).rules();
  const { idle_ms, stale_ms } = place.presence;
  const times = { idle_ms, stale_ms, claim_rules: 'success' in rules ? undefined : rules };
  const { loaded, now_ms } = await store.find(project, overviewNeeds());
  const seen = overview(loaded, times, now_ms);
  const more = stuckNeeds(loaded);
  const parents = more.keys?.length === 0 ? loaded : (await store.find(project, more)).loaded;
  const about = await store.describe();
  const seat = about.seat as JsonObject | undefined;
  return {
    now_ms,
    seen: {
      store: shownStore(store_url),
      project,
      ...(seat === undefined
        ? {}
        : { seat_pid: seat.pid, seat_since_at: seat.since, seat_reachable: seat.reachable }),
      ...(about.missing === undefined ? {} : { store_lacks: about.missing, store_remedy: about.remedy }),
      needs_you: stuckThings(loaded, parents, seen, times, now_ms),
      ...seen,
    },
  };
}
