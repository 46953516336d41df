import type { Range } from './decision.ts';
import { type EntityRecord, nextVersion } from './entity.ts';
import type { SessionName } from './log.ts';

/**
 * A right with a holder, an expiry and a fencing token, exclusive unless it is marked as shared. File locks
 * and task claims are leases; this is the only place that decides which session holds one. They differ in
 * policy only: what happens on expiry, and which callers may end them.
 */
export interface Lease {
  agent_id: string;
  agent_type: string;
  session_id: string;
  token: number;
  granted_at_ms: number;
  expires_at_ms: number;
}

export interface Caller {
  readonly agent_id: string;
  readonly agent_type: string;
  readonly session_id: string;
  /**
   * The grant the caller means: the one it named, or the connection's own current one. Undefined: whatever it
   * holds now.
   */
  readonly token?: number | undefined;
}

export type LeaseStanding =
  /** There is no holder now. `lapsed` is the lease that expired, if one did. */
  | { readonly standing: 'free'; readonly lapsed: Lease | undefined }
  | { readonly standing: 'mine'; readonly lease: Lease }
  /** The caller means a grant that is over, and there is a newer one. */
  | { readonly standing: 'superseded'; readonly lease: Lease }
  | { readonly standing: 'taken'; readonly lease: Lease };

/** Expiry is decided here, on reading, by the store's time; it does not depend on a sweeper. */
export function isOver(lease: Pick<Lease, 'expires_at_ms'>, now_ms: number): boolean {
  return now_ms >= lease.expires_at_ms;
}

/**
 * Two shared leases are compatible; any other pair conflicts. The same holds between holders, waiters and
 * newcomers.
 */
export function standEachOther(a: Sharing, b: Sharing): boolean {
  return a.shared === true && b.shared === true;
}

export interface Sharing {
  readonly shared?: boolean | undefined;
}

export function standing(lease: Lease | undefined, caller: Caller, now_ms: number): LeaseStanding {
  if (lease === undefined || isOver(lease, now_ms)) return { standing: 'free', lapsed: lease };
  if (caller.token !== undefined && caller.token !== lease.token) return { standing: 'superseded', lease };
  return { standing: lease.agent_id === caller.agent_id ? 'mine' : 'taken', lease };
}

/** A new grant on a record that is free: its token is the version the record gets with this commit. */
export function grant(
  record: EntityRecord<unknown> | undefined,
  caller: Caller,
  ttl_ms: number,
  now_ms: number,
): Lease {
  return {
    agent_id: caller.agent_id,
    agent_type: caller.agent_type,
    session_id: caller.session_id,
    token: nextVersion(record, now_ms),
    granted_at_ms: now_ms,
    expires_at_ms: now_ms + ttl_ms,
  };
}

/**
 * The holder asks again. The same session keeps its grant. Another session of the same agent gets a new one,
 * so that the end of the old session can't free what the new one relies on.
 */
export function renew(
  record: EntityRecord<unknown>,
  lease: Lease,
  caller: Caller,
  ttl_ms: number,
  now_ms: number,
): Lease {
  if (lease.session_id !== caller.session_id) return grant(record, caller, ttl_ms, now_ms);
  return { ...lease, expires_at_ms: now_ms + ttl_ms };
}

/** Whether this session holds the lease. */
export function isHeldBy(lease: Lease, { agent_id, session_id }: SessionName): boolean {
  return lease.agent_id === agent_id && lease.session_id === session_id;
}

/**
 * One page of a scan over everything that is held: clean-up is rare, and an index by holder would cost every
 * lock.
 */
export interface HeldPage<S> {
  readonly range: Range;
  heldBy(records: readonly EntityRecord<S>[], session: SessionName): string[];
  next(records: readonly EntityRecord<S>[]): HeldPage<S> | undefined;
}
