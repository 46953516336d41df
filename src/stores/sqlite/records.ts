import { BoundedMap } from '../../kernel/bounded-map.ts';
import { compareBytes } from '../../kernel/byte-order.ts';
import { limits } from '../../kernel/limits.ts';
import type { Range } from '../../ledger/decision.ts';
import {
  type Entities,
  type EntityKey,
  type EntityRecord,
  type IndexKeys,
  keyText,
} from '../../ledger/entity.ts';
import { inIndexOrder, keysOf, type Placed } from '../../ledger/index-order.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { LoadedSet, propose, type RecordWrite } from '../../ledger/proposal.ts';
import { checkEpoch } from './file.ts';
import { IdFilter } from './id-filter.ts';
import { type StoredAs, toRecord } from './record-rows.ts';
import { type Statements, stateText } from './statements.ts';
import { type Known, TableWindow } from './window.ts';

/** For each kind: enough for the locks of a large repository. */
const KNOWN_MAX = 16_384;
/** Larger records are read again: a few thousand of them would use up the memory. */
const KNOWN_CHARACTERS_MAX = 1024;
const ROWS_AT_ONCE = 1000;
/** The table's ids are loaded into the filter only if there are at most this many. */
const FILTERED_MAX = 50_000;
/**
 * A process with this many lookups in vain creates many records: loading the filter is worthwhile. A hook
 * never gets this far.
 */
const FILTER_AFTER = 256;

/** One kind of record in one project. */
interface Kind {
  readonly project: string;
  recent: RecentOfKind;
  /** A process that releases what it locked need not read it again. */
  readonly known: Known;
  /** Tells which ids the table surely lacks; loaded after enough lookups in vain. */
  filter: IdFilter | undefined;
  misses: number;
}

/**
 * The current records: the table, which is behind the log, plus what later rows have changed. A commit writes
 * only its row of the log, which is one page however many records it changes and wherever they are. The table
 * follows many rows at a time (`fold`): neighbours share a page, and a record that was changed ten times is
 * written once. A process that opens the file reads the rows that the table does not show, so nothing is lost
 * with the process that wrote them.
 *
 * For use inside a transaction only, after `catchUp`.
 */
export class Records {
  readonly #statements: Statements;
  readonly #entities: Entities;
  readonly #projects = new Map<string, Map<string, Kind>>();
  /** The last row of the log that the table shows; undefined: not known, or about to be written. */
  #folded: number | undefined;
  #position = 0;
  #seenVersion: number | undefined;
  /**
   * When other processes have written the table, the filter is loaded anew, each time after twice as many
   * lookups.
   */
  #filterAfter: number;

  constructor(statements: Statements, entities: Entities, filterAfter = FILTER_AFTER) {
    this.#statements = statements;
    this.#entities = entities;
    this.#filterAfter = filterAfter;
  }

  /** The end of the log as far as this process knows. */
  get position(): number {
    return this.#position;
  }

  /** Rows of the log that the table does not show yet. */
  get behind(): number {
    return this.#position - (this.#folded ?? -1);
  }

  nextPosition(): number {
    this.#position += 1;
    return this.#position;
  }

