import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/ids.ts';
import { type RefusalCode, StoreFailure } from '../../kernel/refusal.ts';
import { overlap, type PortLease } from './decide-ports.ts';

/** "CoxP": distinguishes our file from other programs' databases. */
const APPLICATION_ID = 0x436f7850;
const SCHEMA = 1;
const TABLE = `CREATE TABLE leases (
  session_id TEXT PRIMARY KEY,
  db_port INTEGER NOT NULL UNIQUE,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA}`;

const BUSY_MS_MAX = 10_000;
const PAUSE_MS_MAX = 10;

/** The leases as one transaction sees and changes them. */
export interface PortTable {
  leases(): PortLease[];
  /** Replaces the session's previous lease, and expired leases on these ports. */
  grant(lease: PortLease): void;
  remove(session_id: string): void;
}

/**
 * What the user's processes on this machine agree on: a small separate SQLite file, whatever store is
 * configured. It is opened for each change and closed after it. That costs a millisecond for something an
 * agent does twice a day, and leaves nothing to guard: no connection to a file that was moved meanwhile,
 * nothing to close. A process that is killed during a change leaves a journal, and the next process rolls the
 * change back.
 */
export async function changePorts<T>(
  folder: string,
  clock: Clock,
  change: (table: PortTable) => T,
): Promise<T> {
  const file = join(folder, 'ports.db');
  const started_ms = clock.elapsed_ms();
  for (;;) {
    try {
      prepareFile(folder, file);
      return inTransaction(file, change);
    } catch (error) {
      if (!isBusy(error) || clock.elapsed_ms() - started_ms > BUSY_MS_MAX) throw stateFailure(error, file);
      // SQLite's own waiting would block every other client of this process.
      await clock.sleep(systemRandom.fraction() * PAUSE_MS_MAX);
    }
  }
}

function prepareFile(folder: string, file: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const user = process.getuid?.();
  const { uid, mode } = statSync(folder);
  if (user !== undefined && (uid !== user || (mode & 0o022) !== 0))
    throw new StoreFailure(
      'state_unavailable',
      `Port allocations are kept in ${folder}, which must belong to you and to no other writer.`,
    );
  try {
    // Created here and not by SQLite, so that it is private from the start; its journal inherits that.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function inTransaction<T>(file: string, change: (table: PortTable) => T): T {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The lock is taken before anything is read: no two processes decide on the same leases.
    database.exec('BEGIN IMMEDIATE');
    prepareSchema(database);
    const result = change(tableOf(database));
    database.exec('COMMIT');
    return result;
  } finally {
    // Rolls back what was not committed.
    database.close();
  }
}

function prepareSchema(database: DatabaseSync): void {
  const { id, schema, objects } = database
    .prepare(
      `SELECT application_id AS id, user_version AS schema, (SELECT count(*) FROM sqlite_schema) AS objects
      FROM pragma_application_id, pragma_user_version`,
    )
    .get() as { id: number; schema: number; objects: number };
  if (id === 0 && objects === 0) database.exec(TABLE);
  else if (id !== APPLICATION_ID)
    throw new StoreFailure(
      'state_unavailable',
      `${database.location()} belongs to another program; it is left as it is.`,
    );
  else if (schema > SCHEMA)
    throw new StoreFailure('upgrade_required', `A newer Coxswain has changed ${database.location()}.`);
}

function tableOf(database: DatabaseSync): PortTable {
  const leases = () =>
    database.prepare('SELECT session_id, db_port, expires_at_ms FROM leases ORDER BY db_port').all() as {
      [K in keyof PortLease]: PortLease[K];
    }[];
  const remove = (session_id: string) =>
    void database.prepare('DELETE FROM leases WHERE session_id = ?').run(session_id);
  return {
    leases,
    remove,
    grant({ session_id, db_port, expires_at_ms }) {
      for (const lease of leases())
        if (lease.session_id === session_id || overlap(lease.db_port, db_port)) remove(lease.session_id);
      database.prepare('INSERT INTO leases VALUES (?, ?, ?)').run(session_id, db_port, expires_at_ms);
    },
  };
}

const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;

/** SQLite's own codes: the low byte is the error, the rest gives details. */
function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

const CODES = new Map<number | undefined, RefusalCode>([
  [CORRUPT, 'store_damaged'],
  [NOT_A_DATABASE, 'store_damaged'],
  [FULL, 'disk_full'],
]);

function stateFailure(error: unknown, file: string): Error {
  if (error instanceof StoreFailure) return error;
  const said = error instanceof Error ? error.message : String(error);
  const fault = isBusy(error) ? 'are kept busy by another process' : 'cannot be read or written';
  const code = CODES.get(sqliteCode(error)) ?? 'state_unavailable';
  return new StoreFailure(code, `The port allocations in ${file} ${fault} (${said}).`, { cause: error });
}
