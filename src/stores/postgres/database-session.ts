import type pg from 'pg';

/**
 * What our functions and texts are written for, whatever server, database or role have as a default. A statement that has
 * waited for a lock must see what was committed meanwhile: in a transaction with one snapshot for all of its statements
 * versions are compared with what they were before the wait, and who follows the log passes over rows. An answer is given when it
 * is on disk; more than that (a standby's disk) is the administrator's choice and stays.
 *
 * Set for the session, which a pooler may share with others; so only where it has to be, which is hardly anywhere.
 */
const WANTED = {
  default_transaction_isolation: 'read committed',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
};
const SETTINGS = `SELECT ${Object.entries(WANTED)
  .map(
    ([name, value]) =>
      `CASE WHEN current_setting('${name}') <> '${value}' THEN set_config('${name}', '${value}', false) END`,
  )
  .join(', ')},
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END`;

/** Before anything else is asked on a new connection. */
export async function prepareSession(client: pg.ClientBase, within_ms: number): Promise<void> {
  await queryWithin(client, { text: SETTINGS }, within_ms);
}

/** Gives up when no answer has come by then; the server may still be at it. */
export async function queryWithin<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  query: pg.QueryConfig,
  within_ms: number,
): Promise<pg.QueryResult<R>> {
  // @types/pg knows query_timeout only on the client; the library takes it per query too.
  const timed: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: within_ms };
  return await client.query<R>(timed);
}
