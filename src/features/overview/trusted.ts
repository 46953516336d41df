import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Loaded, Needs } from '../../ledger/decision.ts';
import { approvalRanges, listApprovals } from '../trust/approvals/index.ts';
import { type ViolationCount, violatorsRange } from '../trust/index.ts';

const PENDING = { status: 'pending', limit: limits.overview_stuck_max } as const;
const violators = violatorsRange(limits.overview_rows_max);

/** What waits for a person, and how often each agent was stopped. */
export function trustNeeds(): Needs {
  return { ranges: [...approvalRanges(PENDING), violators] };
}

/** The oldest first: it has waited longest. */
export function awaitingApproval(loaded: Loaded, now_ms: number): JsonObject[] {
  return listApprovals(PENDING, loaded, now_ms)
    .toReversed()
    .map(({ approval_id, requested_by, operation, subject, created_at }) => ({
      what: 'approval',
      approval_id,
      agent_id: requested_by,
      operation,
      message: subject,
      since_at: created_at,
      command: `cox approve ${approval_id}`,
    }));
}

/** Blocked violations by agent; agents without any are left out. */
export function violationsByAgent(loaded: Loaded): ReadonlyMap<string, number> {
  return new Map(loaded.list<ViolationCount>(violators).map(({ state }) => [state.agent_id, state.blocked]));
}
