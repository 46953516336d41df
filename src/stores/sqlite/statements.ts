import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { Range } from '../../ledger/decision.ts';
import type { EntityKey, EntityRecord, EventBody, IndexKeys } from '../../ledger/entity.ts';
import type { Placed } from '../../ledger/index-order.ts';
import type { LogEntry, Request, Unplaced } from '../../ledger/log.ts';
import type { Seen } from '../../ledger/optimistic.ts';
import { stateTooLarge } from '../../ledger/proposal.ts';
import type { Journal, JournalPlace } from './journal-port.ts';
import {
  eachWay,
  orderBy,
  type RecordRow,
  STORED,
  type StoredAs,
  type StoredRow,
  selectBy,
  toRecord,
} from './record-rows.ts';
import { SeatStatements } from './seat/seat-statements.ts';

/**
 * A bare parameter as LIMIT makes SQLite plan the statement anew each time it is bound: 14 µs instead of 3.
 */
const ROWS = 'cast(? AS INTEGER)';

export interface LogRow {
  position: number;
  project: string;
  at_ms: number;
  agent_id: string;
  operation: string;
  operation_id: string;
  input_digest: string | null;
  /**
   * Fields that are never searched by: one JSON text for the rest of the row is quicker to write than a dozen
   * columns.
   */
  body: string;
  checksum: number;
}

/**
 * `at`: where in the journal its events are. `operation_id`: its own one, for a copied row that is found
 * under another id.
 */
type LogBody = Omit<LogEntry, keyof LogRow | 'events'> & {
  events?: readonly EventBody[] | undefined;
  at?: JournalPlace | undefined;
  operation_id?: string | undefined;
};

/**
 * Prepares a statement once, on first use: a hook lives for milliseconds and runs a third of the statements.
 */
export class Prepared {
  readonly #database: DatabaseSync;
  readonly #sql: string;
  readonly #asArrays: boolean;
  #statement: StatementSync | undefined;

  constructor(database: DatabaseSync, sql: string, asArrays = false) {
    this.#database = database;
    this.#sql = sql;
    this.#asArrays = asArrays;
  }

  get ready(): StatementSync {
    if (this.#statement === undefined) {
      this.#statement = this.#database.prepare(this.#sql);
      if (this.#asArrays) this.#statement.setReturnArrays(true);
    }
    return this.#statement;
  }
}

/** Every statement the store runs. Nothing here decides anything. */
export class Statements {
  readonly #begin: Prepared;
  readonly #beginReading: Prepared;
  readonly #commit: Prepared;
  readonly #record: Prepared;
  readonly #ids: Prepared;
  readonly #ranges: Record<Range['by'], Prepared>;
  readonly #rangesFrom: Record<Range['by'], Prepared>;
  readonly #put: Prepared;
  readonly #extent: Prepared;
  readonly #setFolded: Prepared;
  readonly #link: Prepared;
  readonly #unlink: Prepared;
  readonly #append: Prepared;
  readonly #read: Prepared;
  readonly #gap: Prepared;
  readonly #announce: Prepared;
  readonly #lastPosition: Prepared;
  readonly #operation: Prepared;
  readonly #epoch: Prepared;
  readonly #dataVersion: Prepared;
  readonly #resent: Prepared;
  readonly seat: SeatStatements;
  /** Where events are written first, if the store has a journal. */
  journal: Journal | undefined;

