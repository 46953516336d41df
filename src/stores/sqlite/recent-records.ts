import { BoundedMap } from '../../kernel/bounded-map.ts';
import { compareBytes } from '../../kernel/byte-order.ts';
import { limits } from '../../kernel/limits.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityRecord, IndexKeys } from '../../ledger/entity.ts';
import { inIndexOrder, keysOf, type Placed } from '../../ledger/index-order.ts';
import type { StoredAs } from './record-rows.ts';
import type { Statements } from './statements.ts';
import { type Known, TableWindow } from './window.ts';

const WINDOWS_MAX = 64;
/** A caller that asks for more rows is listing them; the next caller will hardly want the same ones. */
const KEPT_ROWS_MAX = 128;

/** A record that the log has changed and the table does not show yet. */
export interface Recent {
  readonly record: EntityRecord;
  readonly keys: IndexKeys;
  /** Its state as text. */
  readonly text: string;
  /** The record in the table; undefined: it is not there. */
  readonly stored: StoredAs | undefined;
}

/** The changes that one kind's table does not show yet, and how both are searched together. */
export class RecentOfKind {
  readonly #records = new Map<string, Recent>();
  /** In index order, for those indexes that were searched. */
  readonly #orders = new Map<Range['by'], Placed[]>();
  /**
   * Windows on the table for the ranges that were searched, without leading rows that have changed since: an
   * agent that takes work does not step over the tasks that earlier ones took.
   */
  readonly #windows = new BoundedMap<TableWindow>(WINDOWS_MAX);

  get size(): number {
    return this.#records.size;
  }

  get(id: string): Recent | undefined {
    return this.#records.get(id);
  }

  values(): Iterable<Recent> {
    return this.#records.values();
  }

  /** `before`: what `get` returns. */
  put(recent: Recent, before: Recent | undefined): void {
    const { record, keys } = recent;
    this.#records.set(record.id, recent);
    for (const [by, order] of this.#orders) {
      if (before !== undefined)
        for (const key of keysOf(before.record, before.keys, by))
          takeOut(order, { key, record: before.record });
      for (const key of keysOf(record, keys, by)) putIn(order, { key, record });
    }
  }

  range(statements: Statements, project: string, range: Range, known: Known): EntityRecord[] {
    const { by, from, before } = range;
    const limit = Math.min(range.limit, limits.range_rows_max);
    const found: EntityRecord[] = [];
    const recent = this.#order(by);
    let next = placeOf(recent, from, { born: -1, id: '' });
    /** Adds the recent records that come before a place, as long as there is room. */
    const takeRecent = (isBefore: (placed: Placed) => boolean) => {
      for (; next < recent.length && found.length < limit; next += 1) {
        const placed = recent[next] as Placed;
        if (!isBefore(placed)) return;
        found.push(placed.record);
      }
    };
    const table = this.#window(statements, project, range, known);
    for (let at = 0; ; ) {
      const row = table.at(at);
      if (row === undefined) break;
      if (this.#records.has(row.record.id)) {
        if (at === 0) table.drop();
        else at += 1;
        continue;
      }
      takeRecent(({ key, record }) => inIndexOrder(key, record, row.key, row.record) < 0);
      if (found.length < limit) found.push(row.record);
      if (found.length >= limit) break;
      at += 1;
    }
    if (limit > KEPT_ROWS_MAX) table.release();
    takeRecent(({ key }) => compareBytes(key, before) < 0);
    return found;
  }

  #window(statements: Statements, project: string, range: Range, known: Known): TableWindow {
    const name = `${range.by}\0${range.from}`;
    let window = this.#windows.get(name);
    if (window?.before !== range.before) {
      window = new TableWindow(statements, project, range, known);
      this.#windows.set(name, window);
    }
    return window;
  }

  #order(by: Range['by']): Placed[] {
    let order = this.#orders.get(by);
    if (order === undefined) {
      order = [];
      for (const { record, keys } of this.#records.values())
        for (const key of keysOf(record, keys, by)) order.push({ key, record });
      order.sort((a, b) => inIndexOrder(a.key, a.record, b.key, b.record));
      this.#orders.set(by, order);
    }
    return order;
  }
}

function putIn(order: Placed[], placed: Placed): void {
  order.splice(placeOf(order, placed.key, placed.record), 0, placed);
}

function takeOut(order: Placed[], { key, record }: Placed): void {
  const at = placeOf(order, key, record);
  if (order[at]?.record === record) order.splice(at, 1);
}

/** The position of the first one that does not come before it. */
function placeOf(order: readonly Placed[], key: string, birth: Pick<EntityRecord, 'born' | 'id'>): number {
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const placed = order[middle] as Placed;
    if (inIndexOrder(placed.key, placed.record, key, birth) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
