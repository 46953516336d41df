import { compareBytes } from '../../kernel/byte-order.ts';
import { limits } from '../../kernel/limits.ts';
import type { Needs, Range } from '../../ledger/decision.ts';
import type { Entities, EntityKey, EntityRecord } from '../../ledger/entity.ts';
import { entityType, type LoadedSet } from '../../ledger/proposal.ts';
import { grantedRecord } from './granted-items.ts';
import { type Item, recordOf, textOf } from './item.ts';
import {
  freeEnds,
  freeIdOf,
  freePlace,
  type IndexName,
  type ItemPlace,
  idOf,
  indexPlace,
  rangeEnds,
  recordPlace,
} from './item-layout.ts';
import type { Stamps } from './stamps.ts';
import type { TableClient } from './table-client.ts';

/** Index entries fetched at a time. Most of them still point to the right record. */
const ENTRIES_MIN = 25;

/** Reads records by key and by range, always strongly consistent and by primary key. */
export class Loader {
  readonly #table: TableClient;
  readonly #entities: Entities;
  readonly #stamps: Stamps;

  constructor(table: TableClient, entities: Entities, stamps: Stamps) {
    this.#table = table;
    this.#entities = entities;
    this.#stamps = stamps;
  }

  /** Returns the item at `other`, if one was named: that costs no extra request. */
  async load(project: string, needs: Needs, into: LoadedSet, other?: ItemPlace): Promise<Item | undefined> {
    const { keys = [], ranges = [] } = needs;
    const [found] = await Promise.all([
      this.#byKey(project, keys, into, other),
      ...ranges.map(async (range) => into.putList(range, await this.#range(project, range))),
    ]);
    return found;
  }

  async #byKey(
    project: string,
    keys: readonly EntityKey[],
    into: LoadedSet,
    other: ItemPlace | undefined,
  ): Promise<Item | undefined> {
    const places = new Map(keys.map((key) => [recordPlace(project, key).SK, key]));
    // A key may be asked for twice, and a batch with one twice is refused.
    const wanted = [...places.values()].flatMap((key) => this.#placesOf(project, key));
    if (other !== undefined) wanted.push(other);
    if (wanted.length === 0) return undefined;
    const items = await this.#table.getAll(wanted);
    for (const [SK, key] of places)
      into.put(key, this.record(key, items.get(SK), items.get(freePlace(project, key).SK)));
    return other === undefined ? undefined : items.get(other.SK);
  }

  /** `free`: the item at the place where some records lie while they are free. */
  record(key: EntityKey, item: Item | undefined, free?: Item | undefined): EntityRecord | undefined {
    const { granted } = entityType(this.#entities, key.kind);
    const found =
      granted !== undefined
        ? grantedRecord(key, item, free, granted)
        : item === undefined
          ? undefined
          : recordOf(key, item);
    if (found !== undefined) this.#stamps.saw(found.stamp);
    return found?.record;
  }

  #placesOf(project: string, key: EntityKey): ItemPlace[] {
    const place = recordPlace(project, key);
    return entityType(this.#entities, key.kind).granted === undefined
      ? [place]
      : [place, freePlace(project, key)];
  }

  async #range(project: string, range: Range): Promise<EntityRecord[]> {
    const limit = Math.min(range.limit, limits.range_rows_max);
    const { kind, by } = range;
    if (by === 'id') return await this.#idRange(project, range, limit);
    const found: EntityRecord[] = [];
    const seen = new Set<string>();
    const ends = rangeEnds(range);
    for (let reached: string | undefined; found.length < limit; ) {
      const wanted = Math.max(ENTRIES_MIN, limit - found.length);
      const entries = await this.#table.query(project, ends, { limit: wanted, after: reached });
      found.push(...(await this.#recordsOf(project, { kind, by }, entries, seen)));
      reached = textOf(entries.at(-1), 'SK');
      if (reached === undefined || entries.length < wanted) break;
    }
    return found.slice(0, limit);
  }

  async #idRange(project: string, range: Range, limit: number): Promise<EntityRecord[]> {
    const ends = rangeEnds(range);
    const { kind } = range;
    const rest = freeEnds(range);
    const isGranted = entityType(this.#entities, kind).granted !== undefined;
    const [items, free] = await Promise.all([
      this.#table.query(project, ends, { limit }),
      isGranted ? this.#table.query(project, rest, { limit }) : [],
    ]);
    const pairs = new Map<string, { held?: Item; free?: Item }>();
    for (const item of items) {
      const SK = textOf(item, 'SK') ?? '';
      if (SK !== ends.last) pairs.set(idOf(kind, SK), { held: item });
    }
    for (const item of free) {
      const SK = textOf(item, 'SK') ?? '';
      const id = freeIdOf(kind, SK);
      if (SK !== rest.last) pairs.set(id, { ...pairs.get(id), free: item });
    }
    return [...pairs]
      .sort(([a], [b]) => compareBytes(a, b))
      .slice(0, limit)
      .flatMap(([id, { held, free }]) => this.record({ kind, id }, held, free) ?? []);
  }

  /**
   * An entry is only a hint: its record may have moved since or before, may never have been written, or may
   * have been created again.
   */
  async #recordsOf(
    project: string,
    { kind, by }: { kind: string; by: IndexName },
    entries: readonly Item[],
    seen: Set<string>,
  ): Promise<EntityRecord[]> {
    const ids = entries.map((entry) => textOf(entry, 'id') ?? '');
    const wanted = [...new Set(ids)].flatMap((id) => this.#placesOf(project, { kind, id }));
    const items = await this.#table.getAll(wanted);
    const type = entityType(this.#entities, kind);
    return entries.flatMap((entry, at) => {
      const id = ids[at] ?? '';
      const [held, free] = [recordPlace(project, { kind, id }), freePlace(project, { kind, id })];
      const record = this.record({ kind, id }, items.get(held.SK), items.get(free.SK));
      if (record === undefined) return [];
      const keys = type.index(record.state, id);
      const current = by === 'link' ? (keys.links ?? []) : [keys[by]];
      const SK = textOf(entry, 'SK');
      const isCurrent = current.some(
        (key) => key !== undefined && indexPlace(project, { ...record, by, key }).SK === SK,
      );
      // A record that moved between two pages would be found twice. By `links` it may be found several times.
      if (!isCurrent || seen.has(id)) return [];
      if (by !== 'link') seen.add(id);
      return record;
    });
  }
}
