import type { Clock } from '../../kernel/clock.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import { isOver } from '../../ledger/lease.ts';
import { defineService } from '../../runtime/service.ts';
import { decideAllocation, type PortLease, type PortVerdict } from './decide-ports.ts';
import { type PortConfig, readPortConfig } from './port-config.ts';
import type { PortTable } from './port-state.ts';

/** Port blocks for the sessions of one user on one machine. It needs no store. */
export interface Ports {
  allocate(session_id: string, ttl_minutes: number | undefined): Promise<PortLease | Refusal>;
  /** Returns whether there was anything to release. */
  release(session_id: string): Promise<boolean | Refusal>;
  /** The live leases, and the time at which that was determined. */
  list(): Promise<{ leases: PortLease[]; now_ms: number } | Refusal>;
}

// This and the state are loaded on demand: most processes never need them, and every command would start
// later.
const looksTaken = async (db_port: number) => (await import('./taken-ports.ts')).isBlockTaken(db_port);

export function createPorts(env: NodeJS.ProcessEnv, clock: Clock, isTaken = looksTaken): Ports {
  /** Settings first: every call reports invalid settings in the same way. */
  const change = async <T>(decide: (table: PortTable, now_ms: number, config: PortConfig) => T) => {
    const config = readPortConfig(env);
    if ('success' in config) return config;
    const { changePorts } = await import('./port-state.ts');
    return await changePorts(config.folder, clock, (table) => decide(table, clock.now_ms(), config));
  };
  const attempt = (session_id: string, ttl_minutes: number | undefined, avoid: ReadonlySet<number>) =>
    change((table, now_ms, config): PortVerdict => {
      const ttl_ms = Math.round((ttl_minutes ?? config.ttl_minutes) * 60_000);
      const verdict = decideAllocation(table.leases(), { session_id, ttl_ms, avoid }, now_ms, config);
      if (verdict.verdict === 'granted') table.grant(verdict.lease);
      // The block it tried on the way is of no use to it.
      else if (avoid.size > 0) table.remove(session_id);
      return verdict;
    });
  return {
    async allocate(session_id, ttl_minutes) {
      const avoid = new Set<number>();
      for (;;) {
        const verdict = await attempt(session_id, ttl_minutes, avoid);
        if ('success' in verdict) return verdict;
        if (verdict.verdict === 'full') return noneLeft(verdict.live, avoid);
        // Checked after the lease is granted: no other session can get the block in between.
        const { lease, kept } = verdict;
        if (kept || !(await isTaken(lease.db_port))) return lease;
        avoid.add(lease.db_port);
      }
    },
    release: (session_id) =>
      change((table, now_ms) => {
        const held = table.leases().find((lease) => lease.session_id === session_id);
        table.remove(session_id);
        return held !== undefined && !isOver(held, now_ms);
      }),
    list: () =>
      change((table, now_ms) => ({
        leases: table.leases().filter((lease) => !isOver(lease, now_ms)),
        now_ms,
      })),
  };
}

function noneLeft(live: readonly PortLease[], avoid: ReadonlySet<number>): Refusal {
  const occupied = avoid.size === 0 ? '' : `, and other programs listen on ${avoid.size} more`;
  const message = `No block of ports is left: ${live.length} sessions have one${occupied}.`;
  return refuse('no_ports_available', message);
}

export const portsService = defineService<Ports>('ports');
