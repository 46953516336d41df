import { normEdge } from '../edge.ts';

/** One step of a feature: the asset it starts from and the one it leads to. */
export interface TopologyStep {
  /** Normalised. */
  readonly edge: string;
  /** Undefined: unknown, so it comes after every step before it. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const step = (from: string, to: string): TopologyStep => ({ edge: normEdge(`${from}_${to}`), from, to });

/** The default graph. */
const DEFAULT_STEPS: readonly TopologyStep[] = [
  step('intent', 'requirements'),
  step('requirements', 'design'),
  step('design', 'code'),
  step('code', 'unit_tests'),
  step('design', 'test_cases'),
  step('design', 'uat_tests'),
  step('code', 'cicd'),
  step('cicd', 'running_system'),
  step('running_system', 'telemetry'),
  step('telemetry', 'intent'),
];

const START = 'intent';
const byEdge = new Map(DEFAULT_STEPS.map((each) => [each.edge, each]));
const byAsset = new Map(
  DEFAULT_STEPS.filter(({ to }) => to !== START).map((each) => [each.to ?? '', each] as const),
);
const ARROW = /<?[-=]+>|[→↔⇒⇔]/u;

/** The trajectory of a feature whose file gives none. */
const DEFAULT_TRAJECTORY: readonly TopologyStep[] = DEFAULT_STEPS.slice(0, 4);

/** The usual steps if a trajectory names no steps; none if it names any. */
export function usualSteps(named: readonly (TopologyStep | undefined)[]): readonly TopologyStep[] {
  return named.some((each) => each !== undefined) ? [] : DEFAULT_TRAJECTORY;
}

/**
 * The steps of a trajectory, whose keys are edges (`design→code`, `design_code`) or, more often, the assets
 * they lead to. An asset outside the default graph is a step in between: it starts from the step before it,
 * and the step after it starts from it.
 */
export function stepsOf(keys: readonly string[]): (TopologyStep | undefined)[] {
  let before: string | undefined;
  return keys.map((key) => {
    const found = stepOf(key, before);
    before = found?.to ?? (normEdge(key) === START ? START : undefined);
    return found;
  });
}

function stepOf(key: string, before: string | undefined): TopologyStep | undefined {
  const name = normEdge(key);
  const known = byEdge.get(name);
  if (known !== undefined) return known;
  if (ARROW.test(key)) {
    const [from = '', to = '', more] = key.split(ARROW).map(normEdge);
    return more === undefined && from !== '' && to !== '' ? step(from, to) : { edge: name };
  }
  // Nothing leads to it: it is the starting point.
  if (name === START || name === '') return undefined;
  const usual = byAsset.get(name);
  const isBetween = before !== undefined && before !== START && !byAsset.has(before);
  return usual === undefined || isBetween ? step(before ?? START, name) : usual;
}

/** The edge that leads to an asset of the default graph: some files name the asset and mean the edge. */
export function edgeToAsset(name: string): string | undefined {
  return byAsset.get(normEdge(name))?.edge;
}
