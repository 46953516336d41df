import { lstat } from 'node:fs/promises';
import { type GitCall, git, namesIn } from '../../child-process/git.ts';
import type { Workspace } from '../../kernel/workspace.ts';
import { differingFiles } from '../shared/differing-files.ts';

/** More than these, and asking for everything is quicker than naming them. */
const NAMED_MAX = 200;

/** Which files of a work tree differ from what is committed, and since when: what git ignores does not count. */
export class ChangedFiles {
  #call: GitCall | undefined;
  readonly #seen = new Map<string, string>();

  constructor({ root, gitCommonDir }: Workspace, env: NodeJS.ProcessEnv) {
    this.#call = gitCommonDir === undefined ? undefined : { cwd: root, env };
  }

  /**
   * What differs already does not count. A git that will not answer here, as it is not installed or takes the folder for another
   * user's, leaves no file unguarded: from then on every file counts, as without git. Answers why.
   */
  async begin(): Promise<string | undefined> {
    try {
      await this.look();
      return undefined;
    } catch (error) {
      this.#call = undefined;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Without git there is nothing to compare the whole tree with. */
  get knowsAll(): boolean {
    return this.#call !== undefined;
  }

  /** Of these (absolute) paths, or of the whole tree: those that have changed since they were last looked at. */
  async look(paths?: ReadonlySet<string>): Promise<string[]> {
    const differing = await this.#differing(paths);
    const fresh: string[] = [];
    for (const [path, status] of differing) {
      const stamp = `${status} ${await stampOf(path)}`;
      if (this.#seen.get(path) !== stamp) fresh.push(path);
      this.#seen.set(path, stamp);
    }
    return fresh;
  }

  async leaveOut(folders: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#call === undefined) return new Set();
    const input = folders.map((folder) => `${folder}\0`).join('');
    const ignored = git(['check-ignore', '-z', '--stdin'], { ...this.#call, input, fine: [0, 1] });
    return new Set(namesIn(await ignored.catch(() => '')));
  }

  async #differing(paths: ReadonlySet<string> | undefined): Promise<Map<string, string>> {
    if (this.#call === undefined) return await existing(paths ?? new Set());
    const named = paths !== undefined && paths.size <= NAMED_MAX ? [...paths] : [];
    const found = await differingFiles(this.#call, { named });
    // A pathspec also stands for what is below it.
    return paths === undefined ? found : new Map([...found].filter(([path]) => paths.has(path)));
  }
}

async function existing(paths: ReadonlySet<string>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const path of paths)
    if ((await lstat(path).catch(() => undefined))?.isFile() === true) found.set(path, '');
  return found;
}

async function stampOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? 'gone' : `${found.mtimeNs} ${found.ctimeNs} ${found.size} ${found.ino}`;
}
