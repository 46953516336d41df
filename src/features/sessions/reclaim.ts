import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import { answerOf, type Decision } from '../../ledger/decision.ts';
import type { HeldPage as Page } from '../../ledger/lease.ts';
import type { SessionName } from '../../ledger/log.ts';
import type { Step } from '../../runtime/operation.ts';
import { heldLocks } from '../locks/index.ts';
import { endSession } from './commands.ts';
import { claimedTasks } from './free-leases.ts';
import { closeFreeing, freeLocks, freeTasks } from './reclaim-commands.ts';
import { type SessionState, silentSince, stillFreeing } from './state.ts';
import { leaveFinalHandoff } from './write-final-handoff.ts';

export interface Freed extends JsonObject {
  locks_released: number;
  tasks_returned: number;
}

/** Sessions that one clean-up handles before it leaves the rest to the next. */
const ROUNDS_MAX = 40;

/**
 * Ends every session that was silent for this long and frees what it held, session by session. If it is
 * killed, part of it is done; sessions that ended and were not freed are marked, and the next clean-up
 * continues.
 */
export async function cleanUp(step: Step, stale_ms: number): Promise<Freed & { agents_cleaned: number }> {
  let agents_cleaned = 0;
  const total = { locks_released: 0, tasks_returned: 0 };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // The store's own time, not this machine's.
    const { now_ms } = await step.find({});
    const range = silentSince(now_ms - stale_ms);
    const { loaded } = await step.find({ ranges: [range, stillFreeing] });
    const silent = loaded.list<SessionState>(range);
    const freeing = loaded.list<SessionState>(stillFreeing).map(({ state }) => nameOf(state));
    if (silent.length === 0 && freeing.length === 0) break;
    for (const { state } of silent) {
      const name = nameOf(state);
      if (!(await end(step, name, 'silent', state.last_heartbeat_ms))) continue;
      agents_cleaned += 1;
      freeing.push(name);
    }
    for (const session of freeing) {
      const { locks_released, tasks_returned } = await free(step, session);
      total.locks_released += locks_released;
      total.tasks_returned += tasks_returned;
    }
  }
  return { agents_cleaned, ...total };
}

function nameOf({ agent_id, session_id }: SessionName): SessionName {
  return { agent_id, session_id };
}

/** False: it had already ended, or has shown a sign of life meanwhile. */
export async function end(
  step: Step,
  session: SessionName,
  end_reason: string,
  silent_since_ms?: number,
): Promise<boolean> {
  const decision = endSession(nameOf(session), { end_reason, silent_since_ms });
  return !isRefusal(answerOf(await step.chore('end_session', decision)));
}

export async function free(step: Step, ended: SessionName): Promise<Freed> {
  const session = nameOf(ended);
  // Written while it still holds what it was in the middle of. If the hand-off can't be written, the locks
  // are freed all the same.
  await leaveFinalHandoff(step, session).catch(() => {});
  const freed = {
    locks_released: await freeAll(step, heldLocks, session, freeLocks),
    tasks_returned: await freeAll(step, claimedTasks, session, freeTasks),
  };
  await step.chore('free_session', closeFreeing(session, freed));
  return freed;
}

async function freeAll<S>(
  step: Step,
  first: Page<S>,
  session: SessionName,
  decide: (session: SessionName, ids: readonly string[]) => Decision<JsonObject>,
): Promise<number> {
  let freed = 0;
  for (let page: Page<S> | undefined = first; page !== undefined; ) {
    const { loaded } = await step.find({ ranges: [page.range] });
    const records = loaded.list<S>(page.range);
    const ids = page.heldBy(records, session);
    for (let index = 0; index < ids.length; index += limits.freed_per_commit) {
      const part = ids.slice(index, index + limits.freed_per_commit);
      const answer = answerOf(await step.chore('free_session', decide(session, part)));
      if (!isRefusal(answer)) freed += answer.freed as number;
    }
    page = page.next(records);
  }
  return freed;
}
