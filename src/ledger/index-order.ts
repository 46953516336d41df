import { compareBytes } from '../kernel/byte-order.ts';
import type { Range } from './decision.ts';
import type { EntityKey, EntityRecord, IndexKeys } from './entity.ts';

/** A record at one of the places where it is found. */
export interface Placed {
  readonly key: string;
  readonly record: EntityRecord;
}

/** Under which keys a record is found by one of the ways to look for it. */
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

/** Equal keys come first in, first out. */
export function inIndexOrder(key: string, a: Birth, other: string, b: Birth): number {
  return compareBytes(key, other) || a.born - b.born || compareBytes(a.id, b.id);
}

/** Times in index keys: their order as text is that of time. */
export function padded(time_ms: number): string {
  return String(Math.floor(time_ms)).padStart(15, '0');
}

/** An index is read upwards: who is to be found newest first stands under what is left until the end of time. */
export function newestFirst(time_ms: number): string {
  return padded(999_999_999_999_999 - Math.floor(time_ms));
}
