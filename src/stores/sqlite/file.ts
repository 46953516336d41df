import { closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreFailure } from '../../kernel/refusal.ts';
import type { StoreContext } from '../../ledger/store-port.ts';
import { folderFailure, isBusy, storeFailure } from './errors.ts';
import { Patience } from './patience.ts';
import { APPLICATION_ID, MIGRATIONS, SCHEMA_EPOCH } from './schema.ts';

/**
 * File systems whose locks or shared memory do not work between all machines that see the file: two writers
 * there corrupt it. The numbers are the kernel's (statfs): NFS, SMB, CIFS, SMB2, 9p (also WSL's view of
 * Windows), FUSE (sshfs, virtiofs), AFS, Ceph, Lustre.
 */
const SHARED_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
]);

/**
 * Windows does not name the file system, but a share has a path of its own form. A drive letter mapped to a
 * share is not recognised.
 */
const WINDOWS_SHARE = /^\\\\(?:\?\\UNC\\|(?![?.]\\))/i;

const OPEN_WAIT_MS = 10_000;

export function fileSystemProblem(type: number): string | undefined {
  return SHARED_FILE_SYSTEMS.get(type);
}

export function isWindowsShare(path: string): boolean {
  return WINDOWS_SHARE.test(path);
}

/** Opens or creates the file and migrates it to this version's schema. Many processes may do so at once: one of them does it. */
export async function openFile(
  path: string,
  { clock, random, brief = false }: Pick<StoreContext, 'clock' | 'random' | 'brief'>,
): Promise<DatabaseSync> {
  const file = isAbsolute(path) ? path : resolve(path);
  try {
    prepareFolder(file);
  } catch (error) {
    throw folderFailure(error);
  }
  const patience = new Patience({ path: file, clock, random });
  let database: DatabaseSync | undefined;
  try {
    for (;;) {
      try {
        // No busy handler: it would block the whole process, and it lets some writers starve. The writer does
        // its own waiting. It stays open while we wait: the process that closes a file last cleans up after all others.
        database ??= new DatabaseSync(file, { timeout: 0 });
        setUp(database, brief && existsSync(`${file}-wal`));
        return database;
      } catch (error) {
        if (isBusy(error) && !patience.isOver(OPEN_WAIT_MS, OPEN_WAIT_MS)) {
          await patience.pause();
          continue;
        }
        database?.close();
        throw storeFailure(error, file);
      }
    }
  } finally {
    patience.end();
  }
}

function prepareFolder(file: string): void {
  const folder = dirname(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kind = isWindowsShare(folder) ? 'a share' : fileSystemProblem(statfsSync(folder).type);
  if (kind !== undefined)
    throw new StoreFailure(
      'store_unsupported',
      `${folder} is on ${kind}, where locks do not hold between machines; the store would be corrupted.`,
    );
  if (found?.isDirectory() === true)
    throw new StoreFailure('store_unsupported', `${file} is a folder; the store is a file.`);
  if (found !== undefined) return;
  try {
    // Created here and not by SQLite, so that it is private from the start; -wal and -shm inherit that.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * `isInUse`: opened by a hook, and the -wal exists. The process that made the -wal has set the journal mode,
 * and a hook keeps few pages in memory; skipping both saves it part of a millisecond.
 */
function setUp(database: DatabaseSync, isInUse: boolean): void {
  // Before anything is set: even the journal mode is written into the file.
  const isNew = checkOwner(database);
  // A page then holds twelve rows of the log instead of five, and each new page causes two other page writes:
  // 8 callers take a twentieth less time than with 4 KB. 16 KB gains nothing more.
  if (isNew) database.exec('PRAGMA page_size = 8192');
  // The writer puts commits on disk, many at a time (wal.ts), and copies frames into the main file itself, every
  // 1,000 pages (file-guard.ts): with 8 MB many commits change the same page before it is written back. Up
  // to 32 MB of pages are cached: with 16 MB a lock check among 100,000 locks took a twentieth longer, for
  // pages that had to be read again.
  if (isNew || !isInUse) database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -32000');
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  let epoch = epochOf(database);
  if (epoch < SCHEMA_EPOCH) {
    migrate(database);
    epoch = epochOf(database);
  }
  checkEpoch(epoch);
}

/**
 * Returns whether it is empty. Uses one statement for a file not known to be ours: between two statements
 * another process may have made it a store.
 */
function checkOwner(database: DatabaseSync): boolean {
  const known = database.prepare('PRAGMA application_id').get() as { application_id: number };
  if (known.application_id === APPLICATION_ID) return false;
  const { application_id, objects } = database
    .prepare(
      'SELECT application_id, (SELECT count(*) FROM sqlite_schema) AS objects FROM pragma_application_id',
    )
    .get() as { application_id: number; objects: number };
  if (application_id !== APPLICATION_ID && (application_id !== 0 || objects > 0))
    throw new StoreFailure('store_unsupported', 'This file belongs to another program; it is left as it is.');
  return objects === 0;
}

function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (let epoch = epochOf(database); epoch < SCHEMA_EPOCH; epoch += 1)
      database.exec(MIGRATIONS[epoch] ?? '');
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${SCHEMA_EPOCH}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function epochOf(database: DatabaseSync): number {
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  return user_version;
}

export function checkEpoch(epoch: number): void {
  if (epoch > SCHEMA_EPOCH)
    throw new StoreFailure(
      'upgrade_required',
      `The store has schema ${epoch}; this Coxswain knows up to ${SCHEMA_EPOCH}.`,
    );
}

/** Node closes the databases of a process that ends by itself, and SQLite then copies all frames. It closes none on `process.exit`. */
export function leaveOpen(): void {
  if (!isLeftOpen) process.once('exit', (code) => process.exit(code));
  isLeftOpen = true;
}

let isLeftOpen = false;
