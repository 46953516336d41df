import { DEFAULT_RULES } from '../../../src/features/claims/claim-rules.ts';
import type { Feature, TakenEdge } from '../../../src/features/claims/routing/feature.ts';
import { type RoutingPlan, route } from '../../../src/features/claims/routing/route-work.ts';
import { stepsOf } from '../../../src/features/claims/routing/topology.ts';

export const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
export const HOUR_MS = 3_600_000;

export const ROLES = {
  ...DEFAULT_RULES,
  roles: {
    architect: { converge_edges: ['intent_requirements', 'requirements_design', 'design_code'] },
    tdd_engineer: { converge_edges: ['code_unit_tests', 'design_test_cases'] },
    full_stack: { converge_edges: ['all'] },
  },
};

type Given = Omit<Partial<Feature>, 'trajectory'> & { done?: readonly string[]; assets?: readonly string[] };

/** A feature through the four usual steps, of which some are done. */
export function aFeature(feature: string, given: Given = {}): Feature {
  const { done = [], assets = ['requirements', 'design', 'code', 'unit_tests'], ...rest } = given;
  const trajectory = stepsOf(assets).flatMap((step) =>
    step === undefined
      ? []
      : [{ ...step, status: done.includes(step.to ?? '') ? ('converged' as const) : ('pending' as const) }],
  );
  return {
    feature,
    vector_type: 'feature',
    status: 'pending',
    priority: 5,
    dependencies: [],
    touched_ms: 0,
    trajectory,
    ...rest,
  };
}

export interface Situation {
  readonly features: readonly Feature[];
  readonly modules?: RoutingPlan['modules'];
  readonly taken?: readonly TakenEdge[];
  readonly crew?: Readonly<Record<string, string>>;
  readonly rules?: typeof DEFAULT_RULES;
}

export function routed({
  features,
  modules = {},
  taken = [],
  crew = { me: 'full_stack' },
  rules = ROLES,
}: Situation) {
  const agents = Object.entries(crew).map(([agent_id, agent_role]) => ({ agent_id, agent_role }));
  return route({ features, modules }, taken, agents, rules, NOW_MS);
}

/** `agent feature edge`, for each that got something. */
export function tasks(situation: Situation): string[] {
  return routed(situation).assignments.map(({ agent_id, feature, edge }) => `${agent_id} ${feature} ${edge}`);
}
