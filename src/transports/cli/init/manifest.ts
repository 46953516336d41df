import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256 } from '../../../kernel/hash.ts';
import { canonical } from '../../../kernel/json.ts';
import type { Client } from '../../shared/agent-clients.ts';
import { applyChanges, ChangedMeanwhile, makeFolders, readBytes, removeFolders } from './changes.ts';
import type { Part } from './setup-parts.ts';
import { Unusable } from './unusable.ts';

/** What `cox init` did to one file. */
export interface WrittenFile {
  readonly path: string;
  /** The client that reads it; undefined if all of them do. */
  readonly client?: Client | undefined;
  /** The content before the first `cox init`, in base64; null if the file did not exist. */
  readonly original: string | null;
  readonly mode?: number | undefined;
  /**
   * Hashes of what was written, newest last. As long as the file matches one of them, it has not been edited
   * since.
   */
  readonly written: readonly string[];
  readonly parts: readonly Part[];
}

/**
 * Kept outside the repository, in the user's state folder, because the originals of configuration files are
 * private. Written before the files themselves, so that whatever a killed `cox init` left behind can be
 * undone.
 */
export interface Manifest {
  readonly version: 1;
  /** The repository's git folder; without git, the folder itself; or `user`. */
  readonly root: string;
  readonly files: readonly WrittenFile[];
  /** Folders that did not exist before, including the manifest's own. */
  readonly folders: readonly string[];
  /** The store's location, if `--store` was given. */
  readonly store?: string | undefined;
}

const VERSION = 1;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** One per repository, and one for clients wired for the user everywhere. */
export function manifestPath(state: string, key: string | 'user'): string {
  return join(state, 'init', `${key === 'user' ? 'user' : sha256(key).slice(0, 24)}.json`);
}

/** The other setups on this machine. A record that can't be read is skipped here. */
export function otherManifests(path: string): Manifest[] {
  let names: string[];
  try {
    names = readdirSync(dirname(path));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.json') && name !== basename(path))
    .flatMap((name) => {
      try {
        return readManifest(join(dirname(path), name)) ?? [];
      } catch {
        return [];
      }
    });
}

export function readManifest(path: string): Manifest | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    const manifest = JSON.parse(text) as Manifest;
    if (manifest.version === VERSION && Array.isArray(manifest.files) && Array.isArray(manifest.folders))
      return manifest;
  } catch {}
  throw new Unusable(
    path,
    undefined,
    'is not what this version wrote',
    'Remove it, and take out by hand what `cox doctor` shows.',
  );
}

/** Only one process at a time changes a manifest and its files. */
export interface HeldManifest {
  write(manifest: Manifest): void;
  remove(): void;
}

/**
 * Runs while holding the manifest's lock. The manifest must still be the one the plan was made from. If
 * another `cox init` ran meanwhile, this one would record that one's changes as the original.
 */
export function withManifest(
  path: string,
  planned: Manifest | undefined,
  use: (held: HeldManifest) => void,
): void {
  const made = makeFolders(dirname(path), FOLDER_MODE);
  let folders: readonly string[] = made;
  try {
    lock(`${path}.lock`);
    try {
      if (canonical(readManifest(path)) !== canonical(planned)) throw new ChangedMeanwhile(path);
      use({
        write(manifest) {
          const whole = { ...manifest, folders: [...new Set([...manifest.folders, ...made])] };
          const after = Buffer.from(`${JSON.stringify(whole)}\n`);
          applyChanges([{ path, before: readBytes(path), after, mode: FILE_MODE }]);
          folders = [];
        },
        remove() {
          rmSync(path, { force: true });
          folders = [...made, ...(planned?.folders ?? [])];
        },
      });
    } finally {
      rmSync(`${path}.lock`, { force: true });
    }
  } finally {
    removeFolders(folders);
  }
}

/** Held for milliseconds. A lock whose process no longer exists was left behind. */
function lock(path: string): void {
  for (const isLast of [false, true]) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: FILE_MODE });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another `cox init --undo` has just removed the folder.
      if (code === 'ENOENT') throw new ChangedMeanwhile(path);
      if (code !== 'EEXIST') throw error;
    }
    if (isLast || isAlive(Number(readBytes(path)))) throw new ChangedMeanwhile(path);
    rmSync(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
