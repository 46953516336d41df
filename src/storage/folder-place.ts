import { lstat, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../kernel/hash.ts';
import { limits } from '../kernel/limits.ts';
import { agentFolder } from './agent-folder.ts';
import { makeFolder, syncFolder, writeLasting } from './lasting.ts';
import { publishFile, removeAsides } from './publish-file.ts';
import { realPath, unlessMissing } from './real-path.ts';
import type {
  AssetPlace,
  Contents,
  Draft,
  Drafts,
  Publication,
  Published,
  Staging,
} from './storage-place.ts';

export interface FolderPlaceOptions {
  /** The folder that contains the agents' folders: the workspace folder of the fleet. */
  readonly fleet: string;
  /** The top of the repository, where the assets are. */
  readonly root: string;
  /** With `{agent_id}`, relative to `fleet`. */
  readonly drafts_path_template: string;
  readonly scratch_path_template: string;
}

const PLAIN_MODE = 0o644;
const EXECUTABLE_MODE = 0o755;

/** Drafts and assets in folders of this machine. */
export class FolderPlace implements AssetPlace {
  readonly #options: FolderPlaceOptions;

  constructor(options: FolderPlaceOptions) {
    this.#options = options;
  }

  #draftsPath(agent_id: string): string {
    return filledIn(this.#options.drafts_path_template, agent_id);
  }

  draftsOf(agent_id: string): string {
    return join(this.#options.fleet, this.#draftsPath(agent_id));
  }

  scratchOf(agent_id: string): string {
    return join(this.#options.fleet, filledIn(this.#options.scratch_path_template, agent_id));
  }

  async drafts(agent_id: string): Promise<Drafts> {
    const folder = await realPath(this.#options.fleet, this.#draftsPath(agent_id));
    const drafts: Draft[] = [];
    const truncated = await collect(folder, '', 0, drafts);
    drafts.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { drafts, truncated };
  }

  async readDraft(agent_id: string, path: string): Promise<Contents | undefined> {
    const file = await realPath(this.#options.fleet, `${this.#draftsPath(agent_id)}/${path}`);
    const found = await unlessMissing(lstat(file));
    if (found === undefined || !found.isFile()) return undefined;
    const bytes = await unlessMissing(readFile(file));
    return bytes === undefined ? undefined : { bytes, executable: (found.mode & 0o111) !== 0 };
  }

  async discardDrafts(agent_id: string, paths: readonly string[]): Promise<string[]> {
    const drafts = this.#draftsPath(agent_id);
    const removed: string[] = [];
    for (const path of paths) {
      // The link itself may be removed; it is not followed.
      const file = join(await realPath(this.#options.fleet, drafts), ...path.split('/'));
      if (path.includes('/')) await realPath(this.#options.fleet, `${drafts}/${dirname(path)}`);
      if ((await unlessMissing(lstat(file))) === undefined) continue;
      await rm(file);
      removed.push(path);
      await removeEmpty(dirname(file), this.draftsOf(agent_id));
    }
    return removed;
  }

  async readAsset(path: string): Promise<Uint8Array | undefined> {
    const file = await realPath(this.#options.root, path);
    return await unlessMissing(readFile(file));
  }

  #staged(agent_id: string, ...names: readonly string[]): string {
    return ['agents', agentFolder(agent_id), 'promoting', ...names].join('/');
  }

  async stage({ agent_id, promotion_id }: Staging, contents: readonly Contents[]): Promise<void> {
    const folder = await realPath(this.#options.fleet, this.#staged(agent_id, promotion_id));
    await makeFolder(folder);
    // Named by their hashes: the log knows no other name for them.
    for (const { bytes, executable } of contents)
      await writeLasting(join(folder, sha256(bytes)), bytes, executable ? EXECUTABLE_MODE : PLAIN_MODE);
    await syncFolder(folder);
  }

  async isStaged({ agent_id, promotion_id }: Staging): Promise<boolean> {
    const folder = await realPath(this.#options.fleet, this.#staged(agent_id, promotion_id));
    return (await unlessMissing(stat(folder)))?.isDirectory() === true;
  }

  async publish({ agent_id, promotion_id }: Staging, file: Publication): Promise<Published> {
    const staged = this.#staged(agent_id, promotion_id, file.draft_hash);
    return await publishFile({
      target: () => realPath(this.#options.root, file.path),
      staged: await realPath(this.#options.fleet, staged),
      tag: promotion_id,
      ...file,
    });
  }

  async settle({ promotion_id }: Staging, paths: readonly string[]): Promise<void> {
    for (const path of paths) await removeAsides(await realPath(this.#options.root, path), promotion_id);
  }

  async unstage({ agent_id, promotion_id }: Staging): Promise<void> {
    const folder = await realPath(this.#options.fleet, this.#staged(agent_id, promotion_id));
    await rm(folder, { recursive: true, force: true });
    await removeEmpty(dirname(folder), dirname(dirname(folder)));
  }

  async stagedBefore(agent_id: string, before_ms: number): Promise<string[]> {
    const folder = await realPath(this.#options.fleet, this.#staged(agent_id));
    const old: string[] = [];
    for (const name of (await unlessMissing(readdir(folder))) ?? []) {
      const found = await unlessMissing(lstat(join(folder, name)));
      if (found?.isDirectory() === true && found.mtimeMs < before_ms) old.push(name);
    }
    return old;
  }
}

function filledIn(template: string, agent_id: string): string {
  const folder = agentFolder(agent_id);
  const names = template.replaceAll('{agent_id}', () => folder).split('/');
  return names.filter((name) => name !== '' && name !== '.').join('/');
}

/** True: there are more than fit. */
async function collect(folder: string, above: string, depth: number, into: Draft[]): Promise<boolean> {
  for (const name of ((await unlessMissing(readdir(folder))) ?? []).sort()) {
    if (into.length >= limits.drafts_listed_max) return true;
    const path = `${above}${name}`;
    const found = await unlessMissing(lstat(join(folder, name)));
    // A name that is not UTF-8 can't be asked for; it is reported rather than silently skipped.
    if (found === undefined && name.includes('\u{FFFD}'))
      into.push({ path, bytes: 0, problem: 'a name that is no UTF-8' });
    if (found === undefined) continue;
    if (found.isDirectory() && depth < limits.draft_depth_max) {
      if (await collect(join(folder, name), `${path}/`, depth + 1, into)) return true;
    } else into.push({ path, bytes: found.size, problem: problemOf(found) });
  }
  return false;
}

function problemOf(found: {
  isFile(): boolean;
  isSymbolicLink(): boolean;
  size: number;
}): string | undefined {
  if (found.isSymbolicLink()) return 'a symlink';
  if (!found.isFile()) return 'no plain file';
  return found.size > limits.draft_bytes_max ? `larger than ${limits.draft_bytes_max} bytes` : undefined;
}

/** Removes the folder and its parents as long as they are empty, up to the one that stays. */
async function removeEmpty(folder: string, stays: string): Promise<void> {
  for (let at = folder; at.length > stays.length; at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}
