import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { JsonObject } from '../../kernel/json.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { EntityKey, EntityRecord, EntityType } from '../../ledger/entity.ts';
import { stateTooLarge } from '../../ledger/proposal.ts';
import type { ItemPlace } from './item-layout.ts';

export type Item = Record<string, AttributeValue>;

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number): AttributeValue => ({ N: String(value) });

export function keyOf({ PK, SK }: ItemPlace): Item {
  return { PK: text(PK), SK: text(SK) };
}

export function textOf(item: Item | undefined, name: string): string | undefined {
  return item?.[name]?.S;
}

export function numberOf(item: Item | undefined, name: string): number | undefined {
  const value = item?.[name]?.N;
  return value === undefined ? undefined : Number(value);
}

/**
 * DynamoDB deletes expired items up to two days late. We mark them as expired only a day after they are over.
 */
const SWEPT_AFTER_MS = 24 * 3600 * 1000;

export function ttl(over_ms: number, after_ms = SWEPT_AFTER_MS): AttributeValue {
  return number(Math.ceil((over_ms + after_ms) / 1000));
}

/**
 * A record and the stamp of the commit that last wrote it: a commit that relies on it comes after it in the
 * log.
 */
export interface Stamped {
  readonly record: EntityRecord;
  readonly stamp: number;
}

export function recordItem(place: ItemPlace, { record, stamp }: Stamped, type: EntityType): Item {
  const state = JSON.stringify(record.state);
  const tooLarge = stateTooLarge(record.kind, state);
  if (tooLarge !== undefined) throw new StoreFailure('too_large', tooLarge.message);
  const over_ms = type.over_ms?.(record.state);
  return {
    ...shownAttributes(type.shown?.(record.state)),
    ...keyOf(place),
    version: number(record.version),
    born: number(record.born),
    stamp: number(stamp),
    state: text(state),
    ...(over_ms === undefined ? {} : { ttl: ttl(over_ms, type.granted === undefined ? SWEPT_AFTER_MS : 0) }),
  };
}

/** For people and programs that look into the table; the store never reads these attributes back. */
function shownAttributes(shown: JsonObject = {}): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(shown)) {
    if (typeof value === 'string') item[name] = text(value);
    else if (typeof value === 'number') item[name] = number(value);
  }
  return item;
}

export function recordOf({ kind, id }: EntityKey, item: Item): Stamped {
  const [version, born] = [numberOf(item, 'version') ?? 0, numberOf(item, 'born') ?? 0];
  const state = JSON.parse(textOf(item, 'state') ?? '{}') as JsonObject;
  return { record: { kind, id, version, born, state }, stamp: numberOf(item, 'stamp') ?? 0 };
}