  /**
   * First in every transaction: takes in what other processes have committed since the last one. Returns
   * whether there was anything.
   */
  catchUp(): boolean {
    const version = this.#statements.dataVersion();
    if (version === this.#seenVersion) return false;
    checkEpoch(this.#statements.epoch());
    const { position } = this;
    try {
      this.#takeIn();
    } catch (error) {
      // A row may have been applied by half.
      this.forget();
      throw error;
    }
    this.#seenVersion = version;
    return this.#position !== position;
  }

  #takeIn(): void {
    const { folded, last } = this.#statements.extent();
    if (folded !== this.#folded) {
      // Another process has written the table: what it contains for the recent records is no longer known.
      this.#clear();
      this.#position = folded;
      this.#folded = folded;
    }
    while (this.#position < last)
      for (const entry of this.#statements.read(this.#position, ROWS_AT_ONCE)) this.#apply(entry);
  }

  /** The table was rebuilt from the log (stores/files). */
  startAnew(): void {
    checkEpoch(this.#statements.epoch());
    this.#clear();
    this.#folded = undefined;
    this.#position = this.#statements.lastPosition();
    this.#seenVersion = this.#statements.dataVersion();
  }

  /** This transaction was rolled back. */
  forget(): void {
    this.#clear();
    this.#folded = undefined;
    this.#seenVersion = undefined;
  }

  get(project: string, key: EntityKey): EntityRecord | undefined {
    const kind = this.#kind(project, key.kind);
    const recent = kind.recent.get(key.id);
    if (recent !== undefined) return recent.record;
    const known = kind.known.get(key.id);
    if (known !== undefined) return known ?? undefined;
    if (kind.filter?.mayHave(key.id) === false) return undefined;
    const row = this.#statements.stored(project, key);
    if (row === undefined) this.#missed(kind, key.kind);
    const record = row === undefined ? undefined : toRecord(key.kind, key.id, row);
    if (isSmall(row?.[2])) kind.known.set(key.id, record ?? null);
    return record;
  }

  #missed(kind: Kind, name: string): void {
    kind.misses += 1;
    if (kind.misses !== this.#filterAfter || kind.filter !== undefined) return;
    this.#filterAfter *= 2;
    const ids = this.#statements.ids(kind.project, name, FILTERED_MAX + 1);
    if (ids.length > FILTERED_MAX) return;
    kind.filter = new IdFilter();
    for (const id of ids) kind.filter.add(id);
  }

  range(project: string, range: Range): EntityRecord[] {
    const { recent, known } = this.#kind(project, range.kind);
    return recent.size === 0
      ? this.#statements.range(project, range)
      : recent.range(this.#statements, project, range, known);
  }

  write(project: string, write: RecordWrite, position: number): void {
    const { id, version, state, keys, keys_before } = write;
    const kind = this.#kind(project, write.kind);
    const recent = kind.recent.get(id);
    const born = this.#bornBefore(project, write);
    const asRead = born === undefined ? undefined : { born, links: keys_before.links ?? [] };
    const now = {
      record: { kind: write.kind, id, version, born: write.born ?? position, state },
      keys,
      text: stateText(write.kind, state),
      stored: recent === undefined ? asRead : recent.stored,
    };
    kind.recent.put(now, recent);
    if (recent === undefined) kind.known.delete(id);
  }

  /** A record read in this transaction is unchanged, or absent. */
  #bornBefore(project: string, write: RecordWrite): number | undefined {
    if (write.born !== undefined || (write.wasSought && write.expected === 0)) return write.born;
    const before = this.get(project, write);
    if ((before?.version ?? 0) !== write.expected)
      throw new Error(`${keyText(write)} is not as it was when this was decided`);
    return before?.born;
  }

  /** Brings the table up to the end of the log, in the writer's transaction. */
  fold(): void {
    if (this.behind === 0) return;
    for (const kinds of this.#projects.values()) for (const kind of kinds.values()) this.#foldKind(kind);
    this.#statements.setFolded(this.#position);
    this.#folded = this.#position;
  }

  #foldKind(kind: Kind): void {
    const { project, recent } = kind;
    if (recent.size === 0) return;
    // In id order: a page is found, and written, once.
    const inOrder = [...recent.values()].sort((a, b) => (a.record.id < b.record.id ? -1 : 1));
    kind.recent = new RecentOfKind();
    for (const { record, keys, text, stored } of inOrder) {
      this.#statements.put(project, record, keys, text, stored);
      if (isSmall(text)) kind.known.set(record.id, record);
      if (stored === undefined) kind.filter?.add(record.id);
    }
    if (kind.filter?.isFull === true) kind.filter = undefined;
  }

  #apply({ project, events, at_ms, anew, position }: LogEntry): void {
    if (events.length > 0) {
      const loaded = new LoadedSet();
      for (const event of events) if (!loaded.has(event)) loaded.put(event, this.get(project, event));
      const { writes } = propose(this.#entities, loaded, events, at_ms, undefined, anew);
      for (const write of writes) this.write(project, write, position);
    }
    this.#position = position;
  }

  #kind(project: string, kind: string): Kind {
    let kinds = this.#projects.get(project);
    if (kinds === undefined) {
      kinds = new Map();
      this.#projects.set(project, kinds);
    }
    let found = kinds.get(kind);
    if (found === undefined) {
      const known = new BoundedMap<EntityRecord | null>(KNOWN_MAX);
      found = { project, recent: new RecentOfKind(), known, filter: undefined, misses: 0 };
      kinds.set(kind, found);
    }
    return found;
  }

  #clear(): void {
    this.#projects.clear();
  }
}

function isSmall(text = ''): boolean {
  return text.length <= KNOWN_CHARACTERS_MAX;
}

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
class RecentOfKind {
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
