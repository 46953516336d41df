import { isOver } from '../../ledger/lease.ts';
import { BLOCK_PORTS } from './port-block.ts';
import type { PortConfig } from './port-config.ts';

/**
 * A block of ports is a lease whose holder is a session. Unlike a lock it has no agent and no fencing token:
 * nothing is ever written through Coxswain under it, so there is nothing to fence. Its expiry is decided
 * where it is decided for all leases.
 */
export interface PortLease {
  readonly session_id: string;
  /**
   * The first port of the block. Not its number: processes with different settings must not overlap either.
   */
  readonly db_port: number;
  readonly expires_at_ms: number;
}

export interface PortRequest {
  readonly session_id: string;
  readonly ttl_ms: number;
  /** Blocks on which another program was found listening. */
  readonly avoid: ReadonlySet<number>;
}

export type PortVerdict =
  | {
      readonly verdict: 'granted';
      readonly lease: PortLease;
      /** The session had this block before, so what listens there is most likely its own program. */
      readonly kept: boolean;
    }
  | { readonly verdict: 'full'; readonly live: readonly PortLease[] };

type Layout = Pick<PortConfig, 'base' | 'range' | 'sessions_max'>;

/**
 * Which session gets which block. Expired leases stay in the list until another session takes their place. A
 * session that comes back late finds its block again, and other sessions get it only when no unused block is
 * left, because its programs may still run.
 */
export function decideAllocation(
  leases: readonly PortLease[],
  { session_id, ttl_ms, avoid }: PortRequest,
  now_ms: number,
  layout: Layout,
): PortVerdict {
  const own = leases.find((lease) => lease.session_id === session_id && !avoid.has(lease.db_port));
  const others = leases.filter((lease) => lease.session_id !== session_id);
  const live = others.filter((lease) => !isOver(lease, now_ms));
  const granted = (db_port: number): PortVerdict => ({
    verdict: 'granted',
    lease: { session_id, db_port, expires_at_ms: now_ms + ttl_ms },
    kept: db_port === own?.db_port,
  });
  if (own !== undefined && !isOver(own, now_ms)) return granted(own.db_port);
  if (live.length >= layout.sessions_max) return { verdict: 'full', live };
  const free = blocksOf(layout).filter((db_port) => !avoid.has(db_port) && !touches(db_port, live));
  if (own !== undefined && free.includes(own.db_port)) return granted(own.db_port);
  const chosen = free.find((db_port) => !touches(db_port, others)) ?? longestOver(free, others);
  return chosen === undefined ? { verdict: 'full', live } : granted(chosen);
}

export function overlap(a: number, b: number): boolean {
  return Math.abs(a - b) < BLOCK_PORTS;
}

function blocksOf({ base, range, sessions_max }: Layout): number[] {
  return Array.from({ length: sessions_max }, (_, index) => base + index * range);
}

function touches(db_port: number, leases: readonly PortLease[]): boolean {
  return leases.some((lease) => overlap(lease.db_port, db_port));
}

function longestOver(free: readonly number[], over: readonly PortLease[]): number | undefined {
  const overSince_ms = (db_port: number) =>
    Math.max(...over.filter((lease) => overlap(lease.db_port, db_port)).map((lease) => lease.expires_at_ms));
  return free.toSorted((a, b) => overSince_ms(a) - overSince_ms(b))[0];
}
