import type { FileStat, FileSystem } from './file-system.ts';

/**
 * How long a folder that was seen is assumed to still be a folder. To put a link in its place, a process has
 * to move the folder away first and then ask for a path through the link in another call; no process does
 * that within so short a time. A path that is missing or no folder is looked at each time: a new link counts
 * at once.
 */
const KNOWN_MS = 3;

/**
 * The same file system, faster for many paths: a path's folders are mostly those of the path before, and each
 * stat costs microseconds.
 */
export function knowingFolders(fs: FileSystem, nowMs: () => number): FileSystem {
  const known = new Map<string, FileStat>();
  let since_ms = Number.NEGATIVE_INFINITY;
  return {
    ...fs,
    lstat(path) {
      const now_ms = nowMs();
      const age_ms = now_ms - since_ms;
      if (!(age_ms >= 0 && age_ms < KNOWN_MS)) {
        known.clear();
        since_ms = now_ms;
      }
      const folder = known.get(path);
      if (folder !== undefined) return folder;
      const found = fs.lstat(path);
      if (found?.isDirectory() === true) known.set(path, found);
      return found;
    },
  };
}
