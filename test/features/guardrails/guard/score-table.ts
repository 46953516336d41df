import type { Category } from '../../../../src/features/trust/finding.ts';
import type { Side } from './corpus.ts';
import { PEER_CLAIMS } from './peer.ts';
import { type Asked, percent, tally } from './score.ts';

export const SIDES: readonly Side[] = ['destructive', 'legitimate'];

/** What one guard answered to the same questions as the others. */
export interface Column {
  readonly name: string;
  readonly asked: readonly Asked[];
  readonly blocked: readonly boolean[];
}

export interface Row {
  readonly side: Side;
  readonly category: Category | 'none' | 'all' | 'all that the peer claims';
  readonly claimed_by_peer: boolean;
  readonly operations: number;
  /** Blocked, in percent, by column. */
  readonly blocked: Readonly<Record<string, number>>;
}

/** By category, then all that the peer claims to be about, then all. */
export function rowsOf(columns: readonly Column[]): Row[] {
  const row = (side: Side, category: Row['category'], counts: (asked: Asked) => boolean): Row => {
    const ofSide = (asked: Asked): boolean => asked.side === side && counts(asked);
    const blocked = columns.map(({ name, asked, blocked: answers }) => {
      const chosen = answers.filter((_, index) => ofSide(asked[index] as Asked));
      return [name, percent(tally(asked.filter(ofSide), chosen))] as const;
    });
    const operations = columns[0]?.asked.filter(ofSide).length ?? 0;
    const claimed_by_peer =
      category === 'all' ? false : category.startsWith('all') || PEER_CLAIMS.has(category as Category);
    return { side, category, claimed_by_peer, operations, blocked: Object.fromEntries(blocked) };
  };
  return SIDES.flatMap((side) => {
    const ofSide = (columns[0]?.asked ?? []).filter((asked) => asked.side === side);
    const categories = [...new Set(ofSide.map(({ category }) => category))].sort();
    return [
      ...categories.map((category) => row(side, category, (asked) => asked.category === category)),
      row(side, 'all that the peer claims', ({ category }) => PEER_CLAIMS.has(category)),
      row(side, 'all', () => true),
    ];
  });
}

export function table(rows: readonly Row[], columns: readonly Column[]): string {
  const lines = SIDES.flatMap((side) => [
    [`${side}: blocked`, 'operations', ...columns.map(({ name }) => name)],
    ...rows
      .filter((row) => row.side === side)
      .map(({ category, claimed_by_peer, operations, blocked }) => [
        `  ${category}${category === 'all' || claimed_by_peer ? '' : ' *'}`,
        String(operations),
        ...columns.map(({ name }) => `${(blocked[name] ?? 0).toFixed(1)} %`),
      ]),
    [],
  ]);
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}
