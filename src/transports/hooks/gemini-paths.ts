import { existsSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { Write } from '../../command-analysis/shell/shell-findings.ts';

/** Gemini CLI searches 50 folders and skips those that git ignores, which we don't know here. */
const FOLDERS_MAX = 2000;
const LEFT_OUT = new Set(['.git', 'node_modules']);

/**
 * The files that Gemini CLI may mean by a path. It treats an `@` as its own mark if no file has that name,
 * drops zero bytes and decodes `%20` as in a URL. An edit (`searches`) of a missing file goes to the one file
 * below whose path ends like that. Every reading is guarded, because the choice depends on Gemini's version.
 */
export function geminiWrites(given: string, cwd: string, searches: boolean): Write[] {
  const path = given.replaceAll('\0', '');
  const meant = withoutMark(path, cwd);
  const paths = [path, meant, decoded(meant)];
  const isThere = paths.some((each) => existsSync(resolve(cwd, each)));
  const found = isThere || !searches || isAbsolute(meant) ? [] : endingLike(meant, cwd);
  const files = [...new Set(paths)].map((each): Write => ({ path: each, how: 'file' }));
  return [...files, ...found];
}

function withoutMark(path: string, cwd: string): string {
  if (!path.startsWith('@') || existsSync(resolve(cwd, path))) return path;
  const bare = path.slice(1).replace(/^[\\/]+/, '');
  const [folder = ''] = path.split(/[\\/]/);
  const isFolder = folder !== '@' && existsSync(resolve(cwd, folder));
  return bare === '' || isFolder ? path : bare;
}

function decoded(path: string): string {
  try {
    return path.includes('%') ? decodeURIComponent(path) : path;
  } catch {
    return path;
  }
}

/** Breadth first. If there are too many folders to search, a pattern stands for the rest. */
function endingLike(path: string, cwd: string): Write[] {
  const end = path.replaceAll('\\', '/');
  const name = basename(end);
  const found: Write[] = [];
  const folders = [cwd];
  for (let at = 0; at < folders.length; at += 1) {
    if (at === FOLDERS_MAX) return [...found, { path: `**/${name}`, how: 'glob' }];
    const folder = folders[at] as string;
    for (const entry of entriesOf(folder)) {
      const below = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) folders.push(below);
      else if (entry.isFile() && entry.name === name && below.endsWith(end))
        found.push({ path: below, how: 'file' });
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
