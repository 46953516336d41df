import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import { checkLocks } from '../../operations/check-locks.ts';
import { listWork } from '../../operations/show-work.ts';
import { shownStore } from '../about.ts';
import { type CommonOptions, cliIdentity, cliShowing, withStore } from './common.ts';
import type { Terminal } from './terminal.ts';

const COUNTED_MAX = 200;

export async function describeStatus(options: CommonOptions, terminal: Terminal): Promise<JsonObject> {
  const who = cliIdentity(options, terminal.env);
  if (!who.ok) return who.refusal;
  return await withStore(options, terminal, async (coxswain, { notice }) => {
    const connection = coxswain.connect(who.actor, 'operator', cliShowing(terminal.env));
    const held = await connection.perform(checkLocks, {});
    if (isRefusal(held)) return held;
    const work = await connection.perform(listWork, { limit: COUNTED_MAX });
    if (isRefusal(work)) return work;
    const counts = ['pending', 'claimed', 'delayed'].map((status) => [
      status,
      (work[status] as JsonObject[]).length,
    ]);
    const about = await coxswain.store.describe();
    const seat = about.seat as JsonObject | undefined;
    const full = counts.some(([, count]) => count === COUNTED_MAX);
    return {
      success: true,
      store: shownStore(coxswain.store_url),
      project: coxswain.project,
      ...(seat === undefined
        ? {}
        : { seat_pid: seat.pid, seat_since_at: seat.since, seat_reachable: seat.reachable }),
      ...(notice === undefined ? {} : { notice }),
      ...(about.missing === undefined ? {} : { store_lacks: about.missing, store_remedy: about.remedy }),
      agent_id: who.actor.agent_id,
      ...Object.fromEntries(counts),
      // The list is bounded, so that a status stays quick beside a million tasks; say so rather than count wrongly.
      ...(full ? { counted_at_most: COUNTED_MAX } : {}),
      ...(held.truncated === true ? { locks_truncated: true } : {}),
      locks: held.locks,
    };
  });
}
