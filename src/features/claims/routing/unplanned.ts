import { normEdge } from '../edge.ts';
import type { Feature, TakenEdge } from './feature.ts';

const PRIORITY_DEFAULT = 5;

/**
 * Features without a file are known only by their claims: the edges that were ever worked on, with unknown
 * modules. A feature that has a file is what the file says; an edge outside its trajectory was most likely a
 * slip.
 */
export function withUnplanned(features: readonly Feature[], taken: readonly TakenEdge[]): Feature[] {
  const planned = new Set(features.map(({ feature }) => feature));
  const edges = new Map<string, TakenEdge[]>();
  for (const each of taken) {
    if (planned.has(each.feature)) continue;
    const list = edges.get(each.feature);
    if (list === undefined) edges.set(each.feature, [each]);
    else list.push(each);
  }
  const unplanned = [...edges].map(
    ([feature, list]): Feature => ({
      feature,
      vector_type: 'feature',
      status: 'in_progress',
      priority: PRIORITY_DEFAULT,
      // The order of the edges is unknown: each stands alone.
      trajectory: list.map(({ edge, converged }) => ({
        edge: normEdge(edge),
        status: converged === true ? 'converged' : 'iterating',
        from: '',
        to: normEdge(edge),
      })),
      dependencies: [],
      touched_ms: Math.max(...list.map(({ last_active_ms = 0 }) => last_active_ms)),
    }),
  );
  return [...features, ...unplanned];
}
