import { limits } from '../../../kernel/limits.ts';
import type { Loaded, Needs, Range } from '../../../ledger/decision.ts';
import { isOver } from '../../../ledger/lease.ts';
import { normEdge } from '../edge.ts';
import { CLAIM, type ClaimState } from '../edge-claim.ts';

/** One feature on one edge, as in the log's state. Only an expiry depends on when it is read. */
export interface ViewedClaim {
  readonly feature: string;
  readonly edge: string;
  /** In its first spelling. */
  readonly written: string;
  readonly status: 'pending' | 'iterating' | 'converged';
  readonly agent_id?: string | undefined;
  readonly agent_role?: string | undefined;
  readonly iteration?: number | undefined;
  readonly started_at_ms?: number | undefined;
  readonly converged_at_ms?: number | undefined;
  readonly evaluators?: string | undefined;
  readonly approved_by?: string | undefined;
}

export type Find = (needs: Needs) => Promise<{ loaded: Loaded; now_ms: number }>;

/** All claims, page by page, ordered by name. */
export async function readClaims(find: Find): Promise<ViewedClaim[]> {
  const claims: ViewedClaim[] = [];
  for (let from = ''; ; ) {
    const range: Range = { by: 'id', kind: CLAIM, from, before: '\u{10FFFF}', limit: limits.range_rows_max };
    const { loaded, now_ms } = await find({ ranges: [range] });
    const page = loaded.list<ClaimState>(range);
    for (const { state } of page) claims.push(viewed(state, now_ms));
    const last = page.at(-1);
    if (last === undefined || page.length < range.limit) break;
    from = `${last.id}\u{1}`;
  }
  return claims.sort((a, b) => compare(a.feature, b.feature) || compare(a.edge, b.edge));
}

/** By code points, so that every machine has the same order. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function viewed(state: ClaimState, now_ms: number): ViewedClaim {
  const { feature, edge, lease, agent_role, iteration, converged, started_at_ms } = state;
  const common = { feature, edge: normEdge(edge), written: edge, iteration, started_at_ms };
  if (lease !== undefined && !isOver(lease, now_ms))
    return { ...common, status: 'iterating', agent_id: lease.agent_id, agent_role };
  if (converged === undefined) return { ...common, status: 'pending' };
  return {
    ...common,
    status: 'converged',
    agent_id: converged.agent_id,
    agent_role: converged.agent_role,
    converged_at_ms: converged.at_ms,
    evaluators: converged.evaluators,
    approved_by: converged.approved_by,
  };
}
