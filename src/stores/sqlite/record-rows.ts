import type { JsonObject } from '../../kernel/json.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityRecord } from '../../ledger/entity.ts';

/**
 * The columns of a lookup by key. Rows come as arrays: objects with names take node:sqlite half as long
 * again.
 */
export const STORED = 'r.version, r.born, r.state';

export type StoredRow = readonly [version: number, born: number, state: string];

/** `key`: the key by which it was found. */
export type RecordRow = readonly [...StoredRow, id: string, key: string];

/** What other tables contain about a record that is in the table. */
export interface StoredAs {
  readonly born: number;
  readonly links: readonly string[];
}

export function toRecord(
  kind: string,
  id: string,
  [version, born, state]: StoredRow | RecordRow,
): EntityRecord {
  return { kind, id, version, born, state: JSON.parse(state) as JsonObject };
}

/** Links are in a table of their own, with the columns they are ordered by. */
export function eachWay<T>(make: (key: string, table: string) => T): Record<Range['by'], T> {
  return {
    id: make('r.id', 'r'),
    sort: make('r.sort_key', 'r'),
    group: make('r.group_key', 'r'),
    link: make('l.link', 'l'),
  };
}

export function selectBy(key: string, table: string): string {
  const from =
    table === 'r'
      ? 'records r'
      : 'links l JOIN records r ON r.project = l.project AND r.kind = l.kind AND r.id = l.id';
  return `SELECT ${STORED}, r.id, ${key} FROM ${from} WHERE ${table}.project = ? AND ${table}.kind = ?`;
}

export function orderBy(key: string, table: string): string {
  return `ORDER BY ${key}, ${table}.born, ${table}.id`;
}
