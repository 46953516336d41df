import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type Database, STEP_MS_MAX } from './database.ts';
import { prepareSession, queryWithin } from './database-session.ts';
import { failure } from './failures.ts';
import { EPOCH } from './write-group.ts';

const folder = new URL('./migrations/', import.meta.url);
/** Any number, always the same one: "coxs". */
const MIGRATION_LOCK = 0x636f7873;
/** Many processes may start at once, and each waits for the one that migrates. */
const MIGRATION_MS_MAX = 60_000;

/** From this migration on there is `coxswain.bootstrap()`: rights for whatever a migration has added. */
const RIGHTS_SINCE = 10;

const STATE = `SELECT coxswain.now_ms() AS now,
  coalesce(pg_sequence_last_value('coxswain.log_position'::regclass), 0) AS position`;

interface Migration {
  readonly number: number;
  readonly file: string;
}

interface Meta {
  readonly migration: number;
  readonly epoch: number;
}

/**
 * Brings the schema up to ours; an empty database gets all of it. Does nothing, and needs no rights, when it is there.
 * Answers the last position given out.
 */
export async function migrate(database: Database): Promise<number> {
  const migrations = await listMigrations();
  const newest = migrations.at(-1)?.number ?? 0;
  const client = database.createClient();
  try {
    await client.connect();
    await prepareSession(client, STEP_MS_MAX);
    let meta = await readMeta(client);
    while (meta.migration < newest) meta = await migrateOnce(client, migrations);
    const state = await ask<{ now: string; position: string }>(client, STATE, STEP_MS_MAX);
    database.learnTime(Number(state?.now));
    return Number(state?.position);
  } catch (error) {
    throw failure(error);
  } finally {
    client.end().catch(() => {});
  }
}

async function listMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{3}_\w+\.sql$/.test(file)).sort();
  return files.map((file) => ({ number: Number(file.slice(0, 3)), file }));
}

/** The next migration in a transaction of its own, under a lock: whoever waited finds it done and looks again. */
async function migrateOnce(client: pg.Client, migrations: readonly Migration[]): Promise<Meta> {
  await client.query('BEGIN');
  try {
    await ask(client, `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`, MIGRATION_MS_MAX);
    const meta = await readMeta(client);
    const next = migrations.find(({ number }) => number > meta.migration);
    if (next !== undefined) {
      // Commits under way end first and later ones wait, so none of an older epoch comes after it.
      if (meta.migration > 0)
        await ask(client, 'LOCK TABLE coxswain.meta IN ACCESS EXCLUSIVE MODE', MIGRATION_MS_MAX);
      await ask(client, await readFile(new URL(next.file, folder), 'utf8'), MIGRATION_MS_MAX);
      if (next.number >= RIGHTS_SINCE) await ask(client, 'SELECT coxswain.bootstrap()', MIGRATION_MS_MAX);
      await client.query('UPDATE coxswain.meta SET migration = $1', [next.number]);
    }
    await client.query('COMMIT');
    return await readMeta(client);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function readMeta(client: pg.Client): Promise<Meta> {
  // Not to_regclass: while it waited for the lock it would keep believing its cache.
  const look =
    "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'coxswain' AND tablename = 'meta') AS there";
  const there = await ask<{ there: boolean }>(client, look, STEP_MS_MAX);
  if (!there?.there) return { migration: 0, epoch: EPOCH };
  const meta = await ask<Meta>(client, 'SELECT migration, epoch FROM coxswain.meta', MIGRATION_MS_MAX);
  if (meta === undefined) throw new StoreFailure('store_damaged', 'The table coxswain.meta is empty.');
  if (meta.epoch > EPOCH) {
    const message = `This store is at epoch ${meta.epoch}, this Coxswain at ${EPOCH}.`;
    throw new StoreFailure('upgrade_required', message);
  }
  return meta;
}

async function ask<T extends pg.QueryResultRow>(client: pg.Client, text: string, within_ms: number) {
  return (await queryWithin<T>(client, { text }, within_ms)).rows?.[0];
}
