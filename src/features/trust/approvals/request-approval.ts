import { sha256 } from '../../../kernel/hash.ts';
import { canonical } from '../../../kernel/json.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { Actor } from '../../../ledger/log.ts';
import { type ApprovalRecord, approvalEvent, type Shown, statusAt } from './approval.ts';

/** Short enough to type. Two that fall together are told apart by what was shown. */
const ID_DIGITS = 12;

/** The same agent asking for the same thing again means the item that is already there. */
export function approvalId({
  kind,
  requested_by,
  hash,
}: Pick<Shown, 'kind' | 'requested_by' | 'hash'>): string {
  return sha256(JSON.stringify([kind, requested_by, hash])).slice(0, ID_DIGITS);
}

/**
 * Of what a person sees and of exactly what would be done. Not of what we call it: the same thing may be judged by another
 * pattern or another trust tomorrow, and is the same thing.
 */
export function shownHash({ kind, subject, context, requested_by, hash }: Shown): string {
  return sha256(canonical({ kind, subject, context, requested_by, hash }));
}

export interface Wanted {
  readonly id: string;
  readonly shown: Shown;
  readonly shown_hash: string;
  readonly ttl_ms: number;
}

export function wanted(shown: Shown, ttl_ms: number): Wanted {
  return { id: approvalId(shown), shown, shown_hash: shownHash(shown), ttl_ms };
}

/** A person has permitted exactly this, to this agent, and it has not been used or run out. */
export function permits(record: ApprovalRecord | undefined, want: Wanted, now_ms: number): boolean {
  return (
    record !== undefined &&
    statusAt(record.state, now_ms) === 'approved' &&
    isAboutThis(record, want) &&
    record.state.requested_by === want.shown.requested_by
  );
}

/** A person has said no to exactly this; until that runs out nobody is asked again. */
export function forbids(record: ApprovalRecord | undefined, want: Wanted, now_ms: number): boolean {
  return (
    record !== undefined &&
    record.state.status === 'denied' &&
    isAboutThis(record, want) &&
    now_ms < (record.state.decided_at_ms ?? 0) + record.state.ttl_ms
  );
}

/** Exactly this waits for a person already. */
export function waits(record: ApprovalRecord | undefined, want: Wanted, now_ms: number): boolean {
  return record !== undefined && statusAt(record.state, now_ms) === 'pending' && isAboutThis(record, want);
}

function isAboutThis({ state }: ApprovalRecord, { shown_hash, shown }: Wanted): boolean {
  return state.shown_hash === shown_hash && state.hash === shown.hash;
}

/** Put before a person, in the commit of what raised it. */
export function requestEvent({ id, shown, shown_hash, ttl_ms }: Wanted, by: Actor): EventBody {
  const { agent_type, session_id } = by;
  return approvalEvent(id, 'approval_requested', { ...shown, agent_type, session_id, shown_hash, ttl_ms });
}

/** Once and for all, in the commit of what it permits. */
export function useEvent({ id }: Wanted, { agent_id, session_id }: Actor): EventBody {
  return approvalEvent(id, 'approval_used', { agent_id, session_id });
}
