import { normEdge } from './edge.ts';

/**
 * What happens to a convergence outside the role's edges. The two weaker actions apply only where the file
 * says so.
 */
export type OutsideAction = 'escalate' | 'reject' | 'warn';

export interface Role {
  readonly description?: string | undefined;
  /** Normalised names; `all` means every edge. */
  readonly converge_edges: readonly string[];
  /** Absent: no. It spares a role the review of a promotion, but never what CLAIM-8 leaves to a person. */
  readonly human_review_bypass?: boolean | undefined;
}

export interface EdgeTerms {
  /** A person decides about each convergence and promotion on this edge. */
  readonly human_required?: boolean | undefined;
  /** Names of the evaluators that must have passed. */
  readonly evaluators?: readonly string[] | undefined;
}

export interface IsolationTerms {
  /** Contains `{agent_id}`; relative to the workspace folder (`.ai-workspace`). */
  readonly drafts_path_template: string;
  readonly scratch_path_template: string;
  /** Where promoted drafts go, relative to the repository. */
  readonly assets_path: string;
  readonly promotion_requires: readonly string[];
  /** Globs, relative to the assets: changing or adding a matching file needs a person. */
  readonly spec_globs: readonly string[];
  readonly adr_globs: readonly string[];
}

export interface RoutingTerms {
  readonly nonzero_inner_product: 'warn' | 'forbid';
  readonly skip_claimed_features: boolean;
}

/** The parts of `agent_roles.yml` that decide something. Plain JSON, because it travels in commands. */
export interface ClaimRules {
  /** Undefined: there is no file. */
  readonly file?: string | undefined;
  readonly roles: Readonly<Record<string, Role>>;
  /** The role of each agent that the file binds: such an agent can't name another one. */
  readonly agents: Readonly<Record<string, string>>;
  readonly outside_authority_action: OutsideAction;
  readonly spec_mutation_requires_human: boolean;
  readonly stale_ms: number;
  readonly stale_action: 'emit_signal' | 'auto_release';
  /** Undefined: claims have no hard end. */
  readonly ttl_ms?: number | undefined;
  /** What an unconfigured identity is called in single-agent mode. */
  readonly single: { readonly agent_id: string; readonly agent_role: string };
  /** Keyed by normalised name. */
  readonly edges: Readonly<Record<string, EdgeTerms>>;
  readonly isolation: IsolationTerms;
  readonly routing: RoutingTerms;
}

const FULL_STACK = 'full_stack';

/** Without a file: among several agents only `full_stack` converges; everything else needs a person. */
export const DEFAULT_RULES: ClaimRules = {
  roles: { [FULL_STACK]: { converge_edges: ['all'] } },
  agents: {},
  outside_authority_action: 'escalate',
  spec_mutation_requires_human: true,
  stale_ms: 1800 * 1000,
  stale_action: 'emit_signal',
  single: { agent_id: 'primary', agent_role: FULL_STACK },
  edges: {},
  isolation: {
    drafts_path_template: 'agents/{agent_id}/drafts',
    scratch_path_template: 'agents/{agent_id}/scratch',
    assets_path: '.',
    promotion_requires: [],
    spec_globs: ['specification/**', 'spec/**', 'specs/**'],
    adr_globs: ['**/adr/**', '**/adrs/**', '**/decisions/**'],
  },
  routing: { nonzero_inner_product: 'warn', skip_claimed_features: true },
};

/** Whether a role may converge an edge by itself. An undefined role may do nothing. */
export function mayConverge({ roles }: Pick<ClaimRules, 'roles'>, agent_role: string, edge: string): boolean {
  const edges = Object.hasOwn(roles, agent_role) ? (roles[agent_role]?.converge_edges ?? []) : [];
  return edges.includes('all') || edges.includes(normEdge(edge));
}

const NO_TERMS: EdgeTerms = {};

export function edgeTerms({ edges }: Pick<ClaimRules, 'edges'>, edge: string): EdgeTerms {
  const name = normEdge(edge);
  return (Object.hasOwn(edges, name) ? edges[name] : undefined) ?? NO_TERMS;
}
