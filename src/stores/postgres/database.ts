import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { StoreFailure } from '../../kernel/refusal.ts';
import { prepareSession, queryWithin } from './database-session.ts';
import { failure, faultOf } from './failures.ts';

/**
 * A caller hears within two seconds that the server is away; a step leaves a little of that for the rest of
 * the call.
 */
export const STEP_MS_MAX = 1700;
const RECONNECT_PAUSE_MS = 40;

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The pool, recovery from broken connections, and the server's clock. */
export class Database {
  readonly clock: Clock;
  readonly #config: pg.PoolConfig;
  #pool: pg.Pool;
  /** Server time minus our monotonic time, as of the last answer. */
  #offset_ms = 0;

  constructor(config: pg.ClientConfig, connections_max: number, clock: Clock) {
    this.clock = clock;
    this.#config = {
      ...config,
      max: connections_max,
      connectionTimeoutMillis: STEP_MS_MAX,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      onConnect: (client) => prepareSession(client, STEP_MS_MAX),
    };
    this.#pool = createPool(this.#config);
  }

  /** For a connection outside the pool: migrations, LISTEN. */
  createClient(): pg.Client {
    const client = new pg.Client({ ...this.#config, connectionTimeoutMillis: STEP_MS_MAX });
    client.on('error', ignore);
    return client;
  }

  /** Late by the travel time of the answer, never early: it was the server's time when the answer left. */
  estimate_ms(): number {
    return Math.floor(this.clock.elapsed_ms() + this.#offset_ms);
  }

  learnTime(now_ms: number): void {
    this.#offset_ms = now_ms - this.clock.elapsed_ms();
  }

  /**
   * One prepared call of one function; `values` is evaluated anew for each try. When the connection breaks
   * during the call, it is tried once more as soon as the server is back: only for calls that may be repeated
   * (reads, or calls with operation ids).
   */
  async call<T>(
    statement: Statement,
    values: () => unknown[],
    deadline_ms: number,
    repeatable = true,
  ): Promise<T> {
    let lost = false;
    for (;;) {
      const pool = this.#pool;
      let client: pg.PoolClient;
      try {
        client = await connectWithin(pool, this.#left_ms(deadline_ms));
      } catch (error) {
        // A caller whose call was already sent waits for the server to come back; a new caller is refused at
        // once.
        if (!lost || faultOf(error) !== 'connection' || this.#left_ms(deadline_ms) < RECONNECT_PAUSE_MS)
          throw failure(error);
        await this.clock.sleep(RECONNECT_PAUSE_MS);
        continue;
      }
      try {
        const left_ms = Math.max(1, this.#left_ms(deadline_ms));
        const { rows } = await queryWithin<{ r: T }>(client, { ...statement, values: values() }, left_ms);
        client.release();
        return rows[0]?.r as T;
      } catch (error) {
        const broken = faultOf(error) === 'connection';
        client.release(broken);
        if (!broken) throw error;
        this.#renew(pool);
        if (lost || !repeatable || this.#left_ms(deadline_ms) < RECONNECT_PAUSE_MS) throw failure(error);
        lost = true;
      }
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #left_ms(deadline_ms: number): number {
    return Math.floor(deadline_ms - this.clock.elapsed_ms());
  }

  /**
   * After one connection broke, the pool's other idle connections are dead too; none of them is tried first.
   */
  #renew(broken: pg.Pool): void {
    if (this.#pool !== broken) return;
    this.#pool = createPool(this.#config);
    broken.end().catch(ignore);
  }
}

function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  // Without listeners, an error on an idle connection would end the process.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

/** The pool's own time limit starts anew with every try; a caller's deadline does not. */
async function connectWithin(pool: pg.Pool, left_ms: number): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => {
        connecting.then((client) => client.release(), ignore);
        reject(new Error('no connection in time'));
      },
      Math.max(1, left_ms),
    );
  });
  return await Promise.race([connecting, late]).finally(() => clearTimeout(timer));
}

export function ignore(): void {}

/** The URL without our own parameters. */
export function parseUrl(url: string): { config: pg.ClientConfig; connections_max: number } {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new StoreFailure(
      'store_unsupported',
      'The store is no valid URL: expected postgres://user@host:port/database.',
    );
  }
  const max = parsed.searchParams.get('max');
  parsed.searchParams.delete('max');
  const connections_max = max === null ? 16 : Number(max);
  if (!Number.isInteger(connections_max) || connections_max < 2 || connections_max > 100)
    throw new StoreFailure(
      'store_unsupported',
      `max=${max} in the store's URL: expected a number from 2 to 100.`,
    );
  return {
    config: { connectionString: parsed.href, keepAlive: true, application_name: 'coxswain' },
    connections_max,
  };
}
