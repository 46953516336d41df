import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { open } from '../../../index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Coxswain } from '../../../runtime/coxswain.ts';
import { Actor } from './cast.ts';

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# A small shop\n',
  'src/router.ts': 'export const routes = ["/cart", "/prices"];\n',
  'src/cart.ts': 'export const cart = [];\n',
  'src/prices.ts': 'export const prices = { tea: 3 };\n',
  // The minimum that makes a folder a repository, without running git.
  '.git/HEAD': 'ref: refs/heads/main\n',
  '.git/config': '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
  '.git/objects/info/packs': '',
  '.git/refs/heads/.keep': '',
};

export interface Pace {
  /** Pause between two lines, so that a person can follow. */
  readonly line_ms: number;
  /** How often agents send a heartbeat, and how long they may be silent. */
  readonly heartbeat_ms: number;
  readonly stale_ms: number;
}

/** The user pressed Ctrl-C. */
export class Stopped extends Error {}

/**
 * Where the demo runs: its own folder, store and processes. All of them are removed afterwards, however it
 * ends.
 */
export class Stage {
  readonly folder: string;
  readonly store: string;
  readonly project = 'demo';
  readonly pace: Pace;
  readonly #keep: boolean;
  readonly #signal: AbortSignal;
  readonly #write: (text: string) => Promise<void>;
  readonly #env: NodeJS.ProcessEnv;
  readonly #actors: Actor[] = [];
  #coxswain: Coxswain | undefined;

  constructor(
    pace: Pace,
    keep: boolean,
    env: NodeJS.ProcessEnv,
    signal: AbortSignal,
    write: (text: string) => Promise<void>,
  ) {
    this.pace = pace;
    this.#keep = keep;
    this.#signal = signal;
    this.#write = write;
    // Nothing of the user's own store, identity or team may reach the demo's agents.
    const foreign = /^(COX_|GIT_|AGENT_|SESSION_ID$|NODE_OPTIONS$|NODE_TEST)/;
    this.#env = Object.fromEntries(Object.entries(env).filter(([name]) => !foreign.test(name)));
    this.folder = mkdtempSync(join(tmpdir(), 'cox-demo-'));
    process.on('exit', this.#vanish);
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
    this.store = `sqlite:${join(this.folder, '.git', 'coxswain', 'cox.db')}`;
  }

  /** The store as a person who looks on sees it. */
  async coxswain(): Promise<Coxswain> {
    const { store, project, folder, pace } = this;
    this.#coxswain ??= await open({ store, project, cwd: folder, presence: { stale_ms: pace.stale_ms } });
    return this.#coxswain;
  }

  async enter(agent_id: string, session_id = agent_id): Promise<Actor> {
    const { store, project, folder: cwd, pace } = this;
    const presence = { touch_ms: pace.heartbeat_ms, stale_ms: pace.stale_ms };
    const part = { agent_id, session_id, store, project, cwd, presence, heartbeat_ms: pace.heartbeat_ms };
    const actor = new Actor(part, this.#env);
    this.#actors.push(actor);
    await this.until(actor.ready());
    return actor;
  }

  async say(text: string): Promise<void> {
    await this.#write(`${text}\n`);
    const { clock } = await this.coxswain();
    await clock.sleep(this.pace.line_ms, this.#signal).catch(() => {});
    this.#check();
  }

  /** Ends at once when the demo is stopped. */
  async until<T>(step: Promise<T>): Promise<T> {
    step.catch(() => {});
    const stopped = Promise.withResolvers<never>();
    const stop = () => stopped.reject(new Stopped());
    this.#signal.addEventListener('abort', stop);
    try {
      this.#check();
      return await Promise.race([step, stopped.promise]);
    } finally {
      this.#signal.removeEventListener('abort', stop);
    }
  }

  async ask(actor: Actor, operation: string, input: JsonObject = {}): Promise<JsonObject> {
    return await this.until(actor.ask(operation, input));
  }

  /** A condition the story relies on. The processes are real, so it may turn out otherwise. */
  expect(answer: JsonObject, success: boolean): JsonObject {
    if (answer.success !== success) throw new Error(`the story went another way: ${JSON.stringify(answer)}`);
    return answer;
  }

  #check(): void {
    if (this.#signal.aborted) throw new Stopped();
  }

  async clear(): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor.kill()));
    await this.#coxswain?.close();
    this.#vanish();
    process.removeListener('exit', this.#vanish);
  }

  /** Also runs when the process crashes midway; then there is no time to wait for the agents to end. */
  readonly #vanish = (): void => {
    for (const { child } of this.#actors) child.kill('SIGKILL');
    if (!this.#keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
