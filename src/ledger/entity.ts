import type { JsonObject } from '../kernel/json.ts';

export interface EntityKey {
  readonly kind: string;
  readonly id: string;
}

/** A fact about one entity, past tense, immutable. */
export interface EventBody extends EntityKey {
  readonly type: string;
  readonly data: JsonObject;
}

/** An entity's current state: the fold of its events. Stores keep it beside the log, in the same commit or soon after. */
export interface EntityRecord<S = JsonObject> extends EntityKey {
  readonly version: number;
  /** Position of the commit that created it: the tie-break of every index, so equal keys come first in, first out. */
  readonly born: number;
  readonly state: S;
}

/**
 * Where a record is found besides its id. `sort` and `group` hold one key each (a column and a partial index in SQL);
 * `links` holds any number and costs a side table, so only what is not on a hot path uses it.
 */
export interface IndexKeys {
  readonly sort?: string | undefined;
  readonly group?: string | undefined;
  readonly links?: readonly string[] | undefined;
}

export interface EntityType<S = JsonObject> {
  readonly kind: string;
  evolve(state: S | undefined, event: EventBody, at_ms: number): S;
  index(state: S, id: string): IndexKeys;
  /** Changes seldom and is read often: a store may go by what it saw last, as a commit proves it anyway. */
  readonly steady?: boolean;
  /** From then on it stands for nothing any more, and a store may sweep it away. */
  over_ms?(state: S): number | undefined;
  /** What people look for in it, in stores into which others look too. */
  shown?(state: S): JsonObject;
  /** One record that nearly every commit goes by: a store may keep several witnesses of its version, so that callers with nothing else in common don't meet at it. */
  readonly everyones?: boolean;
}

export interface Entities {
  get(kind: string): EntityType | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: each entity type is closed over its own state; the registry erases it.
export function defineEntities(...types: EntityType<any>[]): ReadonlyMap<string, EntityType> {
  return new Map(types.map((type) => [type.kind, type as EntityType]));
}

/**
 * Versions and fencing tokens: they grow with every write and, because they never fall behind the store's clock,
 * still grow when a file or a branch of history disappears.
 */
export function nextVersion(record: EntityRecord<unknown> | undefined, now_ms: number): number {
  return Math.max((record?.version ?? 0) + 1, Math.floor(now_ms));
}

export function keyText(key: EntityKey): string {
  return `${key.kind}/${key.id}`;
}
