import { StoreFailure } from '../../kernel/refusal.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CORRUPT = 11;
const FULL = 13;
const NOT_A_DATABASE = 26;
/** An extended code: pages that should be there are missing. */
const SHORT_READ = 522;

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  // The low byte is the error, the rest says more about it.
  return Number(error.errcode) & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

const FULL_DISK: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** What the system says when a store's folder cannot be made or looked into: nobody's fault here, and the store is away. */
export function folderFailure(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const said = error instanceof Error ? error.message : String(error);
  const isFull = error instanceof Error && 'code' in error && FULL_DISK.has(error.code);
  return new StoreFailure(
    isFull ? 'disk_full' : 'database_unavailable',
    `The store's folder cannot be used (${said}).`,
    { cause: error },
  );
}

/** What SQLite says, in words an agent can act on. Anything unknown is passed on as it is. */
export function storeFailure(error: unknown, path: string): Error {
  if (error instanceof StoreFailure) return error;
  const said = error instanceof Error ? error.message : String(error);
  const failure = (code: ConstructorParameters<typeof StoreFailure>[0], message: string) =>
    new StoreFailure(code, `${message} (${path}: ${said})`, { cause: error });
  if (error instanceof Error && 'errcode' in error && error.errcode === SHORT_READ)
    return failure('store_damaged', 'The store is damaged.');
  switch (primaryCode(error)) {
    case undefined:
      return error instanceof Error ? error : new Error(said);
    case BUSY:
    case LOCKED:
      return failure('database_unavailable', 'Another process has been writing for too long.');
    case READONLY:
      return failure('database_unavailable', 'The store can be read but not written.');
    case CORRUPT:
      return failure('store_damaged', 'The store is damaged.');
    case NOT_A_DATABASE:
      return failure('store_damaged', 'This file is not a Coxswain store.');
    case FULL:
      return failure('disk_full', 'The disk is full.');
    default:
      return failure('database_unavailable', 'The store cannot be used.');
  }
}
