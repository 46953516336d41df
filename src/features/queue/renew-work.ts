import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { commit, type Decision, refused } from '../../ledger/decision.ts';
import { type Caller, renew } from '../../ledger/lease.ts';
import { heldBy } from './complete-work.ts';
import { type TaskState, taskEvent, taskKey } from './state.ts';

/** Keeps a claim alive while the work goes on. */
export function renewWork(task_id: string, caller: Caller, lease_ms: number): Decision<JsonObject> {
  const key = taskKey(task_id);
  return {
    needs: { keys: [key] },
    decide(loaded, now_ms) {
      const held = heldBy(task_id, loaded.get<TaskState>(key), caller, now_ms);
      if ('refusal' in held) return refused(held.refusal);
      const lease = renew(held.record, held.lease, caller, lease_ms, now_ms);
      const expires_at = isoTime(lease.expires_at_ms);
      const answer = { success: true, task_id, expires_at, fencing_token: lease.token };
      return commit(
        [taskEvent(task_id, 'task_renewed', { lease: { ...lease } })],
        answer,
        held.lease.expires_at_ms,
      );
    },
  };
}
