import type { Clock } from '../../kernel/clock.ts';
import type { Coxswain } from '../../runtime/coxswain.ts';
import { storeFilesOf } from '../shared/store-files.ts';
import { ChangedFiles } from './run-changed-files.ts';
import { type TreeWatch, watchTree } from './watch-tree.ts';

/** A file that is written in pieces, or aside and renamed, is looked at once. */
const SETTLE_MS = 100;
/** Where the system gives no watches, git is asked so often. */
const POLL_MS = 2_000;

/** Tells what changes in a work tree, one batch after the other. */
export class Watching {
  readonly #files: ChangedFiles;
  readonly #clock: Clock;
  readonly #noticed: (paths: readonly string[]) => Promise<void>;
  readonly #stopping = new AbortController();
  /** Its own changes would be followed by a change of the store. */
  readonly #isStore: (path: string) => boolean;
  #pending = new Set<string>();
  #everything = false;
  #tree: TreeWatch | undefined;
  #turn: Promise<void> = Promise.resolve();
  #due = false;
  #unanswered: string | undefined;

  private constructor(
    files: ChangedFiles,
    { clock, store_url }: Coxswain,
    noticed: (paths: readonly string[]) => Promise<void>,
  ) {
    this.#files = files;
    this.#clock = clock;
    this.#noticed = noticed;
    this.#isStore = storeFilesOf(store_url);
  }

  /** Resolves when nothing that changes from then on is missed. */
  static async start(
    coxswain: Coxswain,
    env: NodeJS.ProcessEnv,
    noticed: (paths: readonly string[]) => Promise<void>,
    watch: typeof watchTree = watchTree,
  ): Promise<Watching> {
    const { workspace } = coxswain;
    const files = new ChangedFiles(workspace, env);
    const watching = new Watching(files, coxswain, noticed);
    watching.#unanswered = await files.begin();
    watching.#tree = await watch(workspace.root, {
      leaveOut: (folders) => files.leaveOut(folders),
      changed: (path) => watching.#heard(path),
      failed: () => watching.#poll(),
    });
    return watching;
  }

  /** Why git can't say what it ignores, and what had changed before. */
  get unanswered(): string | undefined {
    return this.#unanswered;
  }

  /** With what changed last. */
  async stop(): Promise<void> {
    this.#everything = true;
    this.#tree?.stop();
    this.#stopping.abort();
    await this.#turn;
    await this.#flush();
  }

  #heard(path: string): void {
    if (this.#isStore(path)) return;
    this.#pending.add(path);
    if (this.#due || this.#stopping.signal.aborted) return;
    this.#due = true;
    this.#turn = this.#turn.then(async () => {
      await this.#clock.sleep(SETTLE_MS, this.#stopping.signal).catch(() => {});
      this.#due = false;
      await this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const paths = this.#everything && this.#files.knowsAll ? undefined : this.#pending;
    this.#pending = new Set();
    const looked = await this.#files.look(paths).catch(() => {
      // A git that is busy or gone is asked again with the next change.
      for (const path of paths ?? []) this.#pending.add(path);
      return [];
    });
    const changed = looked.filter((path) => !this.#isStore(path));
    if (changed.length > 0) await this.#noticed(changed).catch(() => {});
  }

  #poll(): void {
    const round = async () => {
      while (!this.#stopping.signal.aborted) {
        await this.#clock.sleep(POLL_MS, this.#stopping.signal);
        this.#everything = true;
        await this.#flush();
      }
    };
    round().catch(() => {});
  }
}
