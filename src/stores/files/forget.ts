import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isoTime } from '../../kernel/clock.ts';
import type { LogRow, Statements } from '../sqlite/statements.ts';
import type { Layout } from './folder-layout.ts';
import { tellOf } from './tell-of.ts';

const ROWS_AT_ONCE = 1000;

export interface Forgotten {
  readonly last_position: number;
  readonly rows: number;
  /** Where the known rows were saved; undefined: there were none. */
  readonly kept_in: string | undefined;
}

/**
 * Empties the file, in the writer's transaction, so that it is rebuilt from the log. Its audit rows belong to
 * a history that is gone; they stay readable in a file of lines.
 */
export function forgetAll(
  database: DatabaseSync,
  statements: Statements,
  { own }: Layout,
  now_ms: number,
): Forgotten {
  const last_position = statements.lastPosition();
  const { rows } = database.prepare('SELECT count(*) AS rows FROM log').get() as { rows: number };
  const kept_in =
    rows === 0 ? undefined : join(own, `audit-until-${isoTime(now_ms).replaceAll(':', '')}.jsonl`);
  if (kept_in !== undefined) writeRows(database, own, kept_in);
  const guards = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all() as unknown as { name: string; sql: string }[];
  for (const { name } of guards) database.exec(`DROP TRIGGER ${name}`);
  for (const table of ['records', 'links', 'log', 'seals', 'sealed_rows', 'gaps', 'chapters'])
    database.exec(`DELETE FROM ${table}`);
  for (const { sql } of guards) database.exec(sql);
  return { last_position, rows, kept_in };
}

function writeRows(database: DatabaseSync, folder: string, path: string): void {
  mkdirSync(folder, { recursive: true });
  const page = database.prepare('SELECT * FROM log WHERE position > ? ORDER BY position LIMIT ?');
  const handle = openSync(path, 'w', 0o600);
  try {
    for (let after = 0; ; ) {
      const rows = page.all(after, ROWS_AT_ONCE) as unknown as LogRow[];
      const last = rows.at(-1);
      if (last === undefined) return;
      writeSync(
        handle,
        rows.map((row) => `${JSON.stringify({ ...row, body: JSON.parse(row.body) })}\n`).join(''),
      );
      after = last.position;
    }
  } finally {
    closeSync(handle);
  }
}

/** Records that history was replaced, at a position behind all that any reader has reached. */
export function tellOfNewLog(
  statements: Statements,
  at_ms: number,
  { last_position, rows, kept_in, home }: Forgotten & { readonly home: string },
): void {
  const last = statements.lastPosition();
  if (last < last_position) statements.announceGap(last + 1, last_position);
  const position = Math.max(last, last_position) + 1;
  const parameters = { rows_before: rows, kept_in: kept_in ?? null };
  tellOf(statements, 'log_replaced', { home, position, at_ms }, parameters);
}
