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
