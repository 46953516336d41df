import { StoreFailure } from '../kernel/refusal.ts';
import type { Store, StoreContext } from '../ledger/store-port.ts';
import { NO_STORE, NoStore } from './no-store.ts';

/** Engines are imported only when used: a laptop with SQLite never loads a PostgreSQL client. */
export async function openStore(url: string, context: StoreContext): Promise<Store> {
  if (url === NO_STORE) return new NoStore();
  if (url === 'memory:') {
    const { MemoryStore } = await import('./memory/store.ts');
    return new MemoryStore(context);
  }
  if (url.startsWith('sqlite:')) {
    const { openSqlite } = await import('./sqlite/store.ts');
    return await openSqlite(url.slice('sqlite:'.length), context);
  }
  if (url.startsWith('files:')) {
    const { openFiles } = await import('./files/store.ts');
    return await openFiles(url.slice('files:'.length), context);
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres/store.ts');
    return await openPostgres(url, context);
  }
  if (url.startsWith('dynamodb:')) {
    const { openDynamoDb } = await import('./dynamodb/store.ts');
    return await openDynamoDb(url, context);
  }
  // Only the scheme is shown: a typo in `postgres` must not reveal the password behind it, least of all to an
  // agent.
  const kind = /^[\w+.-]{1,20}:/.exec(url)?.[0];
  throw new StoreFailure(
    'store_unsupported',
    `Unknown store${kind === undefined ? '' : ` "${kind}…"`}: expected sqlite:PATH, files:DIR, postgres://…, dynamodb://TABLE or memory:.`,
  );
}
