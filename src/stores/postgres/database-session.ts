import type pg from 'pg';

/**
 * What our functions and statements rely on, whatever defaults the server, the database or the role have. A
 * statement that has waited for a lock must see what was committed meanwhile. In a transaction with one
 * snapshot for all of its statements, versions would be compared with what they were before the wait, and
 * readers that follow the log would skip rows. A commit is answered when it is on disk; more than that (a
 * standby's disk) is the administrator's choice and stays as it is.
 *
 * Set for the session, which a pooler may share with other clients; so it is set only where it is needed,
 * which is rare.
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

/** Runs before anything else on a new connection. */
export async function prepareSession(client: pg.ClientBase, within_ms: number): Promise<void> {
  await queryWithin(client, { text: SETTINGS }, within_ms);
}

/** Gives up when no answer has come in time; the server may still be executing the query. */
export async function queryWithin<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  query: pg.QueryConfig,
  within_ms: number,
): Promise<pg.QueryResult<R>> {
  // @types/pg knows query_timeout only on the client; the library accepts it per query too.
  const timed: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: within_ms };
  return await client.query<R>(timed);
}
