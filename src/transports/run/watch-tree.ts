import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';

export interface TreeWatch {
  stop(): void;
}

export interface TreeListener {
  /** Of these folders, those that need no look inside. */
  leaveOut(folders: readonly string[]): Promise<ReadonlySet<string>>;
  changed(path: string): void;
  /** The system gives no more watches: what changes from now on is not heard of. */
  failed(why: string): void;
}

const FOLDERS_MAX = 50_000;
const GIT = '.git';

/** Resolves when everything is watched: what changes after that is heard of. */
export async function watchTree(root: string, listener: TreeListener): Promise<TreeWatch> {
  return process.platform === 'linux' ? await watchFolders(root, listener) : watchAll(root, listener);
}

/** macOS and Windows watch a whole tree by themselves. */
export function watchAll(root: string, listener: TreeListener): TreeWatch {
  const watcher = watch(root, { recursive: true, persistent: false }, (_event, name) => {
    if (name !== null && !name.split(/[\\/]/).includes(GIT)) listener.changed(join(root, name));
  });
  watcher.on('error', ({ message }) => listener.failed(message));
  return { stop: () => watcher.close() };
}

/** Linux watches folder by folder; Node would do that for every single file, ignored ones too. */
async function watchFolders(root: string, listener: TreeListener): Promise<TreeWatch> {
  const folders = new FolderWatches(listener);
  await folders.add(root, false);
  return folders;
}

class FolderWatches implements TreeWatch {
  readonly #listener: TreeListener;
  readonly #watchers = new Map<string, FSWatcher>();
  #stopped = false;

  constructor(listener: TreeListener) {
    this.#listener = listener;
  }

  /** With all below it, level by level; of a folder that has just appeared all files are new. */
  async add(top: string, isNew: boolean): Promise<void> {
    let level = [top];
    while (level.length > 0 && !this.#stopped) {
      const below: string[] = [];
      for (const folder of level) if (this.#watch(folder)) below.push(...(await this.#list(folder, isNew)));
      const leftOut = below.length === 0 ? new Set<string>() : await this.#listener.leaveOut(below);
      level = below.filter((folder) => !leftOut.has(folder));
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Before it is listed, so that nothing comes in between. */
  #watch(folder: string): boolean {
    if (this.#stopped || this.#watchers.has(folder)) return false;
    try {
      if (this.#watchers.size >= FOLDERS_MAX) throw new Error(`more than ${FOLDERS_MAX} folders`);
      const watcher = watch(folder, { persistent: false }, (event, name) => this.#heard(folder, event, name));
      watcher.on('error', () => this.#forget(folder));
      this.#watchers.set(folder, watcher);
      return true;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // It was there a moment ago, or can not be read.
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false;
      this.#listener.failed(message);
      this.stop();
      return false;
    }
  }

  async #list(folder: string, isNew: boolean): Promise<string[]> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== GIT);
    if (isNew)
      for (const entry of entries) if (!entry.isDirectory()) this.#listener.changed(join(folder, entry.name));
    return folders.map(({ name }) => join(folder, name));
  }

  #heard(folder: string, event: string, name: string | null): void {
    if (name === null || name === GIT || this.#stopped) return;
    const path = join(folder, name);
    // A folder that is itself gone speaks of itself once more.
    if (name === basename(folder) && !this.#watchers.has(folder)) return;
    this.#listener.changed(path);
    if (event === 'rename') void this.#appeared(path);
  }

  async #appeared(path: string): Promise<void> {
    // Another folder may have the name by now: the old watch hears nothing of it.
    this.#forget(path);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true) return;
    const leftOut = await this.#listener.leaveOut([path]);
    if (!leftOut.has(path)) await this.add(path, true);
  }

  #forget(path: string): void {
    if (!this.#watchers.has(path)) return;
    for (const [folder, watcher] of this.#watchers)
      if (folder === path || folder.startsWith(`${path}/`)) {
        watcher.close();
        this.#watchers.delete(folder);
      }
  }
}
