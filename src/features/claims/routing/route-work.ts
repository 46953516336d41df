import { type ClaimRules, mayConverge } from '../claim-rules.ts';
import { BusyFeatures, type Others } from './busy.ts';
import type {
  Crew,
  Feature,
  FeatureRouting,
  HeldUp,
  ModuleGraph,
  Suggestion,
  TakenEdge,
  Unassigned,
} from './feature.ts';
import { groupsOf } from './feature-groups.ts';
import { Progress } from './feature-progress.ts';
import { ModuleSpace } from './modules.ts';
import { compareRanks, type Rank, rankOf, whyBefore } from './ranking.ts';
import { withUnplanned } from './unplanned.ts';

export interface RoutingPlan {
  readonly features: readonly Feature[];
  readonly modules: ModuleGraph;
}

/** A feature that could be worked on, with the edges that could be started. */
interface Candidate {
  readonly rank: Rank;
  readonly edges: string[];
}

/**
 * What each agent should take next. Among the work open to it, an agent first gets what its role may
 * converge, then what shares no module with the work of other agents, then the feature that ranks first. So
 * two agents are sent to the same modules only when nothing else is left, and are told so.
 */
export function route(
  plan: RoutingPlan,
  taken: readonly TakenEdge[],
  crew: readonly Crew[],
  rules: ClaimRules,
  now_ms: number,
): FeatureRouting {
  const features = withUnplanned(plan.features, taken);
  const progress = new Progress(features, taken);
  const space = new ModuleSpace(features, plan.modules);
  const busy = new BusyFeatures(space, taken);
  const ranks = ranksOf(features, taken, progress, now_ms);
  const { candidates, held_up, waiting } = sift(features, {
    progress,
    ranks,
    claimed: busy.claimed,
    rules,
    now_ms,
  });
  for (const { feature, edge, waits } of taken)
    if (waits !== undefined) waiting.push({ feature, edge, reason: waits });
  const assignments: Suggestion[] = [];
  const unassigned: Unassigned[] = [];
  for (const agent of crew) {
    const choice = choose(agent, candidates, busy.othersThan(agent.agent_id), rules);
    if (typeof choice === 'string') unassigned.push({ ...agent, reason: choice });
    else {
      assignments.push(choice);
      busy.assign(choice);
      strike(candidates, choice, rules);
    }
  }
  const order = (a: string, b: string) => compareRanks(rankIn(ranks, a), rankIn(ranks, b));
  const open = features
    .filter((each) => each.status !== 'set_aside' && progress.unconverged(each).length > 0)
    .map(({ feature }) => feature);
  const isUnderWay = taken.some(({ agent_id, waits }) => agent_id !== undefined && waits === undefined);
  return {
    assignments,
    warnings: busy.warnings(order),
    groups: groupsOf(open.toSorted(order), space),
    unassigned,
    held_up,
    waiting,
    waiting_for_person: assignments.length === 0 && waiting.length > 0 && !isUnderWay,
  };
}

function ranksOf(
  features: readonly Feature[],
  taken: readonly TakenEdge[],
  progress: Progress,
  now_ms: number,
): Map<string, Rank> {
  const active = new Map<string, number>();
  for (const { feature, last_active_ms = 0 } of taken)
    active.set(feature, Math.max(active.get(feature) ?? 0, last_active_ms));
  return new Map(
    features.map((feature) => {
      const touched_ms = Math.max(feature.touched_ms, active.get(feature.feature) ?? 0);
      return [feature.feature, rankOf(feature, progress, touched_ms, now_ms)];
    }),
  );
}

function rankIn(ranks: ReadonlyMap<string, Rank>, feature: string): Rank {
  return ranks.get(feature) ?? { feature, tiers: [] };
}

interface Sifting {
  readonly progress: Progress;
  readonly ranks: ReadonlyMap<string, Rank>;
  readonly claimed: ReadonlySet<string>;
  readonly rules: ClaimRules;
  readonly now_ms: number;
}

