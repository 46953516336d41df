import { checkLocks } from '../../features/locks/operations.ts';
import { digest } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isRefusal } from '../../kernel/refusal.ts';
import { version } from '../../kernel/version.ts';
import { shownStore } from '../../runtime/about.ts';
import { invalid, refusalOf } from '../../runtime/answer.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './http-exchange.ts';
import type { Route } from './routes.ts';

export const GET = ['GET', 'HEAD'];
const STATUS_PREFIX = '/locks/status/';

/** Tells two servers of one store from two of different stores, and nothing else. */
export const STORE_HEADER = 'coxswain-store';

export function storeMark({ store_url, project }: Pick<Coxswain, 'store_url' | 'project'>): string {
  return digest(`${shownStore(store_url)}\n${project}`);
}

/** Routes that need no identity and change nothing. */
export function lookRoutes(coxswain: Coxswain, connections: Connections): Route[] {
  const health = JSON.stringify({ status: 'ok', version: version() });
  const mark = { [STORE_HEADER]: storeMark(coxswain) };
  return [
    {
      path: '/health',
      methods: GET,
      key: 'none',
      handle: (exchange) => exchange.sendText(200, 'application/json', health, mark),
    },
    { path: '/ready', methods: GET, key: 'required', handle: (exchange) => ready(coxswain, exchange) },
    {
      path: `${STATUS_PREFIX}{path}`,
      methods: GET,
      key: 'none',
      handle: (exchange) => lockStatus(connections, exchange),
    },
  ];
}

async function ready({ store, store_url, project }: Coxswain, exchange: Exchange): Promise<void> {
  const about = { version: version(), store: shownStore(store_url), project };
  try {
    // A real read, of a record that need not exist.
    await store.find(project, { keys: [{ kind: 'lock', id: 'ready' }] });
    exchange.send(200, { status: 'ok', ...about });
  } catch (error) {
    exchange.send(503, { status: 'unavailable', ...about, ...refusalOf(error) });
  }
}

async function lockStatus({ anonymous }: Connections, exchange: Exchange): Promise<void> {
  let file_path: string;
  try {
    file_path = decodeURIComponent(exchange.path.slice(STATUS_PREFIX.length));
  } catch {
    return exchange.answer(invalid('path', 'a percent-encoded path'));
  }
  const answer = await anonymous.perform(checkLocks, { file_paths: [file_path] });
  if (isRefusal(answer)) return exchange.answer(answer);
  const [lock] = answer.locks as JsonObject[];
  // No key is asked for: what the holder wrote is for those who have one.
  const { reason: _, ...shown } = lock ?? {};
  exchange.answer({ success: true, file_path, ...shown, locked: lock !== undefined });
}
