import pg from 'pg';
import { systemClock } from '../../src/kernel/clock.ts';
import { createIds, systemRandom } from '../../src/kernel/ids.ts';
import type { Request } from '../../src/ledger/log.ts';
import type { Store, StoreContext } from '../../src/ledger/store-port.ts';
import { entities } from '../../src/runtime/entities.ts';
import { openPostgres } from '../../src/stores/postgres/store.ts';

export const ids = createIds(systemClock, systemRandom);
export const context: StoreContext = { entities, clock: systemClock, random: systemRandom, ids };

export function openDomain(url: string): Promise<Store> {
  return openPostgres(url, context);
}

export function request(agent_id: string, operation: string, more: Partial<Request> = {}): Request {
  return {
    project: 'p',
    actor: { agent_id, agent_type: 'test', session_id: `session-${agent_id}` },
    sequence: 1,
    operation,
    parameters: {},
    operation_id: ids.uuid(),
    input_digest: 'digest',
    started_ms: systemClock.elapsed_ms(),
    ...more,
  };
}

/** A connection of the test's own beside the store's. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

export async function ask<T extends pg.QueryResultRow>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<T[]> {
  const client = await connectTo(url);
  try {
    return (await client.query<T>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
