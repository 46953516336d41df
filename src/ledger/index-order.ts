import { compareBytes } from '../kernel/byte-order.ts';
import type { Range } from './decision.ts';
import type { EntityKey, EntityRecord, IndexKeys } from './entity.ts';

/** A record at one of its places in an index. */
export interface Placed {
  readonly key: string;
  readonly record: EntityRecord;
}

/** The keys under which one index has a record. */
export function keysOf({ id }: EntityKey, keys: IndexKeys, by: Range['by']): readonly string[] {
  if (by === 'id') return [id];
  if (by === 'link') return keys.links ?? [];
  const key = by === 'sort' ? keys.sort : keys.group;
  return key === undefined ? [] : [key];
}

interface Birth {
  readonly born: number;
  readonly id: string;
}

/** Equal keys are first in, first out. */
export function inIndexOrder(key: string, a: Birth, other: string, b: Birth): number {
  return compareBytes(key, other) || a.born - b.born || compareBytes(a.id, b.id);
}

/** Times in index keys: their order as text is the order of time. */
export function padded(time_ms: number): string {
  return String(Math.floor(time_ms)).padStart(15, '0');
}

/**
 * An index is read upwards: to be found newest first, a record's key is the time left until the end of time.
 */
export function newestFirst(time_ms: number): string {
  return padded(999_999_999_999_999 - Math.floor(time_ms));
}
