import { areaName } from '../../kernel/area.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Refusal, refuse } from '../../kernel/refusal.ts';
import type { Blocker, ReachFindings, Wish } from './reach.ts';

/**
 * Who is in the way, why, until when: the first obstacle as always, and all of them unless a single plain
 * file was requested.
 */
export function blocked(
  wish: Wish & { readonly single: boolean; readonly waited?: boolean | undefined },
  findings: ReachFindings,
  now_ms: number,
): Refusal {
  // A holder says more than a waiter.
  const ordered = [...findings.blockers].sort(
    (a, b) => Number(a.lease === undefined) - Number(b.lease === undefined),
  );
  const [chief] = ordered;
  if (chief === undefined) return refuse('blocked', 'Somebody is in the way.');
  const plain = wish.single && ordered.length === 1;
  const line = wish.waited ? findings.line : undefined;
  return refuse('blocked', sentence(chief), {
    reason: chief.lease === undefined ? 'others_wait_first' : 'locked_by_other',
    ...describe(chief),
    conflicts: plain ? undefined : ordered.slice(0, 50).map(describe),
    position: line === undefined ? undefined : positionOf(findings),
    waited_seconds: line === undefined ? undefined : secondsSince(line.since_ms, now_ms),
  });
}

export function secondsSince(since_ms: number, now_ms: number): number {
  return Math.max(0, Math.round((now_ms - since_ms) / 100) / 10);
}

/** 1 is next. */
function positionOf({ blockers }: ReachFindings): number {
  return 1 + new Set(blockers.flatMap(({ waiter }) => waiter?.id ?? [])).size;
}

function describe({ wanted, area, lease, waiter }: Blocker): JsonObject {
  const name = areaName(area);
  const who = lease ?? waiter;
  return {
    file_path: areaName(wanted),
    overlaps: name === areaName(wanted) ? undefined : name,
    locked_by: who.agent_id,
    agent_type: who.agent_type,
    shared: who.shared,
    waiting: waiter === undefined ? undefined : true,
    expires_at: isoTime(lease === undefined ? waiter.alive_until_ms : lease.expires_at_ms),
    lock_reason: lease?.reason,
  };
}

function sentence({ wanted, area, lease, waiter }: Blocker): string {
  const [path, name] = [areaName(wanted), areaName(area)];
  const what = name === path ? `${path} is` : `${path} overlaps ${name}, which is`;
  if (lease === undefined) return `${what} next for ${waiter.agent_id}, who waits in line.`;
  const until = isoTime(lease.expires_at_ms);
  const why = lease.reason === undefined ? '' : ` (${JSON.stringify(lease.reason)})`;
  return `${what} locked by ${lease.agent_id} until ${until}${why}.`;
}

/** Waiting would never end: each of the two holds what the other waits for. */
export function wouldDeadlock({ wanted, lease, waiter }: Blocker): Refusal {
  const { agent_id } = lease ?? waiter;
  const path = areaName(wanted);
  return refuse('would_deadlock', `${agent_id} is in the way of ${path} and waits for a lock of yours.`, {
    file_path: path,
    locked_by: agent_id,
  });
}
