import type pg from 'pg';
import { Watchers } from '../watchers.ts';
import { type Database, ignore, STEP_MS_MAX } from './database.ts';

const CHANNEL = 'coxswain';
const HINT_AFTER_MS = 50;
const POLL_MS = 1000;
const HINT = { name: 'cox_hint', text: 'SELECT coxswain.hint($1) AS r' };
const LAST_POSITION = {
  name: 'cox_last_position',
  text: "SELECT coalesce(pg_sequence_last_value('coxswain.log_position'), 0)::float8 AS r",
};

/**
 * Tells watchers that the log may have grown: at once for commits of this process; for other processes by
 * NOTIFY, which is sent outside the commits and at most every 50 ms. A hint may be lost, so a process with
 * watchers also polls once a second, however many there are.
 */
export class Watch {
  readonly #database: Database;
  readonly #watchers = new Watchers({
    begin: () => this.#start(),
    end: () => this.#stop(),
    // The process stays alive for a watcher that is waiting, but not for one that no caller is reading from.
    waits: (someone) => {
      if (someone) this.#pollTimer?.ref();
      else this.#pollTimer?.unref();
    },
  });
  readonly #grown = new Set<string>();
  #hintTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #listener: pg.Client | undefined;
  #listening = false;
  #position = -1;
  #moved = false;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  grown(projects: Iterable<string>): void {
    for (const project of projects) {
      this.#grown.add(project);
      this.#watchers.wake(project);
    }
    if (!this.#closed) this.#hintTimer ??= setTimeout(() => void this.sendHint(), HINT_AFTER_MS).unref();
  }

  async sendHint(): Promise<void> {
    clearTimeout(this.#hintTimer);
    this.#hintTimer = undefined;
    if (this.#grown.size === 0) return;
    const projects = [...this.#grown];
    this.#grown.clear();
    const deadline_ms = this.#database.clock.elapsed_ms() + STEP_MS_MAX;
    await this.#database.call(HINT, () => [projects], deadline_ms, false).catch(ignore);
  }

  watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    // A watcher that joins when listening has already begun may have missed something between its last read
    // and now.
    return this.#watchers.watch(project, signal, () => this.#listening);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#hintTimer);
    this.#watchers.close();
  }

  #start(): void {
    this.#pollTimer ??= setInterval(() => void this.#poll(), POLL_MS).unref();
    void this.#listen();
  }

  #stop(): void {
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
    const listener = this.#listener;
    // First, so that closing it is not taken for a broken connection.
    this.#listener = undefined;
    this.#listening = false;
    listener?.end().catch(ignore);
  }

  async #poll(): Promise<void> {
    void this.#listen();
    const deadline_ms = this.#database.clock.elapsed_ms() + STEP_MS_MAX;
    const position = await this.#database
      .call<number>(LAST_POSITION, () => [], deadline_ms)
      .catch(() => this.#position);
    const moved = position !== this.#position && this.#position >= 0;
    // A position is given out before its commit: a watcher that reads at once may read too early, so all are
    // woken once more.
    if (moved || this.#moved) this.#watchers.wake();
    this.#moved = moved;
    this.#position = position;
  }

  /**
   * A connection of its own. When it breaks, a new one is made at once or, if that fails, by the next poll.
   */
  async #listen(): Promise<void> {
    if (this.#listener !== undefined) return;
    const client = this.#database.createClient();
    this.#listener = client;
    const gone = () => {
      if (this.#listener !== client) return;
      const broken = this.#listening;
      this.#listener = undefined;
      this.#listening = false;
      if (broken) void this.#listen();
    };
    client.on('end', gone);
    client.on('error', gone);
    client.on('notification', ({ payload }) => this.#watchers.wake(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.#listener !== client) throw new Error('nobody watches any more');
      // While a watcher waits, the poll keeps the process alive. (@types/pg does not know `unref`.)
      (client as pg.Client & { unref(): void }).unref();
      this.#listening = true;
      // Notifications sent before the LISTEN were missed.
      this.#watchers.wake();
    } catch {
      gone();
      client.end().catch(ignore);
    }
  }
}
