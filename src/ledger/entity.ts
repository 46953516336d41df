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

/**
 * An entity's current state: the fold of its events. Stores keep it beside the log, in the same commit or
 * soon after.
 */
export interface EntityRecord<S = JsonObject> extends EntityKey {
  readonly version: number;
  /**
   * Position of the commit that created it: the tie-break of every index, so that equal keys are first in,
   * first out.
   */
  readonly born: number;
  readonly state: S;
}

/**
 * How a record is found other than by id. `sort` and `group` hold one key each (a column and a partial index
 * in SQL). `links` holds any number and costs a side table, so it is used only off the hot paths.
 */
export interface IndexKeys {
  readonly sort?: string | undefined;
  readonly group?: string | undefined;
  readonly links?: readonly string[] | undefined;
}

/**
 * A record whose presence says that something is granted, in a store that other programs write to as well.
 * What is known of it while it is free lies elsewhere there.
 */
export interface GrantedItem<S = JsonObject> {
  isHeld(state: S): boolean;
  /** What another program has put there, on top of what is known here. */
  foreign(id: string, shown: JsonObject, state: S | undefined): S;
  isForeign(state: S): boolean;
  /** Without what another program has put there. */
  own(state: S, at_ms: number): S;
}

export interface EntityType<S = JsonObject> {
  readonly kind: string;
  evolve(state: S | undefined, event: EventBody, at_ms: number): S;
  index(state: S, id: string): IndexKeys;
  /**
   * Changes seldom and is read often: a store may use the version it saw last, since a commit proves it
   * anyway.
   */
  readonly steady?: boolean;
  /** From this time on the record no longer matters, and a store may sweep it away. */
  over_ms?(state: S): number | undefined;
  /** Then a store says the very moment when it is over, without a margin. */
  readonly granted?: GrantedItem<S>;
  /** What people look for in it, in stores that people and other programs look into. */
  shown?(state: S): JsonObject;
  /**
   * One record that nearly every commit relies on. A store may keep several witnesses of its version, so that
   * otherwise unrelated callers don't contend for it.
   */
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
 * Versions and fencing tokens. They grow with every write. They never fall behind the store's clock, so they
 * still grow when a file or a branch of history disappears.
 */
export function nextVersion(record: EntityRecord<unknown> | undefined, now_ms: number): number {
  return Math.max((record?.version ?? 0) + 1, Math.floor(now_ms));
}

export function keyText(key: EntityKey): string {
  return `${key.kind}/${key.id}`;
}

export interface Entry<V> {
  readonly key: EntityKey;
  value: V;
}

/** Up to this many entries are compared one by one. */
const FEW = 12;

/**
 * Values by kind and id, in insertion order. Nearly every decision has a handful of them: comparing their
 * names is less work than building, hashing and looking up one text for each, a dozen times for a lock.
 */
export class EntityMap<V> {
  readonly #entries: Entry<V>[] = [];
  #byText: Map<string, Entry<V>> | undefined;

  entry({ kind, id }: EntityKey): Entry<V> | undefined {
    if (this.#byText !== undefined) return this.#byText.get(keyText({ kind, id }));
    for (const entry of this.#entries) if (entry.key.id === id && entry.key.kind === kind) return entry;
    return undefined;
  }

  /** Only for a key that is not in it yet. */
  add(key: EntityKey, value: V): Entry<V> {
    const entry = { key, value };
    this.#entries.push(entry);
    if (this.#entries.length > FEW) {
      this.#byText ??= new Map(this.#entries.map((each) => [keyText(each.key), each]));
      this.#byText.set(keyText(key), entry);
    }
    return entry;
  }

  entries(): readonly Entry<V>[] {
    return this.#entries;
  }
}
