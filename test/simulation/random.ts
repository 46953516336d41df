import type { Random } from '../../src/kernel/ids.ts';

/** A small generator with a seed (splitmix32): the same seed gives the same run, on every machine. */
export class Seeded implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  uint32(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  fraction(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.uint32() & 0xff);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number with `from <= n <= to`. */
  between(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.fraction() * list.length)];
    if (chosen === undefined) throw new Error('nothing to pick from');
    return chosen;
  }
}

/** Each name as often as its weight says: picking from the list is choosing by weight. */
export function spread<N extends string>(weights: Readonly<Record<N, number>>): readonly N[] {
  return (Object.entries(weights) as [N, number][]).flatMap(([name, weight]) => Array<N>(weight).fill(name));
}
