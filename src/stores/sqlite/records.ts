import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Range } from '../../ledger/decision.ts';
import { type Entities, type EntityKey, type EntityRecord, keyText } from '../../ledger/entity.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { LoadedSet, propose, type RecordWrite } from '../../ledger/proposal.ts';
import { checkEpoch } from './file.ts';
import { IdFilter } from './id-filter.ts';
import { RecentOfKind } from './recent-records.ts';
import { toRecord } from './record-rows.ts';
import { type Statements, stateText } from './statements.ts';
import type { Known } from './window.ts';

/** Of each kind: the locks of a large repository. */
const KNOWN_MAX = 16_384;
/** What is larger is read again: a few thousand of those would be all the memory there is. */
const KNOWN_CHARACTERS_MAX = 1024;
const ROWS_AT_ONCE = 1000;
/** So many ids of the table at most are gone through to know the others. */
const FILTERED_MAX = 50_000;
/** Who has looked in vain so often creates much: worth that time. A hook never gets so far. */
const FILTER_AFTER = 256;

/** One kind of record in one project. */
interface Kind {
  readonly project: string;
  recent: RecentOfKind;
  /** Whoever releases what it locked need not read it again. */
  readonly known: Known;
  /** What the table surely has not, once enough was looked for that it had not. */
  filter: IdFilter | undefined;
  misses: number;
}

/**
 * The current records: the table, which is behind the log, and what the rows after it have changed since. A commit only
 * writes its row of the log, which is one page however many records it changes, wherever they stand; the table follows many
 * rows at a time (`fold`), where neighbours share a page and what was written ten times is written once. Whoever opens the
 * file reads the rows after the table's, so nothing is lost with the process that wrote them.
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
  /** Each time others have written the table it is gone through anew, and after twice as long. */
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

  /** First in every transaction: takes in what others have committed since the last one. Answers whether they have. */
  catchUp(): boolean {
    const version = this.#statements.dataVersion();
    if (version === this.#seenVersion) return false;
    checkEpoch(this.#statements.epoch());
    const { position } = this;
    try {
      this.#takeIn();
    } catch (error) {
      // Half of a row may be in.
      this.forget();
      throw error;
    }
    this.#seenVersion = version;
    return this.#position !== position;
  }

  #takeIn(): void {
    const { folded, last } = this.#statements.extent();
    if (folded !== this.#folded) {
      // Somebody else has written the table: how it has what is recent here is no longer known.
      this.#clear();
      this.#position = folded;
      this.#folded = folded;
    }
    while (this.#position < last)
      for (const entry of this.#statements.read(this.#position, ROWS_AT_ONCE)) this.#apply(entry);
  }

  /** The table was written by somebody who knows what the log says (stores/files). */
  startAnew(): void {
    checkEpoch(this.#statements.epoch());
    this.#clear();
    this.#folded = undefined;
    this.#position = this.#statements.lastPosition();
    this.#seenVersion = this.#statements.dataVersion();
  }

  /** What was done in this transaction was taken back. */
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

  /** What was read in this transaction is as it was, or not there. */
  #bornBefore(project: string, write: RecordWrite): number | undefined {
    if (write.born !== undefined || (write.wasSought && write.expected === 0)) return write.born;
    const before = this.get(project, write);
    if ((before?.version ?? 0) !== write.expected)
      throw new Error(`${keyText(write)} is not as it was when this was decided`);
    return before?.born;
  }

  /** Brings the table to the end of the log, in the writer's transaction. */
  fold(): void {
    if (this.behind === 0) return;
    for (const kinds of this.#projects.values()) for (const kind of kinds.values()) this.#foldKind(kind);
    this.#statements.setFolded(this.#position);
    this.#folded = this.#position;
  }

  #foldKind(kind: Kind): void {
    const { project, recent } = kind;
    if (recent.size === 0) return;
    // Neighbours after each other: a page is found, and written, once.
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
