import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Removal, Scanned, StoredRow, Stretch, Trail } from '../../ledger/audit/audit-port.ts';
import type { Seal } from '../../ledger/audit/seal.ts';
import type { AuditFilter } from '../../ledger/audit/search-words.ts';
import type { LogEntry } from '../../ledger/log.ts';
import { isIntact, type LogRow } from './statements.ts';
import type { Writer } from './writer.ts';

const SEAL_COLUMNS = `project, number, previous, after, last, rows, quiet_rows, event_rows, oldest_at_ms, newest_at_ms,
  sealed_at_ms, words, hash, pruned_by, archived_by`;

interface Run {
  first: number;
  last: number;
}

/**
 * Retries while another process recovers the file, and turns SQLite's errors into ones that a caller can use.
 */
export type Reading = <T>(read: () => T) => Promise<T>;

/** The trail of one file. Its statements are prepared when first used: most processes never use them. */
export class SqliteTrail implements Trail {
  readonly #database: DatabaseSync;
  readonly #writer: Writer;
  readonly #reading: Reading;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync, writer: Writer, reading: Reading) {
    this.#database = database;
    this.#writer = writer;
    this.#reading = reading;
  }

  sealsAfter(project: string, number: number, limit: number): Promise<Seal[]> {
    return this.#seals('number > ? ORDER BY number', project, number, limit);
  }

  sealsBefore(project: string, number: number, limit: number): Promise<Seal[]> {
    return this.#seals('number < ? ORDER BY number DESC', project, number, limit);
  }

  async #seals(which: string, project: string, number: number, limit: number): Promise<Seal[]> {
    const sql = `SELECT ${SEAL_COLUMNS} FROM seals WHERE project = ? AND ${which} LIMIT ?`;
    return await this.#reading(() => this.#all<Seal>(sql, project, number, limit));
  }

  async leaves(project: string, number: number): Promise<Buffer | undefined> {
    const sql = 'SELECT leaves FROM sealed_rows WHERE project = ? AND number = ?';
    const [row] = await this.#reading(() => this.#all<{ leaves: Uint8Array }>(sql, project, number));
    return row === undefined ? undefined : Buffer.from(row.leaves);
  }

  async damage(): Promise<string | undefined> {
    const [found] = await this.#reading(() =>
      this.#all<{ integrity_check: string }>('PRAGMA integrity_check(1)'),
    );
    return found === undefined || found.integrity_check === 'ok' ? undefined : found.integrity_check;
  }

  addSeal(seal: Seal, leaves: Buffer): Promise<boolean> {
    const { project, number, previous, after, last, rows, quiet_rows, event_rows } = seal;
    const { oldest_at_ms, newest_at_ms, sealed_at_ms, words, hash } = seal;
    return this.#writer.inTransaction(() => {
      const inserted = this.#prepare(`INSERT INTO seals (${SEAL_COLUMNS})
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL
        WHERE ? = 1 + coalesce((SELECT max(number) FROM seals WHERE project = ?), 0)`).run(
        ...[project, number, previous, after, last, rows, quiet_rows, event_rows, oldest_at_ms, newest_at_ms],
        ...[sealed_at_ms, words, hash, number, project],
      );
      if (inserted.changes === 0) return false;
      this.#prepare('INSERT INTO sealed_rows (project, number, leaves) VALUES (?, ?, ?)').run(
        ...[project, number, leaves],
      );
      return true;
    }, true);
  }

  /**
   * Positions have no gaps except for removed rows, so a range of positions bounds the rows that are looked
   * at.
   */
  async scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned> {
    const { agent_id, operation, since_ms, until_ms, result } = filter;
    const conditions: [string, (string | number)[]][] = [['project = ?', [project]]];
    if (agent_id !== undefined) conditions.push(['agent_id = ?', [agent_id]]);
    if (operation !== undefined) conditions.push(['operation = ?', [operation]]);
    if (since_ms !== undefined) conditions.push(['at_ms >= ?', [since_ms]]);
    if (until_ms !== undefined) conditions.push(['at_ms <= ?', [until_ms]]);
    if (result !== undefined) conditions.push(resultCondition(result));
    const where = conditions.map(([sql]) => sql).join(' AND ');
    const sql = `SELECT * FROM log WHERE position > ? AND position < ? AND ${where} ORDER BY position DESC LIMIT ?`;
    const values = conditions.flatMap(([, bound]) => bound);
    return await this.#reading(() => {
      const below = Math.min(stretch.below, this.#writer.statements.lastPosition() + 1);
      const above = Math.max(stretch.above, below - 1 - stretch.rows_max);
      const rows = this.#all<LogRow>(sql, above, below, ...values, stretch.limit);
      return { entries: rows.map((row) => this.#writer.statements.entry(row)), reached: above };
    });
  }

  async stored(project: string, after: number, last: number): Promise<StoredRow[]> {
    const sql = 'SELECT * FROM log WHERE position > ? AND position <= ? AND project = ? ORDER BY position';
    return await this.#reading(() =>
      this.#all<LogRow>(sql, after, last, project).map((row) => this.#stored(row)),
    );
  }

  #stored(row: LogRow): StoredRow {
    let entry: LogEntry | undefined;
    try {
      entry = this.#writer.statements.entry(row);
    } catch {
      // The row is not even JSON any more.
    }
    return { position: row.position, entry, intact: isIntact(row) };
  }

  remove(project: string, { number, mark, positions, row }: Removal): Promise<boolean> {
    return this.#writer.inTransaction(() => {
      const { statements } = this.#writer;
      const unmarked = `SELECT 1 FROM seals WHERE project = ? AND number = ? AND ${mark} IS NULL`;
      if (this.#all(unmarked, project, number).length === 0) return false;
      // Records are made from rows, so rows are removed only after the records show them.
      this.#writer.records.fold();
      // Announced first: the log reports any other missing row as damage.
      this.#announceGaps(positions);
      const remove = this.#prepare('DELETE FROM log WHERE position = ? AND project = ?');
      for (const position of positions) remove.run(position, project);
      const recorded = this.#writer.records.nextPosition();
      statements.append(recorded, row, null);
      this.#prepare(`UPDATE seals SET ${mark} = ? WHERE project = ? AND number = ?`).run(
        ...[recorded, project, number],
      );
      return true;
    }, true);
  }

  /** Adjacent gaps are merged: reading past archived rows stays a single step. */
  #announceGaps(positions: readonly number[]): void {
    const lowest = Math.min(...positions);
    const highest = Math.max(...positions);
    const near = `SELECT first, last FROM gaps WHERE first <= ?
      AND first >= coalesce((SELECT max(first) FROM gaps WHERE first < ?), 0)`;
    const known = this.#all<Run>(near, highest + 1, lowest);
    const added = positions.map((position) => ({ first: position, last: position }));
    for (const { first } of known) this.#prepare('DELETE FROM gaps WHERE first = ?').run(first);
    const insert = this.#prepare('INSERT INTO gaps (first, last) VALUES (?, ?)');
    for (const { first, last } of joinRuns([...known, ...added])) insert.run(first, last);
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #all<T>(sql: string, ...values: (string | number)[]): T[] {
    return this.#prepare(sql).all(...values) as unknown as T[];
  }
}

function resultCondition(result: string): [string, string[]] {
  const success = "coalesce(body ->> '$.result.success', 1)";
  if (result === 'success') return [success, []];
  if (result === 'refused') return [`NOT ${success}`, []];
  const codes = ['error', 'action', 'reason'].map((field) => `body ->> '$.result.${field}'`).join(', ');
  return [`NOT ${success} AND ? IN (${codes})`, [result]];
}

function joinRuns(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1);
    if (before !== undefined && run.first <= before.last + 1) before.last = Math.max(before.last, run.last);
    else joined.push({ ...run });
  }
  return joined;
}
