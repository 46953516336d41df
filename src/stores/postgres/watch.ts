import type pg from 'pg';
import { type Database, ignore, STEP_MS_MAX } from './database.ts';

const CHANNEL = 'coxswain';
const HINT_AFTER_MS = 50;
const POLL_MS = 1000;
const HINT = { name: 'cox_hint', text: 'SELECT coxswain.hint($1) AS r' };
const LAST_POSITION = {
  name: 'cox_last_position',
  text: "SELECT coalesce(pg_sequence_last_value('coxswain.log_position'), 0)::float8 AS r",
};

interface Watcher {
  readonly project: string;
  /** The log may have grown since it last looked. */
  stale: boolean;
  wake: () => void;
}

/**
 * Tells watchers that the log may have grown: in this process at once, in others by NOTIFY, sent outside the commits and
 * at most every 50 ms. A hint may be lost, so a watching process also looks once a second.
 */
export class Watch {
  readonly #database: Database;
  readonly #watchers = new Set<Watcher>();
  readonly #grown = new Set<string>();
  #hintTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #listener: pg.Client | undefined;
  #position = -1;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  grown(projects: Iterable<string>): void {
    for (const project of projects) {
      this.#grown.add(project);
      this.#wake(project);
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

  async *watch(project: string, signal: AbortSignal): AsyncIterable<void> {
    const watcher: Watcher = { project, stale: false, wake: ignore };
    const abort = () => watcher.wake();
    signal.addEventListener('abort', abort);
    this.#watchers.add(watcher);
    this.#start();
    try {
      while (!signal.aborted && !this.#closed) {
        if (!watcher.stale)
          await new Promise<void>((resolve) => {
            watcher.wake = resolve;
          });
        if (signal.aborted || this.#closed) return;
        watcher.stale = false;
        yield;
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stop();
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#hintTimer);
    this.#stop();
    for (const watcher of this.#watchers) watcher.wake();
  }

  #wake(project: string | undefined): void {
    for (const watcher of this.#watchers) {
      if (project !== undefined && watcher.project !== project) continue;
      watcher.stale = true;
      watcher.wake();
    }
  }

  #start(): void {
    this.#pollTimer ??= setInterval(() => void this.#poll(), POLL_MS);
    void this.#listen();
  }

  #stop(): void {
    clearInterval(this.#pollTimer);
    this.#pollTimer = undefined;
    this.#listener?.end().catch(ignore);
    this.#listener = undefined;
  }

  async #poll(): Promise<void> {
    void this.#listen();
    const deadline_ms = this.#database.clock.elapsed_ms() + STEP_MS_MAX;
    const position = await this.#database
      .call<number>(LAST_POSITION, () => [], deadline_ms)
      .catch(() => this.#position);
    if (position !== this.#position && this.#position >= 0) this.#wake(undefined);
    this.#position = position;
  }

  /** A connection of its own; when it breaks, the next poll makes a new one. */
  async #listen(): Promise<void> {
    if (this.#listener !== undefined) return;
    const client = this.#database.createClient();
    this.#listener = client;
    const gone = () => {
      if (this.#listener === client) this.#listener = undefined;
    };
    client.on('end', gone);
    client.on('error', gone);
    client.on('notification', ({ payload }) => this.#wake(payload));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      // What came before the LISTEN was heard by nobody.
      this.#wake(undefined);
    } catch {
      gone();
      client.end().catch(ignore);
    }
  }
}
