import { globMatches, nameMatches } from '../../../kernel/glob.ts';
import type { EntityKey } from '../../../ledger/entity.ts';

/** Which records, or what happened to which. */
export interface Choice {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
}

/** Ids are paths more often than not, so `*` stays within a name there and `**` does not. */
export function chosen({ kind, id }: EntityKey, choice: Choice): boolean {
  return (
    (choice.kind === undefined || nameMatches(choice.kind, kind)) &&
    (choice.id === undefined || globMatches(choice.id, id))
  );
}

/** How many; undefined for what is no number. */
export function readLimit(text: string | undefined, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  if (text === 'all') return Number.POSITIVE_INFINITY;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
