import type { Feature, ModuleGraph } from './feature.ts';

/** Which modules a feature reaches: those it names and everything they build on. One bit each. */
export type Vector = Uint32Array;

/**
 * Every feature as a vector over the modules. A feature with unknown modules has no vector, and is orthogonal
 * to no feature.
 */
export class ModuleSpace {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #below: number[][] = [];
  readonly #vectors = new Map<string, Vector>();

  constructor(features: readonly Feature[], graph: ModuleGraph) {
    for (const [module, depends_on] of Object.entries(graph))
      this.#below[this.#number(module)] = depends_on.map((name) => this.#number(name));
    const known = features.flatMap(({ feature, modules }) =>
      modules === undefined ? [] : [{ feature, modules: modules.map((name) => this.#number(name)) }],
    );
    for (const { feature, modules } of known) this.#vectors.set(feature, this.#closure(modules));
  }

  vector(feature: string): Vector | undefined {
    return this.#vectors.get(feature);
  }

  empty(): Vector {
    return new Uint32Array(Math.ceil(this.#names.length / 32));
  }

  /** Modules that both reach, at most `max`, ordered by name. */
  shared(a: Vector, b: Vector, max: number): string[] {
    const found: string[] = [];
    for (let word = 0; word < a.length && found.length < max; word += 1) {
      let both = (a[word] ?? 0) & (b[word] ?? 0);
      for (; both !== 0 && found.length < max; both &= both - 1)
        found.push(this.#names[word * 32 + 31 - Math.clz32(both & -both)] ?? '');
    }
    return found.sort();
  }

  #number(module: string): number {
    const known = this.#numbers.get(module);
    if (known !== undefined) return known;
    const number = this.#names.length;
    this.#numbers.set(module, number);
    this.#names.push(module);
    return number;
  }

  /** Each module is visited once, so that a dependency cycle ends. */
  #closure(modules: readonly number[]): Vector {
    const reached = this.empty();
    const queue = [...modules];
    for (let module = queue.pop(); module !== undefined; module = queue.pop()) {
      const [word, bit] = [module >>> 5, 1 << (module & 31)];
      if (((reached[word] ?? 0) & bit) !== 0) continue;
      reached[word] = (reached[word] ?? 0) | bit;
      for (const below of this.#below[module] ?? []) queue.push(below);
    }
    return reached;
  }
}

export function isDisjoint(a: Vector, b: Vector): boolean {
  for (let word = 0; word < a.length; word += 1) if (((a[word] ?? 0) & (b[word] ?? 0)) !== 0) return false;
  return true;
}

/** How many modules both reach. */
export function innerProduct(a: Vector, b: Vector): number {
  let count = 0;
  for (let word = 0; word < a.length; word += 1)
    for (let both = (a[word] ?? 0) & (b[word] ?? 0); both !== 0; both &= both - 1) count += 1;
  return count;
}

/** `into` becomes the union of both. */
export function unite(into: Vector, other: Vector): void {
  for (let word = 0; word < into.length; word += 1) into[word] = (into[word] ?? 0) | (other[word] ?? 0);
}
