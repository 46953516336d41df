import { sha256 } from '../../../kernel/hash.ts';
import { canonical } from '../../../kernel/json.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { Actor } from '../../../ledger/log.ts';
import { type ApprovalRecord, approvalEvent, type Shown, statusAt } from './approval.ts';

/** Short enough to type. If two ids collide, the hash of what was shown tells them apart. */
const ID_DIGITS = 12;

/** The same agent asking for the same thing again gets the existing approval. */
export function approvalId({
  kind,
  requested_by,
  hash,
}: Pick<Shown, 'kind' | 'requested_by' | 'hash'>): string {
  return sha256(JSON.stringify([kind, requested_by, hash])).slice(0, ID_DIGITS);
}

/**
 * Hash of what a person sees and of exactly what would be done. Our own labels are left out: tomorrow the
 * same thing may match another pattern or be judged under another trust level, and it is still the same
 * thing.
 */
export function shownHash({ kind, subject, context, requested_by, hash }: Shown): string {
  return sha256(canonical({ kind, subject, context, requested_by, hash }));
}

export interface ApprovalWanted {
  readonly id: string;
  readonly shown: Shown;
  readonly shown_hash: string;
  readonly ttl_ms: number;
}

export function wanted(shown: Shown, ttl_ms: number): ApprovalWanted {
  return { id: approvalId(shown), shown, shown_hash: shownHash(shown), ttl_ms };
}

/** A person has permitted exactly this to this agent, and the permission is neither used nor expired. */
export function permits(record: ApprovalRecord | undefined, want: ApprovalWanted, now_ms: number): boolean {
  return (
    record !== undefined &&
    statusAt(record.state, now_ms) === 'approved' &&
    isAboutThis(record, want) &&
    record.state.requested_by === want.shown.requested_by
  );
}

/** A person has refused exactly this; until the refusal expires, no person is asked again. */
export function forbids(record: ApprovalRecord | undefined, want: ApprovalWanted, now_ms: number): boolean {
  return (
    record !== undefined &&
    record.state.status === 'denied' &&
    isAboutThis(record, want) &&
    now_ms < (record.state.decided_at_ms ?? 0) + record.state.ttl_ms
  );
}

/** Exactly this already waits for a person. */
export function waits(record: ApprovalRecord | undefined, want: ApprovalWanted, now_ms: number): boolean {
  return record !== undefined && statusAt(record.state, now_ms) === 'pending' && isAboutThis(record, want);
}

function isAboutThis({ state }: ApprovalRecord, { shown_hash, shown }: ApprovalWanted): boolean {
  return state.shown_hash === shown_hash && state.hash === shown.hash;
}

/** Asks a person, in the commit of what raised the question. */
export function requestEvent({ id, shown, shown_hash, ttl_ms }: ApprovalWanted, by: Actor): EventBody {
  const { agent_type, session_id } = by;
  return approvalEvent(id, 'approval_requested', { ...shown, agent_type, session_id, shown_hash, ttl_ms });
}

/** Uses the permission up, in the commit of what it permits. */
export function useEvent({ id }: ApprovalWanted, { agent_id, session_id }: Actor): EventBody {
  return approvalEvent(id, 'approval_used', { agent_id, session_id });
}
