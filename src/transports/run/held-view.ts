import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { mountLine, ReadOnlyView, withReadOnlyView } from '../../child-process/read-only-view.ts';
import { inSandbox } from '../../child-process/sandbox-view.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { type HeldPaths, heldPaths } from './held-paths.ts';

/** A lock may also become free by the death of its holder, which no commit tells of. */
const LOOK_EVERY_MS = 5000;

/** Keeps what other agents hold read-only for one command, from its start to its end. */
export class HeldView {
  readonly #coxswain: Coxswain;
  readonly #agent_id: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #folder: string;
  readonly #over = new AbortController();
  readonly #trouble: (message: string) => void;
  #held: HeldPaths;
  #view: ReadOnlyView | undefined;

  private constructor(
    coxswain: Coxswain,
    agent_id: string,
    env: NodeJS.ProcessEnv,
    held: HeldPaths,
    trouble: (message: string) => void,
  ) {
    this.#coxswain = coxswain;
    this.#agent_id = agent_id;
    this.#env = env;
    this.#held = held;
    this.#trouble = trouble;
    this.#folder = mkdtempSync(join(tmpdir(), 'cox-view-'));
  }

  static async create(
    coxswain: Coxswain,
    agent_id: string,
    env: NodeJS.ProcessEnv,
    trouble: (message: string) => void,
  ): Promise<HeldView> {
    const held = await heldPaths(coxswain, agent_id, env);
    return new HeldView(coxswain, agent_id, env, held, trouble);
  }

  /** What to start instead of the command. */
  around(command: readonly string[]): string[] {
    if (process.platform === 'darwin')
      return inSandbox(
        command,
        [...this.#held.paths].map((path) => ({ path, isFolder: statSync(path).isDirectory() })),
      );
    const list = join(this.#folder, 'mounts');
    writeFileSync(list, [...this.#held.paths].map(mountLine).join(''), { mode: 0o600 });
    return withReadOnlyView(command, list, this.#held.paths.size);
  }

  /** From now on it follows the locks. The sandbox of macOS stays as it was at the start. */
  follow(input: Writable, output: Readable): void {
    if (process.platform === 'darwin') return;
    this.#view = new ReadOnlyView(input, output);
    this.#followLocks().catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#trouble(`Locks are no longer followed: ${String(error)}`);
    });
  }

  close(): void {
    this.#over.abort();
    this.#view?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #followLocks(): Promise<void> {
    const { store, project } = this.#coxswain;
    const hints = store.watch(project, this.#over.signal)[Symbol.asyncIterator]();
    // Taken between the first look and now.
    await this.#look();
    let hint = hints.next();
    while (!this.#over.signal.aborted) {
      const waited = new AbortController();
      const pause = this.#coxswain.clock.sleep(this.#pause_ms(), waited.signal).catch(() => {});
      const isNews = await Promise.race([hint.then(() => true), pause.then(() => false)]);
      waited.abort();
      if (this.#over.signal.aborted) return;
      if (isNews) hint = hints.next();
      await this.#look();
    }
  }

  #pause_ms(): number {
    const left_ms = this.#held.until_ms - this.#coxswain.clock.now_ms() + 1;
    return Math.max(1, Math.min(LOOK_EVERY_MS, left_ms));
  }

  async #look(): Promise<void> {
    const before = this.#held.paths;
    // A store that is away changes nothing of what is known.
    const now = await heldPaths(this.#coxswain, this.#agent_id, this.#env).catch(() => undefined);
    if (now === undefined) return;
    this.#held = now;
    for (const path of now.paths) if (!before.has(path)) await this.#view?.hold(path);
    for (const path of before) if (!now.paths.has(path)) await this.#view?.free(path);
  }
}
