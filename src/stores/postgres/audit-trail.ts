import type { Removal, Scanned, StoredRow, Stretch, Trail } from '../../ledger/audit/audit-port.ts';
import type { Seal } from '../../ledger/audit/seal.ts';
import type { AuditFilter } from '../../ledger/audit/search-words.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { Database, Statement } from './database.ts';
import { failure } from './failures.ts';

/** Audit queries may take longer: no lock or task waits for them. */
const TRAIL_MS_MAX = 20_000;

const SEALS = { name: 'cox_read_seals', text: 'SELECT coxswain.read_seals($1, $2, $3, $4) AS r' };
const LEAVES = { name: 'cox_read_leaves', text: 'SELECT coxswain.read_leaves($1, $2) AS r' };
const ADD = { name: 'cox_add_seal', text: 'SELECT coxswain.add_seal($1, $2) AS r' };
const SCAN = { name: 'cox_scan_log', text: 'SELECT coxswain.scan_log($1, $2, $3, $4, $5, $6) AS r' };
const ROWS = { name: 'cox_read_rows', text: 'SELECT coxswain.read_rows($1, $2, $3) AS r' };
const REMOVE = { name: 'cox_remove_rows', text: 'SELECT coxswain.remove_rows($1, $2, $3, $4, $5) AS r' };

export class PostgresTrail implements Trail {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async sealsAfter(project: string, number: number, limit: number): Promise<Seal[]> {
    return await this.#call<Seal[]>(SEALS, project, number, false, limit);
  }

  async sealsBefore(project: string, number: number, limit: number): Promise<Seal[]> {
    return await this.#call<Seal[]>(SEALS, project, number, true, limit);
  }

  async leaves(project: string, number: number): Promise<Buffer | undefined> {
    const text = await this.#call<string | null>(LEAVES, project, number);
    return text === null ? undefined : Buffer.from(text, 'hex');
  }

  /**
   * Repeated after a broken connection it may find its own seal there: the caller looks again and continues
   * behind it.
   */
  async addSeal(seal: Seal, leaves: Buffer): Promise<boolean> {
    return await this.#call<boolean>(ADD, JSON.stringify(seal), leaves.toString('hex'));
  }

  async scan(project: string, filter: AuditFilter, stretch: Stretch): Promise<Scanned> {
    const { above, below, rows_max, limit } = stretch;
    const { agent_id, operation, since_ms, until_ms, result } = filter;
    const wanted = JSON.stringify({ agent_id, operation, since_ms, until_ms, result });
    const found = await this.#call<{ entries: LogEntry[] | null; reached: number }>(
      ...([SCAN, project, wanted, above, below, rows_max, limit] as const),
    );
    return { entries: found.entries ?? [], reached: found.reached };
  }

  async stored(project: string, after: number, last: number): Promise<StoredRow[]> {
    const entries = await this.#call<LogEntry[]>(ROWS, project, after, last);
    return entries.map((entry) => ({ position: entry.position, entry, intact: true }));
  }

  async remove(project: string, { number, mark, positions, row }: Removal): Promise<boolean> {
    return await this.#call<boolean>(REMOVE, project, number, mark, [...positions], JSON.stringify(row));
  }

  async #call<T>(statement: Statement, ...values: unknown[]): Promise<T> {
    const deadline_ms = this.#database.clock.elapsed_ms() + TRAIL_MS_MAX;
    try {
      return await this.#database.call<T>(statement, () => values, deadline_ms);
    } catch (error) {
      throw failure(error);
    }
  }
}
