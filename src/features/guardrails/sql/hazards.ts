import type { Category } from '../../trust/index.ts';

interface Hazard {
  readonly category: Category;
  readonly reason: string;
  readonly instead?: string;
}

/** What SQL can do that can't be undone, or needs a check first. */
const HAZARDS = {
  drop_database: hazard('database_destruction', 'The database goes with everything in it.'),
  drop_schema: hazard('database_destruction', 'The schema goes, and with CASCADE every table in it.'),
  drop_table: hazard(
    'database_destruction',
    'The table goes with its rows.',
    'Rename it, and drop it later.',
  ),
  drop_column: hazard('database_destruction', 'The column goes with what is in it.', 'Stop using it first.'),
  drop_partition: hazard('database_destruction', 'The partition goes with its rows.', 'Detach it.'),
  drop_type: hazard('database_destruction', 'With CASCADE every column of this type goes too.'),
  drop_role: hazard('database_destruction', 'Whoever logs in with this role is locked out.'),
  drop_owned: hazard('database_destruction', 'Everything that the role owns goes.'),
  drop_tablespace: hazard('database_destruction', 'The place where tables lie goes.'),
  truncate_table: hazard('database_destruction', 'All rows go at once.', 'DELETE with a WHERE.'),
  unscoped_delete: hazard(
    'mass_deletion',
    'Without a condition that excludes any, all rows go.',
    'Say which rows.',
  ),
  unscoped_update: hazard(
    'database_destruction',
    'All rows lose what they held.',
    'Say which rows with WHERE.',
  ),
  catalog_change: hazard('database_destruction', "The database's own tables are changed by hand."),
  grant_all: hazard(
    'database_destruction',
    'Somebody gets every right at once.',
    'Grant the rights it needs.',
  ),
  server_setting: hazard('infrastructure', 'The server behaves differently for everybody.'),
  server_shutdown: hazard('infrastructure', 'The server stops for everybody.'),
  server_program: hazard('unread_code', 'The database server runs a program.'),
  dynamic_sql: hazard('unresolved', 'Which SQL would run is only known while it runs.', 'Write the SQL out.'),
  unreadable_sql: hazard(
    'unresolved',
    'A string or a comment is never closed, so nobody can tell what would run.',
  ),
  check_exhausted: hazard(
    'unresolved',
    'There is more SQL than is looked at.',
    'Hand it in in smaller parts.',
  ),
  schema_change: hazard('database_migration', 'The schema changes: tier 3 verification or above first.'),
} as const satisfies Readonly<Record<string, Hazard>>;

export type SqlOperation = keyof typeof HAZARDS;

export function hazardOf(operation: SqlOperation): Hazard {
  return HAZARDS[operation];
}

function hazard(category: Category, reason: string, instead?: string): Hazard {
  return instead === undefined ? { category, reason } : { category, reason, instead };
}

/** Which of them is where in the text; or a shell command that the client or the server would run. */
export type Hit =
  | {
      readonly operation: SqlOperation;
      readonly at: number;
      readonly end: number;
      readonly shell?: undefined;
    }
  | { readonly operation: 'shell'; readonly at: number; readonly end: number; readonly shell: string };

export const DROPPED: Readonly<Record<string, SqlOperation>> = {
  DATABASE: 'drop_database',
  SCHEMA: 'drop_schema',
  TABLE: 'drop_table',
  TABLES: 'drop_table',
  ROLE: 'drop_role',
  USER: 'drop_role',
  LOGIN: 'drop_role',
  GROUP: 'drop_role',
  OWNED: 'drop_owned',
  TABLESPACE: 'drop_tablespace',
  KEYSPACE: 'drop_database',
};

/** What can be recreated from its definition. */
export const REMADE =
  /^(?:INDEX|VIEW|MATERIALIZED|FUNCTION|PROCEDURE|TRIGGER|POLICY|RULE|AGGREGATE|OPERATOR|CAST|COLLATION|CONVERSION|SEQUENCE|TYPE|DOMAIN|EXTENSION|EVENT|SYNONYM|STATISTICS|PUBLICATION|SUBSCRIPTION|SERVER|FOREIGN|LANGUAGE|ROUTINE|TRANSFORM|ACCESS|TEXT|PROC|DEFAULT|ASSEMBLY|PARTITION)$/;
