import { normEdge, normFeature } from '../edge.ts';
import { claimId } from '../edge-claim.ts';
import type { Feature, TakenEdge } from './feature.ts';

type StepState = Feature['trajectory'][number];

/** An edge that no agent works on and that could be started now. */
export interface OpenEdge {
  readonly feature: string;
  readonly edge: string;
}

/** How far each feature has got: what its file says, and what the claims have said since. */
export class Progress {
  readonly #features: ReadonlyMap<string, Feature>;
  readonly #taken: ReadonlyMap<string, TakenEdge>;

  constructor(features: readonly Feature[], taken: readonly TakenEdge[]) {
    this.#features = new Map(features.map((feature) => [feature.feature, feature]));
    this.#taken = new Map(taken.map((each) => [claimId(each.feature, each.edge), each]));
  }

  claim(feature: string, edge: string): TakenEdge | undefined {
    return this.#taken.get(claimId(feature, edge));
  }

  /** A new claim on it overrides that it was converged before. */
  isConverged(feature: Feature, { edge, status }: StepState): boolean {
    const claim = this.claim(feature.feature, edge);
    if (claim?.agent_id !== undefined) return false;
    return claim?.converged === true || status === 'converged' || feature.status === 'converged';
  }

  unconverged(feature: Feature): StepState[] {
    return feature.trajectory.filter((step) => !this.isConverged(feature, step));
  }

  /** The edges that can be started: not held, and everything they build on is done. */
  openEdges(feature: Feature): OpenEdge[] {
    const left = this.unconverged(feature);
    const ready = left.filter(
      (step) => !left.some((other) => other !== step && isBefore(other, step, feature)),
    );
    // If each edge waits for another one (the graph leads back to `intent`), the first one begins.
    return (ready.length === 0 ? left.slice(0, 1) : ready)
      .filter((step) => this.claim(feature.feature, step.edge)?.agent_id === undefined)
      .map(({ edge }) => ({ feature: feature.feature, edge }));
  }

  /** In words; undefined: all dependencies are met. */
  missing(feature: Feature): string | undefined {
    for (const { feature: name, asset, resolved } of feature.dependencies) {
      const other = this.#features.get(normFeature(name));
      const what = asset === undefined ? name : `${name} (${asset})`;
      const isAside = other?.status === 'set_aside';
      // An unknown feature, or one that was put away, counts as not done, unless the file says that it is.
      if ((other === undefined || isAside) && resolved === true) continue;
      if (other === undefined) return `waits for ${what}, of which nothing is known`;
      if (!this.#isReached(other, asset))
        return isAside ? `waits for ${what}, which is archived or dismissed` : `waits for ${what}`;
    }
    return undefined;
  }

  /** An asset that is no step of the other feature exists once that whole feature is done. */
  #isReached(feature: Feature, asset: string | undefined): boolean {
    const name = asset === undefined ? undefined : normEdge(asset);
    const step = feature.trajectory.find(({ edge, to }) => to === name || edge === name);
    if (name !== undefined && step !== undefined) return this.isConverged(feature, step);
    return this.unconverged(feature).length === 0;
  }
}

/**
 * Whether `other` has to be done first, because it leads to what `step` starts from. Where that is unknown,
 * the order in the file counts.
 */
function isBefore(other: StepState, step: StepState, { trajectory }: Feature): boolean {
  if (step.from !== undefined && other.to !== undefined) return other.to === step.from;
  return trajectory.indexOf(other) < trajectory.indexOf(step);
}
