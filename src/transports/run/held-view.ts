import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { foldersAbove, mountList } from '../../child-process/mount-list.ts';
import {
  type Confinement,
  ReadOnlyView,
  type ViewOf,
  viewAsShellText,
  withReadOnlyView,
} from '../../child-process/read-only-view.ts';
import { inSandbox } from '../../child-process/sandbox-view.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { type HeldPaths, heldPaths } from './held-paths.ts';
import { ReplacedFiles } from './replaced-files.ts';

/** A lock may also become free by the death of its holder, which no commit tells of. */
const LOOK_EVERY_MS = 5000;

/** Keeps what other agents hold read-only for one command, from its start to its end. */
export class HeldView {
  readonly #coxswain: HeldViewOf['coxswain'];
  readonly #agent_id: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #confinement: Confinement;
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-view-')));
  readonly #over = new AbortController();
  readonly #trouble: (message: string) => void;
  readonly #replaced = new ReplacedFiles(() => this.#stir());
  #stir: () => void = () => {};
  #held: HeldPaths;
  #view: ReadOnlyView | undefined;

  private constructor(at: HeldViewOf, held: HeldPaths) {
    this.#coxswain = at.coxswain;
    this.#agent_id = at.agent_id;
    this.#env = at.env;
    this.#confinement = at.confinement;
    this.#trouble = at.trouble;
    this.#held = held;
  }

  static async create(at: HeldViewOf): Promise<HeldView> {
    const held = await heldPaths(at.coxswain, at.agent_id, at.env);
    if (held.unfound.length > 0)
      at.trouble(`${held.unfound.join(', ')}: has hard links elsewhere, by which it can still be written.`);
    return new HeldView(at, held);
  }

  /** What to start instead of the command. */
  around(command: readonly string[], { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): string[] {
    if (process.platform === 'darwin')
      return inSandbox(
        command,
        [...this.#held.paths].map((path) => ({ path, isFolder: statSync(path).isDirectory() })),
      );
    return withReadOnlyView(command, this.#listed({ cwd, env }));
  }

  /** The same for a shell that was started by another program, and replaces itself by the command. */
  asShellText(
    confinements: readonly Confinement[],
    where: { cwd: string; env: NodeJS.ProcessEnv },
    handles: { readonly input: string; readonly output: string },
  ): string {
    return viewAsShellText(this.#listed(where), confinements, handles);
  }

  #listed({ cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): ViewOf {
    const list = join(this.#folder, 'mounts');
    const { text, mounts } = mountList(this.#held.paths, this.#confinement !== 'user');
    writeFileSync(list, text, { mode: 0o600 });
    return { confinement: this.#confinement, list, mounts, cwd, env };
  }

  /** From now on it follows the locks. The sandbox of macOS stays as it was at the start. */
  follow(pid: number, input: Writable, output: Readable): void {
    if (process.platform === 'darwin') return;
    this.#view = new ReadOnlyView(pid, input, output, () =>
      this.#trouble(
        'What becomes held from now on is not read-only: the process that sees to it was killed.',
      ),
    );
    this.#followLocks().catch((error: unknown) => {
      if (!this.#over.signal.aborted) this.#trouble(`Locks are no longer followed: ${String(error)}`);
    });
  }

  close(): void {
    this.#over.abort();
    this.#replaced.close();
    this.#view?.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #followLocks(): Promise<void> {
    const { store, project } = this.#coxswain;
    const hints = store.watch(project, this.#over.signal)[Symbol.asyncIterator]();
    await this.#view?.ready;
    // Taken between the first look and now.
    await this.#look();
    let hint = hints.next();
    while (!this.#over.signal.aborted) {
      const waited = new AbortController();
      const pause = this.#coxswain.clock.sleep(this.#pause_ms(), waited.signal).catch(() => {});
      const stirred = new Promise<void>((resolve) => {
        this.#stir = resolve;
      });
      const news = [
        hint.then(() => 'commit'),
        pause.then(() => 'pause'),
        stirred.then(() => 'replaced'),
      ] as const;
      const what = await Promise.race(news);
      waited.abort();
      if (this.#over.signal.aborted) return;
      if (what === 'commit') hint = hints.next();
      // At once: until the store has answered, the new file is writable.
      if (what === 'replaced') await this.#mend();
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
    this.#replaced.watch(now.watched);
    for (const path of before) if (!now.paths.has(path)) await this.#view?.free(path);
    await this.#mend();
    const names = new Set(foldersAbove(now.paths));
    for (const name of foldersAbove(before)) if (!names.has(name)) await this.#view?.drop(name);
  }

  /** Mounts what is not mounted: it is held since a moment, or was replaced outside, which takes the mount from it. */
  async #mend(): Promise<void> {
    const mounted = this.#view?.mounted();
    if (mounted === undefined) return;
    const { paths } = this.#held;
    for (const name of foldersAbove(paths)) if (!mounted.names.has(name)) await this.#view?.keep(name);
    for (const path of [...paths].sort()) if (!mounted.held.has(path)) await this.#view?.hold(path);
  }
}

interface HeldViewOf {
  readonly coxswain: Pick<Coxswain, 'store' | 'project' | 'workspace' | 'clock'>;
  readonly agent_id: string;
  readonly env: NodeJS.ProcessEnv;
  readonly confinement: Confinement;
  trouble(message: string): void;
}
