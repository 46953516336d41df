import { globMatches, nameMatches } from '../../../kernel/glob.ts';
import type { EntityKey } from '../../../ledger/entity.ts';

/** Which records to show, or the events of which records. */
export interface Choice {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
}

/** Most ids are paths, so `*` stays within one name and `**` does not. */
export function chosen({ kind, id }: EntityKey, choice: Choice): boolean {
  return (
    (choice.kind === undefined || nameMatches(choice.kind, kind)) &&
    (choice.id === undefined || globMatches(choice.id, id))
  );
}

/** How many; undefined if the text is not a number. */
export function readLimit(text: string | undefined, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  if (text === 'all') return Number.POSITIVE_INFINITY;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
