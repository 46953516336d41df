import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { StoreFailure } from '../../kernel/refusal.ts';
import { type Database, STEP_MS_MAX } from './database.ts';
import { prepareSession, queryWithin } from './database-session.ts';
import { failure } from './failures.ts';
import { EPOCH } from './write-group.ts';

/** Holds `schema/baseline.sql`, for a new database, and `migrations/`, for what came after and for older databases. */
const HOME = new URL('./', import.meta.url);
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
  readonly file: URL;
}

interface Sources {
  /** The whole schema; records itself which migration it stands for. */
  readonly baseline: URL;
  readonly migrations: readonly Migration[];
}

interface Meta {
  readonly migration: number;
  readonly epoch: number;
}

/**
 * Brings the schema up to ours: a database without it starts from the baseline, any other from where it stands. Does nothing,
 * and needs no rights, when it is there. Answers the last position given out.
 */
export async function migrate(database: Database, home = HOME): Promise<number> {
  const sources = await findSources(home);
  const newest = sources.migrations.at(-1)?.number ?? 0;
  const client = database.createClient();
  try {
    await client.connect();
    await prepareSession(client, STEP_MS_MAX);
    let meta = await readMeta(client);
    while (meta.migration < newest) meta = await migrateOnce(client, sources);
    const state = await ask<{ now: string; position: string }>(client, STATE, STEP_MS_MAX);
    database.learnTime(Number(state?.now));
    return Number(state?.position);
  } catch (error) {
    throw failure(error);
  } finally {
    client.end().catch(() => {});
  }
}

async function findSources(home: URL): Promise<Sources> {
  const folder = new URL('migrations/', home);
  const files = (await readdir(folder)).filter((file) => /^\d{3}_\w+\.sql$/.test(file)).sort();
  return {
    baseline: new URL('schema/baseline.sql', home),
    migrations: files.map((file) => ({ number: Number(file.slice(0, 3)), file: new URL(file, folder) })),
  };
}

/** The next step in a transaction of its own, under a lock: a process that waited finds it done and looks again. */
async function migrateOnce(client: pg.Client, sources: Sources): Promise<Meta> {
  await client.query('BEGIN');
  try {
    await ask(client, `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`, MIGRATION_MS_MAX);
    const meta = await readMeta(client);
    if (meta.migration === 0) await create(client, sources.baseline);
    else {
      const next = sources.migrations.find(({ number }) => number > meta.migration);
      if (next !== undefined) await upgrade(client, next);
    }
    await client.query('COMMIT');
    return await readMeta(client);
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function create(client: pg.Client, baseline: URL): Promise<void> {
  await ask(client, await readFile(baseline, 'utf8'), MIGRATION_MS_MAX);
  await ask(client, 'SELECT coxswain.bootstrap()', MIGRATION_MS_MAX);
}

async function upgrade(client: pg.Client, { number, file }: Migration): Promise<void> {
  // Commits under way end first and later ones wait, so none of an older epoch comes after it.
  await ask(client, 'LOCK TABLE coxswain.meta IN ACCESS EXCLUSIVE MODE', MIGRATION_MS_MAX);
  await ask(client, await readFile(file, 'utf8'), MIGRATION_MS_MAX);
  if (number >= RIGHTS_SINCE) await ask(client, 'SELECT coxswain.bootstrap()', MIGRATION_MS_MAX);
  await client.query('UPDATE coxswain.meta SET migration = $1', [number]);
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
