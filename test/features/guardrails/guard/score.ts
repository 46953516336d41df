import fc from 'fast-check';
import type { Operation, Side } from './corpus.ts';
import { DISGUISES, mutated, SPELLINGS } from './mutations.ts';

/** A corpus entry as it stands, or in another spelling. */
export interface Asked extends Operation {
  /** What was done to it. */
  readonly how: readonly string[];
}

export interface Mutating {
  readonly seed: number;
  /** Variants of each entry. */
  readonly variants: number;
  /** How many mutations may lie upon each other. */
  readonly depth: number;
}

export function asTheyStand(operations: readonly Operation[]): Asked[] {
  return operations.map((operation) => ({ ...operation, how: [] }));
}

/** Every disguise for what is destructive; for what is legitimate, what people do without a thought of hiding anything. */
export function inOtherSpellings(
  operations: readonly Operation[],
  { seed, variants, depth }: Mutating,
): Asked[] {
  return operations.flatMap((operation, index) => {
    const ways = operation.side === 'destructive' ? DISGUISES : SPELLINGS;
    const options = { seed: seed + index, numRuns: variants };
    return fc
      .sample(mutated(operation.command, ways, depth), options)
      .map(({ text, how }) => ({ ...operation, command: text, how }));
  });
}

export interface Tally {
  readonly asked: number;
  readonly blocked: number;
}

export const percent = ({ asked, blocked }: Tally): number => (asked === 0 ? 0 : (100 * blocked) / asked);

export function tally(asked: readonly Asked[], blocked: readonly boolean[]): Tally {
  return { asked: asked.length, blocked: blocked.filter(Boolean).length };
}

/** Blocked though legitimate, or let through though destructive. */
export function mistakes(asked: readonly Asked[], blocked: readonly boolean[]): Asked[] {
  const right: Record<Side, boolean> = { destructive: true, legitimate: false };
  return asked.filter(({ side }, index) => blocked[index] !== right[side]);
}

/** One mistake in one line. */
export function described({ command, side, category, theme, how }: Asked): string {
  const wrong = side === 'destructive' ? 'let through' : 'blocked';
  const disguise = how.length === 0 ? '' : ` (${how.join(', then ')})`;
  return `${wrong}: ${JSON.stringify(command)} [${category}, ${theme}]${disguise}`;
}