/** The features that can be worked on, best first; those that can't yet, and those that need a person. */
function sift(
  features: readonly Feature[],
  { progress, ranks, claimed, rules, now_ms }: Sifting,
): { candidates: Candidate[]; held_up: HeldUp[]; waiting: HeldUp[] } {
  const candidates: Candidate[] = [];
  const held_up: HeldUp[] = [];
  const waiting: HeldUp[] = [];
  for (const feature of features) {
    const { feature: name, status } = feature;
    if (status === 'set_aside' || progress.unconverged(feature).length === 0) continue;
    const missing = status === 'blocked' ? 'blocked, as its file says' : progress.missing(feature);
    const isOver = status === 'time_box_expired' || (feature.time_box_ends_ms ?? now_ms + 1) <= now_ms;
    if (isOver) waiting.push({ feature: name, reason: 'its time box is over' });
    else if (missing !== undefined) held_up.push({ feature: name, reason: missing });
    else if (!rules.routing.skip_claimed_features || !claimed.has(name)) {
      const edges = progress.openEdges(feature).map(({ edge }) => edge);
      if (edges.length > 0) candidates.push({ rank: rankIn(ranks, name), edges });
    }
  }
  candidates.sort((a, b) => compareRanks(a.rank, b.rank));
  return { candidates, held_up, waiting };
}

interface Offer {
  readonly rank: Rank;
  readonly edge: string;
  readonly mayEnd: boolean;
  readonly isClear: boolean;
}

function choose(
  agent: Crew,
  candidates: readonly Candidate[],
  others: Others,
  rules: ClaimRules,
): Suggestion | string {
  const best = new Map<string, Offer[]>();
  for (const { rank, edges } of candidates) {
    const isClear = others.leaveAlone(rank.feature);
    if (!isClear && rules.routing.nonzero_inner_product === 'forbid') continue;
    const own = edges.find((edge) => mayConverge(rules, agent.agent_role, edge));
    const [edge = own] = own === undefined ? edges : [own];
    if (edge === undefined) continue;
    const kind = `${own !== undefined} ${isClear}`;
    const offers = best.get(kind);
    const offer = { rank, edge, mayEnd: own !== undefined, isClear };
    if (offers === undefined) best.set(kind, [offer]);
    // The runner-up shows which tier decided for the best one.
    else if (offers.length < 2) offers.push(offer);
  }
  for (const kind of ['true true', 'true false', 'false true', 'false false']) {
    const [first, second] = best.get(kind) ?? [];
    if (first === undefined) continue;
    const reason = reasonFor(first, second, agent, others, rules);
    return { ...agent, feature: first.rank.feature, edge: first.edge, reason };
  }
  if (candidates.length === 0) return 'nothing is open: all is done, claimed, or waits for something else';
  return 'everything that is open shares modules with what others work on';
}

function reasonFor(
  { rank, edge, mayEnd, isClear }: Offer,
  second: Offer | undefined,
  { agent_role }: Crew,
  others: Others,
  rules: ClaimRules,
): string {
  const parts = [whyBefore(rank, second?.rank)];
  if (!isClear) parts.push(others.inTheWay(rank.feature));
  else if (others.areThere) parts.push('shares no module with what others work on');
  if (!mayEnd && rules.outside_authority_action !== 'warn')
    parts.push(
      rules.outside_authority_action === 'reject'
        ? `somebody else has to converge it: ${agent_role} may not`
        : `a person has to agree to its convergence ${agent_role === '' ? 'without a role' : `by ${agent_role}`}`,
    );
  else if (rules.edges[edge]?.human_required === true) parts.push('a person decides about its convergence');
  return parts.filter((part) => part !== '').join('; ');
}

/**
 * Removes what was assigned. Where only one agent at a time may work on a feature, it removes the rest of the
 * feature too.
 */
function strike(candidates: Candidate[], { feature, edge }: Suggestion, rules: ClaimRules): void {
  const index = candidates.findIndex(({ rank }) => rank.feature === feature);
  const candidate = candidates[index];
  if (candidate === undefined) return;
  candidate.edges.splice(candidate.edges.indexOf(edge), 1);
  if (rules.routing.skip_claimed_features || candidate.edges.length === 0) candidates.splice(index, 1);
}
