import { type RefusalCode, StoreFailure } from '../../kernel/refusal.ts';

/** How one call of the server went wrong, as far as the caller has to know. */
export type Fault =
  /** The server was not reached or the connection broke: it is not known whether the call was done. */
  | 'connection'
  /** Nothing was done, and the same call may succeed at once. */
  | 'again'
  | 'final';

const AGAIN = new Set([
  '40001', // serialization_failure, and what our functions raise when a group has to be split
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '53200', // out_of_memory: mostly the table of advisory locks; a smaller group needs fewer
  '57014', // query_canceled: by an administrator, or by a statement_timeout that a smaller group may stay within
]);

/**
 * Shutting down, starting up, too many connections, ended by a time-out, read only after a failover: treated
 * like a server that is away.
 */
const AWAY = /^(08|57P0[1-5]|53300|25006|25P0[34])/;

const CODES: Record<string, RefusalCode> = {
  COX01: 'upgrade_required',
  '42883': 'store_moved',
  '42P01': 'store_moved',
  '3F000': 'store_moved',
  '53100': 'disk_full',
  '22P05': 'invalid_input',
  '22P02': 'invalid_input',
  '22021': 'invalid_input',
};

/** The server's five-character code; undefined for errors of the network or the client library. */
function sqlState(error: unknown): string | undefined {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined;
}

export function faultOf(error: unknown): Fault {
  const state = sqlState(error);
  if (state === undefined) return 'connection';
  if (AWAY.test(state)) return 'connection';
  return AGAIN.has(state) ? 'again' : 'final';
}

export function failure(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const state = sqlState(error);
  const code = state === undefined ? undefined : CODES[state];
  const message = error instanceof Error ? error.message : String(error);
  // When several addresses of one host refuse the connection, the error has no message of its own.
  const said = message === '' ? String((error as { code?: unknown }).code ?? 'no answer') : message;
  if (state === '42501') {
    const way =
      'Connect as the owner of the schema coxswain, or GRANT coxswain_service TO this role; only the owner migrates.';
    return new StoreFailure('database_unavailable', `PostgreSQL lets this role not in: ${said}. ${way}`, {
      cause: error,
    });
  }
  if (code !== undefined) return new StoreFailure(code, `PostgreSQL: ${said}.`, { cause: error });
  if (faultOf(error) === 'final' && !/^(28|3D)/.test(state ?? ''))
    return new StoreFailure('internal_error', `PostgreSQL refused (${state}): ${said}.`, { cause: error });
  return new StoreFailure('database_unavailable', `PostgreSQL does not answer: ${said}.`, { cause: error });
}
