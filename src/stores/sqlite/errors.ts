import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../kernel/file-system.ts';
import { StoreFailure } from '../../kernel/refusal.ts';

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const FULL = 13;
const NOT_A_DATABASE = 26;
/** An extended code: pages that should be there are missing. */
const SHORT_READ = 522;
/** Another extended code: the open file is no longer the one at its path. */
const MOVED = 1032;

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  // The low byte is the error; the rest has details.
  return Number(error.errcode) & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

export function isDamage(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

const FULL_DISK: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

const ELSEWHERE = 'or name another store (--store, COX_STORE)';
const IN_THE_WAY = `Something on the way to it is a file and not a folder: move it away, ${ELSEWHERE}.`;
const NOT_ALLOWED = `Let this user read and write the file and its folder, ${ELSEWHERE}.`;
const READ_ONLY = `Its disk is read-only: make it writable, ${ELSEWHERE}.`;

/** Errors that waiting does not cure, and what does. */
const MENDED_BY: ReadonlyMap<string, string> = new Map([
  ['EEXIST', IN_THE_WAY],
  ['ENOTDIR', IN_THE_WAY],
  ['EACCES', NOT_ALLOWED],
  ['EPERM', NOT_ALLOWED],
  ['EROFS', READ_ONLY],
]);

/**
 * The system error when a store's folder cannot be created or read: not the caller's mistake; the store is
 * away.
 */
export function folderFailure(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const said = error instanceof Error ? error.message : String(error);
  const message = `The store's folder cannot be used (${said}).`;
  const code = errorCode(error);
  const mend = MENDED_BY.get(code);
  if (mend !== undefined) return new StoreFailure('store_unusable', `${message} ${mend}`, { cause: error });
  return new StoreFailure(FULL_DISK.has(code) ? 'disk_full' : 'database_unavailable', message, {
    cause: error,
  });
}

/** SQLite only says that it can't open the file. The system's error tells whether that will last. */
function mendOf(path: string): string | undefined {
  try {
    // -wal and -shm are created beside it.
    accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return MENDED_BY.get(errorCode(error));
  }
}

/** SQLite's error in words an agent can act on. Unknown errors are passed on as they are. */
export function storeFailure(error: unknown, path: string): Error {
  if (error instanceof StoreFailure) return error;
  const said = error instanceof Error ? error.message : String(error);
  const failure = (code: ConstructorParameters<typeof StoreFailure>[0], message: string) =>
    new StoreFailure(code, `${message} (${path}: ${said})`, { cause: error });
  const extended = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  if (extended === SHORT_READ) return failure('store_damaged', 'The store is damaged.');
  if (extended === MOVED) return failure('store_moved', 'The store is not where it was.');
  switch (primaryCode(error)) {
    case undefined:
      return error instanceof Error ? error : new Error(said);
    case BUSY:
    case LOCKED:
      return failure('database_unavailable', 'Another process has been writing for too long.');
    case READONLY:
      return failure(
        'store_unusable',
        `The store can be read but not written. ${mendOf(path) ?? NOT_ALLOWED}`,
      );
    case CORRUPT:
      return failure('store_damaged', 'The store is damaged.');
    case NOT_A_DATABASE:
      return failure('store_damaged', 'This file is not a Coxswain store.');
    case FULL:
      return failure('disk_full', 'The disk is full.');
    case CANNOT_OPEN: {
      const mend = mendOf(path);
      if (mend !== undefined) return failure('store_unusable', `The store cannot be opened. ${mend}`);
      return failure('database_unavailable', 'The store cannot be used.');
    }
    default:
      return failure('database_unavailable', 'The store cannot be used.');
  }
}
