// Reads the log as a judge who trusts nothing but the order of its rows.
import type { Lease } from '../../src/domain/lease.ts';
import type { EventBody } from '../../src/ledger/entity.ts';
import type { LogEntry } from '../../src/ledger/log.ts';
import type { Store } from '../../src/ledger/store.ts';

export async function readLog(store: Store, project = 'default'): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await store.read(project, entries.at(-1)?.position ?? 0, 1000);
    if (page.entries.length === 0) return entries;
    entries.push(...page.entries);
  }
}

interface Held {
  lease: Lease | undefined;
  token_max: number;
}

/** Two holders at once, tokens that do not grow, ends of grants that were over: one line each. */
export function leaseFaults(entries: readonly LogEntry[]): string[] {
  const faults: string[] = [];
  const things = new Map<string, Held>();
  for (const entry of entries) {
    for (const event of entry.events) {
      const key = `${event.kind}/${event.id}`;
      const held = things.get(key) ?? { lease: undefined, token_max: 0 };
      things.set(key, held);
      const fault = step(held, event, entry.at_ms);
      if (fault !== undefined) faults.push(`row ${entry.position}: ${event.type} of ${key}: ${fault}`);
    }
  }
  return faults;
}

function step(held: Held, event: EventBody, at_ms: number): string | undefined {
  const before = held.lease;
  const granted = event.data.lease as unknown as Lease;
  switch (event.type) {
    case 'lock_acquired':
    case 'task_claimed': {
      held.lease = granted;
      const grew = granted.token > held.token_max;
      held.token_max = Math.max(held.token_max, granted.token);
      if (before !== undefined) return `${granted.agent_id} got what ${before.agent_id} held`;
      return grew ? undefined : `token ${granted.token} is not above ${held.token_max}`;
    }
    case 'lock_refreshed':
    case 'task_renewed': {
      held.lease = granted;
      held.token_max = Math.max(held.token_max, granted.token);
      if (before === undefined || before.agent_id !== granted.agent_id)
        return 'by someone who did not hold it';
      const same = before.session_id === granted.session_id;
      return same === (before.token === granted.token) ? undefined : 'the token went with the wrong session';
    }
    case 'lock_expired':
      held.lease = undefined;
      return before === undefined || at_ms < before.expires_at_ms ? 'it had not run out' : undefined;
    case 'task_lease_expired':
    case 'task_dead_lettered':
      held.lease = undefined;
      return before === undefined || at_ms < before.expires_at_ms ? 'it had not run out' : undefined;
    case 'lock_released':
    case 'task_completed':
    case 'task_failed':
      held.lease = undefined;
      if (before === undefined || before.token !== event.data.token) return 'not the grant that was held';
      return at_ms >= before.expires_at_ms ? 'the grant had run out' : undefined;
    case 'task_cancelled':
      held.lease = undefined;
      return undefined;
    default:
      return undefined;
  }
}
