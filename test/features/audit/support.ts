import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from '../../../src/index.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import type { Retention } from '../../../src/ledger/audit/retention.ts';
import { seal } from '../../../src/ledger/audit/sealing.ts';
import type { LogEntry } from '../../../src/ledger/log.ts';
import type { Coxswain } from '../../../src/runtime/coxswain.ts';
import { agent, type Call } from '../../conformance/engine.ts';
import { ask } from '../../stores/postgres-support.ts';
import { testDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

export const DAY_MS = 24 * 3600 * 1000;

/** A store whose clock can be set, so that it has a past. */
export class Place implements AsyncDisposable {
  /** What is done now was done so long ago. */
  ago_ms = 0;
  readonly engine: string;
  readonly url: string;
  readonly folder: string;
  readonly clock: Clock;
  coxswain!: Coxswain;
  readonly #drop: () => Promise<unknown>;

  private constructor(engine: string, url: string, folder: string, drop: () => Promise<unknown>) {
    this.engine = engine;
    this.url = url;
    this.folder = folder;
    this.#drop = drop;
    this.clock = { ...systemClock, now_ms: () => systemClock.now_ms() - this.ago_ms };
  }

  static async open(engine: string): Promise<Place> {
    const folder = await mkdtemp(join(tmpdir(), 'cox-audit-'));
    const database = engine === 'postgres' ? await testDatabase({ migrated: true }) : undefined;
    const url = database?.url ?? (engine === 'sqlite' ? `sqlite:${join(folder, 'cox.db')}` : 'memory:');
    const place = new Place(engine, url, folder, async () => {
      await database?.drop();
      await rm(folder, { recursive: true, force: true });
    });
    await place.reopen();
    return place;
  }

  async reopen(): Promise<void> {
    this.coxswain = await open({
      store: this.url,
      clock: this.clock,
      cwd: this.folder,
      // Rows are counted here; those about who is there have tests of their own.
      presence: 'off',
    });
  }

  agent(name: string): Call {
    return agent(this.coxswain, name);
  }

  async rows(): Promise<LogEntry[]> {
    return (await this.coxswain.store.read('default', 0, 100_000)).entries;
  }

  /** Reads and refusals are written a little later than what they were asked beside. */
  async settled(rows: number): Promise<LogEntry[]> {
    return await until(async () => {
      const all = await this.rows();
      return all.length >= rows && all;
    });
  }

  /** PostgreSQL dates its commits (and so its versions) itself; its owner puts them into the past. Only before they are sealed. */
  async age(days: number): Promise<void> {
    if (this.engine !== 'postgres') return;
    await ask(
      this.url,
      `ALTER TABLE coxswain.log DISABLE TRIGGER log_is_append_only;
       UPDATE coxswain.log SET at_ms = at_ms - ${days * DAY_MS} WHERE at_ms > coxswain.now_ms() - ${DAY_MS};
       UPDATE coxswain.records SET version = version - ${days * DAY_MS} WHERE version > coxswain.now_ms() - ${DAY_MS};
       ALTER TABLE coxswain.log ENABLE ALWAYS TRIGGER log_is_append_only`,
    );
  }

  async seal(): Promise<number> {
    return await seal(this.coxswain.store, 'default', this.clock, { all: true });
  }

  retention(before_ms = systemClock.now_ms() - 90 * DAY_MS): Retention {
    const { store, project, clock } = this.coxswain;
    const actor = { agent_id: 'keeper', agent_type: 'test', session_id: 'keeping' };
    return { store, project, clock, actor, before_ms };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.coxswain.close();
    await this.#drop();
  }
}

export const ENGINES = ['memory', 'sqlite', 'postgres'] as const;

/** `count` locks taken and, after each, one read: rows with events and rows without in turn. */
export async function work(place: Place, count: number, name = 'worker', from = 0): Promise<void> {
  const before = (await place.rows()).length;
  const call = place.agent(name);
  for (let n = from; n < from + count; n += 1) {
    await call('acquire_lock', { file_path: `${name}/${n}.ts` });
    await call('check_locks', { file_paths: [`${name}/${n}.ts`] });
  }
  await place.settled(before + 2 * count);
}

/** A log with a part that is a hundred days old and a part that is new, all of it sealed. */
export async function oldAndNew(place: Place, old: number, recent: number): Promise<void> {
  place.ago_ms = 100 * DAY_MS;
  await work(place, old, 'old');
  await place.age(100);
  await place.seal();
  place.ago_ms = 0;
  await work(place, recent, 'new');
  await place.seal();
}