  constructor(database: DatabaseSync) {
    const prepare = (sql: string) => new Prepared(database, sql);
    const prepareRows = (sql: string) => new Prepared(database, sql, true);
    this.#begin = prepare('BEGIN IMMEDIATE');
    this.#beginReading = prepare('BEGIN DEFERRED');
    this.#commit = prepare('COMMIT');
    this.#record = prepareRows(`SELECT ${STORED} FROM records r WHERE project = ? AND kind = ? AND id = ?`);
    this.#ids = prepare(`SELECT id FROM records WHERE project = ? AND kind = ? LIMIT ${ROWS}`);
    this.#ranges = eachWay((key, table) =>
      prepareRows(
        `${selectBy(key, table)} AND ${key} >= ? AND ${key} < ? ${orderBy(key, table)} LIMIT ${ROWS}`,
      ),
    );
    this.#rangesFrom = eachWay((key, table) => {
      const place = `(${key}, ${table}.born, ${table}.id)`;
      return prepareRows(
        `${selectBy(key, table)} AND ${place} > (?, ?, ?) AND ${key} < ? ${orderBy(key, table)}`,
      );
    });
    this.#put = prepare(`INSERT INTO records (project, kind, id, version, born, sort_key, group_key, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, kind, id) DO UPDATE SET version = excluded.version,
        born = excluded.born, sort_key = excluded.sort_key, group_key = excluded.group_key, state = excluded.state`);
    this.#extent = prepare(
      'SELECT position AS folded, (SELECT coalesce(max(position), 0) FROM log) AS last FROM folded',
    );
    this.#setFolded = prepare('UPDATE folded SET position = ?');
    this.#link = prepare(
      'INSERT OR IGNORE INTO links (project, kind, link, born, id) VALUES (?, ?, ?, ?, ?)',
    );
    this.#unlink = prepare(
      'DELETE FROM links WHERE project = ? AND kind = ? AND link = ? AND born = ? AND id = ?',
    );
    this.#append = prepare(`INSERT INTO log
      (position, project, at_ms, agent_id, operation, operation_id, input_digest, body, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#read = prepare(`SELECT * FROM log WHERE position > ? ORDER BY position LIMIT ${ROWS}`);
    this.#gap = prepare('SELECT last FROM gaps WHERE first <= ? ORDER BY first DESC LIMIT 1');
    this.#announce = prepare('INSERT OR REPLACE INTO gaps (first, last) VALUES (?, ?)');
    this.#lastPosition = prepare('SELECT coalesce(max(position), 0) AS last FROM log');
    this.#operation = prepare(`SELECT input_digest, position, body FROM log
      WHERE operation_id = ? AND input_digest IS NOT NULL AND agent_id = ? AND project = ? AND at_ms >= ?`);
    this.#epoch = prepare('PRAGMA user_version');
    this.#dataVersion = prepareRows('PRAGMA data_version');
    this.#resent = prepare(`SELECT position, body FROM log
      WHERE position > ? AND operation_id = ? AND agent_id = ? AND project = ? LIMIT 1`);
    this.seat = new SeatStatements(prepare);
  }

  /** Takes the write lock at once: a transaction that upgrades later would fail without ever waiting. */
  begin(): void {
    this.#begin.ready.run();
  }

  /** One snapshot for everything that is read until `endReading`. */
  beginReading(): void {
    this.#beginReading.ready.run();
  }

  endReading(): void {
    this.#commit.ready.run();
  }

  commit(): void {
    this.#commit.ready.run();
  }

  record(project: string, key: EntityKey): EntityRecord | undefined {
    const row = this.stored(project, key);
    return row === undefined ? undefined : toRecord(key.kind, key.id, row);
  }

  stored(project: string, { kind, id }: EntityKey): StoredRow | undefined {
    return this.#record.ready.get(project, kind, id) as StoredRow | undefined;
  }

  range(project: string, { by, kind, from, before, limit }: Range): EntityRecord[] {
    const rows = this.#ranges[by].ready.all(
      project,
      kind,
      from,
      before,
      Math.min(limit, limits.range_rows_max),
    );
    return (rows as unknown as RecordRow[]).map((row) => toRecord(kind, row[3], row));
  }

  ids(project: string, kind: string, limit: number): string[] {
    return this.#ids.ready.all(project, kind, limit).map(({ id }) => id as string);
  }

  /** Row by row, for as long as the caller wants them: after a place, or from the range's beginning. */
  rowsFrom(project: string, { by, kind, from, before }: Range, after?: Placed): Iterable<RecordRow> {
    const { key, record } = after ?? { key: from, record: { born: -1, id: '' } };
    const rows = this.#rangesFrom[by].ready.iterate(project, kind, key, record.born, record.id, before);
    return rows as unknown as Iterable<RecordRow>;
  }

  /** Updates a record in the table to its new state. */
  put(project: string, record: EntityRecord, keys: IndexKeys, text: string, stored?: StoredAs): void {
    const { kind, id, version, born } = record;
    this.#put.ready.run(project, kind, id, version, born, keys.sort ?? null, keys.group ?? null, text);
    const links = keys.links ?? [];
    const before = stored ?? { born, links: [] };
    const stays = (link: string) =>
      before.born === born && before.links.includes(link) && links.includes(link);
    for (const link of before.links)
      if (!stays(link)) this.#unlink.ready.run(project, kind, link, before.born, id);
    for (const link of links) if (!stays(link)) this.#link.ready.run(project, kind, link, born, id);
  }

  /** The last row of the log, and the last row that the records show. */
  extent(): { folded: number; last: number } {
    const extent = this.#extent.ready.get() as { folded: number; last: number } | undefined;
    if (extent === undefined)
      throw new StoreFailure('store_damaged', 'The store no longer says how far its records go.');
    return extent;
  }

  setFolded(position: number): void {
    this.#setFolded.ready.run(position);
  }

  /** A commit that may be asked for again carries the digest of its input; other rows have none. */
  append(position: number, row: Unplaced, input_digest: string | null, found_as = row.operation_id): void {
    const { project, at_ms, agent_id, operation, operation_id } = row;
    const journal = row.events.length > 0 ? this.journal : undefined;
    const at = journal?.append(position, row, input_digest);
    const body: LogBody = {
      schema: row.schema,
      agent_type: row.agent_type,
      session_id: row.session_id,
      sequence: row.sequence,
      parameters: row.parameters,
      result: row.result,
      duration_ms: row.duration_ms,
      events: at === undefined ? row.events : undefined,
      born: row.born,
      anew: row.anew,
      operation_id: found_as === operation_id ? undefined : operation_id,
      at,
    };
    this.insertRow({
      position,
      project,
      at_ms,
      agent_id,
      operation,
      operation_id: found_as,
      input_digest,
      body: JSON.stringify(body),
    });
  }

  insertRow(stored: Omit<LogRow, 'checksum'>): void {
    const { position, project, at_ms, agent_id, operation, operation_id, input_digest, body } = stored;
    this.#append.ready.run(
      position,
      project,
      at_ms,
      agent_id,
      operation,
      operation_id,
      input_digest,
      body,
      rowChecksum(stored),
    );
  }

  /** Rows after a position, each checked: a changed or missing row is detected here. */
  read(after: number, limit: number): LogEntry[] {
    const rows = this.#read.ready.all(after, limit) as unknown as LogRow[];
    let expected = after;
    return rows.map((row) => {
      const { position } = row;
      expected += 1;
      if (position !== expected) expected = this.#pastGaps(expected, position);
      if (position !== expected)
        throw damaged('missing', expected, `Row ${expected} of the log is missing; ${position} follows.`);
      if (!isIntact(row))
        throw damaged('changed', position, `Row ${position} of the log was changed after it was written.`);
      return this.entry(row);
    });
  }

  entryAt(position: number): LogEntry | undefined {
    const [row] = this.#read.ready.all(position - 1, 1) as unknown as LogRow[];
    return row?.position === position ? this.entry(row) : undefined;
  }

  entry({ position, project, at_ms, agent_id, operation, operation_id, body }: LogRow): LogEntry {
    const { at, events = [], ...rest } = JSON.parse(body) as LogBody;
    const found = at === undefined ? events : (this.journal?.eventsAt(at) ?? []);
    return { position, project, at_ms, agent_id, operation, operation_id, ...rest, events: found };
  }

  /** The first position up to `found` that retention has not emptied. */
  #pastGaps(from: number, found: number): number {
    let position = from;
    while (position < found) {
      const gap = this.#gap.ready.get(position) as { last: number } | undefined;
      if (gap === undefined || gap.last < position) break;
      position = gap.last + 1;
    }
    return position;
  }

  /** Positions without a row where none is missing. */
  announceGap(first: number, last: number): void {
    this.#announce.ready.run(first, last);
  }

  lastPosition(): number {
    return (this.#lastPosition.ready.get() as { last: number }).last;
  }

  seen(request: Request, now_ms: number): Seen | undefined {
    const since_ms = now_ms - limits.operation_kept_ms;
    const row = this.#operation.ready.get(
      request.operation_id,
      request.actor.agent_id,
      request.project,
      since_ms,
    ) as { input_digest: string; position: number; body: string } | undefined;
    if (row === undefined) return undefined;
    const { input_digest, position, body } = row;
    return { input_digest, position, answer: (JSON.parse(body) as LogBody).result };
  }

  /** What was committed after a position under an id that we generated: those ids are in no index. */
  resent(request: Request, after: number): { position: number; answer: JsonObject } | undefined {
    const row = this.#resent.ready.get(
      after,
      request.operation_id,
      request.actor.agent_id,
      request.project,
    ) as { position: number; body: string } | undefined;
    if (row === undefined) return undefined;
    return { position: row.position, answer: (JSON.parse(row.body) as LogBody).result };
  }

  epoch(): number {
    return (this.#epoch.ready.get() as { user_version: number }).user_version;
  }

  /** Changes when another connection has committed. */
  dataVersion(): number {
    const [version] = this.#dataVersion.ready.get() as unknown as [number];
    return version;
  }
}

/** The text that is stored. Throws when it is larger than the tightest engine allows. */
export function stateText(kind: string, state: JsonObject): string {
  const text = JSON.stringify(state);
  const tooLarge = stateTooLarge(kind, text);
  if (tooLarge !== undefined) throw new StoreFailure('too_large', tooLarge.message);
  return text;
}

export function isIntact(row: LogRow): boolean {
  return row.checksum === rowChecksum(row);
}

function damaged(kind: 'missing' | 'changed', position: number, message: string): StoreFailure {
  return new StoreFailure('store_damaged', message, { details: { position, kind } });
}

/**
 * Detects damage and careless edits, and costs a microsecond. Against a person who recomputes it there is the
 * sealer's chain. That is built behind the log, because a chain inside the commit would cost more than the
 * commit.
 */
function rowChecksum(row: Omit<LogRow, 'checksum'>): number {
  const { position, project, at_ms, agent_id, operation, operation_id, input_digest, body } = row;
  const head = crc32(
    `${position}\n${project}\n${at_ms}\n${agent_id}\n${operation}\n${operation_id}\n${input_digest}\n`,
  );
  // A checksum of both together, without copying the longer one.
  return crc32(body, head);
}
