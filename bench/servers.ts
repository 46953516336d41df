/** The peers' servers, private to a run: a free port or a socket in a temporary directory, gone afterwards. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Cleanup } from './cleanup.ts';
import type { Progress } from './progress.ts';

export interface RedisServer {
  /** A unix socket: the shortest way, which is the peer's best. */
  path: string;
  version: string;
}

export interface PostgresServer {
  createDatabase(): Promise<string>;
  version: string;
}

function redisVersion(): string | undefined {
  const found = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return found.status === 0 ? (/v=(\S+)/.exec(found.stdout)?.[1] ?? 'unknown') : undefined;
}

/** Where we may, the Debian package is installed; elsewhere the peer is missing and the caller says so loudly. */
function findRedis(progress: Progress): string | undefined {
  const present = redisVersion();
  if (present !== undefined || process.getuid?.() !== 0) return present;
  progress.say('installing redis-server (Debian package)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['install', '-y', 'redis-server'], { env, stdio: 'ignore' });
  return redisVersion();
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(killer);
}

async function waitForRedis(path: string, child: ChildProcess): Promise<void> {
  const client = new Redis({ path, lazyConnect: true, retryStrategy: null });
  client.on('error', () => {});
  for (let attempt = 0; attempt < 100; attempt++) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`);
    try {
      await client.connect();
      const mode = await client.config('GET', 'appendfsync');
      // Without this the comparison would be with a peer that promises less than we do.
      if (!String(mode).includes('always')) throw new Error(`redis-server: appendfsync is ${String(mode)}`);
      client.disconnect();
      return;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('redis-server')) throw error;
      client.disconnect();
      await wait(50);
    }
  }
  throw new Error('redis-server did not start within 5 s');
}

export async function startRedis(cleanup: Cleanup, progress: Progress): Promise<RedisServer | undefined> {
  const version = findRedis(progress);
  if (version === undefined) return undefined;
  const dir = await cleanup.tempDir('redis');
  const path = join(dir, 'redis.sock');
  const settings = ['--port', '0', '--unixsocket', path, '--dir', dir, '--save', ''];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const child = spawn('redis-server', [...settings, ...durable], { stdio: 'ignore' });
  cleanup.defer(() => stopChild(child));
  await waitForRedis(path, child);
  return { path, version };
}

export async function startPostgresServer(cleanup: Cleanup, progress: Progress): Promise<PostgresServer> {
  progress.say('starting a private PostgreSQL');
  const { startPostgres } = await import('../test/support/postgres.ts');
  const server = await startPostgres({ fsync: true });
  cleanup.defer(() => server.stop());
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const shown = await client.query<{ fsync: string; commit: string; version: string }>(
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
              current_setting('server_version') AS version`,
    );
    const row = shown.rows[0];
    if (row?.fsync !== 'on' || row.commit !== 'on')
      throw new Error('PostgreSQL does not commit durably: fsync or synchronous_commit is off');
    return { createDatabase: () => server.createDatabase(), version: row.version };
  } finally {
    await client.end();
  }
}
