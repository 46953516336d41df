import { limits } from '../../../kernel/limits.ts';
import type { PairAdvice, Suggestion, TakenEdge } from './feature.ts';
import { innerProduct, isDisjoint, type ModuleSpace, unite, type Vector } from './modules.ts';

/** A feature that an agent works on, or is about to. */
interface Busy {
  readonly feature: string;
  readonly agent_id: string;
}

/** The features being worked on, and what conflicts with them. */
export class BusyFeatures {
  readonly #space: ModuleSpace;
  readonly #claimed: Busy[];
  readonly #assigned: Busy[] = [];

  constructor(space: ModuleSpace, taken: readonly TakenEdge[]) {
    this.#space = space;
    const claimed = taken.flatMap(({ feature, agent_id }) =>
      agent_id === undefined ? [] : [{ feature, agent_id }],
    );
    this.#claimed = [...new Map(claimed.map((each) => [`${each.feature}\n${each.agent_id}`, each])).values()];
  }

  assign({ feature, agent_id }: Suggestion): void {
    this.#assigned.push({ feature, agent_id });
  }

  /** Features with a claimed edge. */
  get claimed(): ReadonlySet<string> {
    return new Set(this.#claimed.map(({ feature }) => feature));
  }

  /** What the agent should avoid: everything that other agents work on. */
  othersThan(agent_id: string): Others {
    const others = [...this.#claimed, ...this.#assigned].filter((busy) => busy.agent_id !== agent_id);
    const reach = this.#space.empty();
    let isKnown = true;
    for (const { feature } of others) {
      const vector = this.#space.vector(feature);
      if (vector === undefined) isKnown = false;
      else unite(reach, vector);
    }
    return new Others(this.#space, others, isKnown ? reach : undefined);
  }

  /** The pairs that should not run side by side; new assignments come before features already in progress. */
  warnings(order: (a: string, b: string) => number): PairAdvice[] {
    const found: PairAdvice[] = [];
    const claimed = this.#claimed.slice(0, limits.claims_listed_max);
    const seen = new Set<string>();
    const look = (first: Busy, second: Busy) => {
      const key = [first.feature, second.feature].sort().join('\n');
      if (first.agent_id === second.agent_id || first.feature === second.feature || seen.has(key)) return;
      const advice = adviceFor(first.feature, second.feature, this.#space);
      if (advice.is_orthogonal) return;
      seen.add(key);
      found.push({ ...advice, order: [first.feature, second.feature] });
    };
    const isFull = () => found.length >= limits.routing_listed_max;
    const inOrder = (list: readonly Busy[]) => list.toSorted((a, b) => order(a.feature, b.feature));
    const [running, next] = [inOrder(claimed), inOrder(this.#assigned)];
    for (const second of next) for (const first of running) if (!isFull()) look(first, second);
    for (const list of [next, running])
      for (const [index, first] of list.entries())
        for (let other = index + 1; other < list.length && !isFull(); other += 1)
          look(first, list[other] as Busy);
    return found;
  }
}

/** What other agents work on, seen from one agent. */
export class Others {
  readonly #space: ModuleSpace;
  readonly #busy: readonly Busy[];
  /** Undefined: it is unknown what they touch. */
  readonly #reach: Vector | undefined;

  constructor(space: ModuleSpace, busy: readonly Busy[], reach: Vector | undefined) {
    this.#space = space;
    this.#busy = busy;
    this.#reach = reach;
  }

  get areThere(): boolean {
    return this.#busy.length > 0;
  }

  /** Shares no module with any of them. */
  leaveAlone(feature: string): boolean {
    if (this.#busy.length === 0) return true;
    const vector = this.#space.vector(feature);
    return vector !== undefined && this.#reach !== undefined && isDisjoint(vector, this.#reach);
  }

  /** Which agents are in its way, in words. */
  inTheWay(feature: string): string {
    for (const { feature: other, agent_id } of this.#busy) {
      const { is_orthogonal, inner_product, shared_modules } = adviceFor(feature, other, this.#space);
      if (is_orthogonal) continue;
      if (other === feature) return `${agent_id} works on another edge of it`;
      if (shared_modules.length === 0)
        return `whether it shares modules with ${other} (${agent_id}) is not known: better after it`;
      return `shares ${listed(shared_modules, inner_product)} with ${other} (${agent_id}): better after it`;
    }
    return '';
  }
}

function listed(names: readonly string[], count: number): string {
  return count > 3 ? `${names.slice(0, 3).join(', ')} and ${count - 3} more modules` : names.join(', ');
}

export function adviceFor(feature_a: string, feature_b: string, space: ModuleSpace): PairAdvice {
  const [a, b] = [space.vector(feature_a), space.vector(feature_b)];
  const isKnown = a !== undefined && b !== undefined;
  const is_orthogonal = isKnown && isDisjoint(a, b);
  const shared_modules =
    isKnown && !is_orthogonal ? space.shared(a, b, limits.shared_modules_listed_max) : [];
  const unknown = [a === undefined ? [feature_a] : [], b === undefined ? [feature_b] : []].flat();
  return {
    feature_a,
    feature_b,
    inner_product: isKnown ? innerProduct(a, b) : 0,
    is_orthogonal,
    advice: is_orthogonal ? 'parallel_safe' : 'sequential_recommended',
    shared_modules,
    ...(isKnown ? {} : { unknown_modules: unknown }),
  };
}
