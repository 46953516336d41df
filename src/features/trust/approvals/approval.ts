import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limits } from '../../../kernel/limits.ts';
import { type Loaded, prefixed, type Range } from '../../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EntityType, EventBody } from '../../../ledger/entity.ts';
import { newestFirst } from '../../../ledger/index-order.ts';

export const APPROVAL_STATUSES = ['pending', 'approved', 'denied', 'used', 'expired'] as const;

export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** What a person is asked to decide. */
export interface Shown {
  /** The kind of thing that waits: `command`, `change`, `task`, `file` … */
  readonly kind: string;
  /** In one word, as profiles name it: `force_push`. */
  readonly operation: string;
  /** What was found in it. */
  readonly findings: JsonObject[];
  /** In one line. */
  readonly subject: string;
  /** Everything there is to see: the command, the diff, where it runs. Secrets are masked. */
  readonly context: JsonObject;
  readonly requested_by: string;
  /** Hash of exactly what would be done, before anything was masked. */
  readonly hash: string;
}

export interface ApprovalState extends Shown {
  readonly agent_type: string;
  readonly session_id: string;
  readonly shown_hash: string;
  /** `expired` is never stored: it follows from the store's clock. */
  readonly status: Exclude<ApprovalStatus, 'expired'>;
  readonly ttl_ms: number;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly decided_by?: string | undefined;
  readonly decided_at_ms?: number | undefined;
  readonly decision_reason?: string | undefined;
  readonly used_at_ms?: number | undefined;
}

export type ApprovalRecord = EntityRecord<ApprovalState>;

const APPROVAL = 'approval';

export function approvalKey(id: string): EntityKey {
  return { kind: APPROVAL, id };
}

export function approvalEvent(id: string, type: string, data: EventBody['data']): EventBody {
  return { kind: APPROVAL, id, type, data };
}

/** Names contain no line breaks, so no name is a prefix of another name's key. */
const ofAgent = (agent_id: string) => `${agent_id}\n`;
const withStatus = (status: string) => `${status}/`;

export const approvalEntity: EntityType<ApprovalState> = {
  kind: APPROVAL,
  evolve(state, event, at_ms) {
    if (event.type === 'approval_requested') {
      const asked = event.data as unknown as Omit<
        ApprovalState,
        'status' | 'created_at_ms' | 'expires_at_ms'
      >;
      return { ...asked, status: 'pending', created_at_ms: at_ms, expires_at_ms: at_ms + asked.ttl_ms };
    }
    if (state === undefined) throw new Error(`approval ${event.id}: ${event.type} before it was requested`);
    const { decided_by, decision_reason } = event.data as Partial<ApprovalState>;
    switch (event.type) {
      case 'approval_approved':
        // The full time again from here: a late decision still permits something.
        return {
          ...state,
          status: 'approved',
          decided_by,
          decision_reason,
          decided_at_ms: at_ms,
          expires_at_ms: at_ms + state.ttl_ms,
        };
      case 'approval_denied':
        return { ...state, status: 'denied', decided_by, decision_reason, decided_at_ms: at_ms };
      case 'approval_used':
        return { ...state, status: 'used', used_at_ms: at_ms };
      default:
        throw new Error(`unknown event of an approval: ${event.type}`);
    }
  },
  index(state) {
    const when = newestFirst(state.decided_at_ms ?? state.created_at_ms);
    return { sort: `${withStatus(state.status)}${when}`, group: `${ofAgent(state.requested_by)}${when}` };
  },
};

/** By the store's clock: no process has to run for a request or a permission to expire. */
export function statusAt({ status, expires_at_ms }: ApprovalState, now_ms: number): ApprovalStatus {
  const runsOut = status === 'pending' || status === 'approved';
  return runsOut && now_ms >= expires_at_ms ? 'expired' : status;
}

export interface ApprovalQuery {
  readonly status: ApprovalStatus | 'all';
  readonly agent_id?: string | undefined;
  readonly limit: number;
}

/** Expired approvals are still stored under the status they had. */
function writtenAs(status: ApprovalQuery['status']): readonly ApprovalState['status'][] {
  if (status === 'all') return ['pending', 'approved', 'denied', 'used'];
  return status === 'expired' ? ['pending', 'approved'] : [status];
}

/**
 * Newest first, of one agent or of one status. Reads more than are shown, because some are filtered out
 * afterwards.
 */
export function approvalRanges({ status, agent_id }: Omit<ApprovalQuery, 'limit'>): Range[] {
  const most = limits.approvals_looked_at_max;
  if (agent_id !== undefined) return [prefixed('group', APPROVAL, ofAgent(agent_id), most)];
  return writtenAs(status).map((each) => prefixed('sort', APPROVAL, withStatus(each), most));
}

export function listApprovals(query: ApprovalQuery, loaded: Loaded, now_ms: number): JsonObject[] {
  return approvalRanges(query)
    .flatMap((range) => loaded.list<ApprovalState>(range))
    .filter(({ state }) => query.status === 'all' || statusAt(state, now_ms) === query.status)
    .sort((a, b) => b.state.created_at_ms - a.state.created_at_ms)
    .slice(0, query.limit)
    .map((record) => {
      const { context: _, findings: __, hash: ___, ...rest } = describeApproval(record, now_ms);
      return rest;
    });
}

export function describeApproval({ id, state }: ApprovalRecord, now_ms: number): JsonObject {
  const { created_at_ms, expires_at_ms, decided_at_ms, used_at_ms, ttl_ms: _, ...rest } = state;
  return {
    approval_id: id,
    ...rest,
    status: statusAt(state, now_ms),
    created_at: isoTime(created_at_ms),
    expires_at: isoTime(expires_at_ms),
    decided_at: decided_at_ms === undefined ? undefined : isoTime(decided_at_ms),
    used_at: used_at_ms === undefined ? undefined : isoTime(used_at_ms),
  };
}
