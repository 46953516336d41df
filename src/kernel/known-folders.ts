import type { FileStat, FileSystem } from './file-system.ts';

/**
 * For so long a folder that was seen is taken for a folder. Whoever puts a link in its place has to move it away first, and then asks for a
 * path through it by another call; within so short a time nobody has. What is no folder, or not there, is looked at each time: a link that has
 * just been made counts at once.
 */
const KNOWN_MS = 3;

/** The same file system for many paths at a time: a path's folders are mostly those of the path before, and each look costs microseconds. */
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
