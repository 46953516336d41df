import { existsSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { Write } from '../../command-analysis/shell/shell-findings.ts';

/** It looks into 50 folders, and into none that git ignores, which is not known here. */
const FOLDERS_MAX = 2000;
const LEFT_OUT = new Set(['.git', 'node_modules']);

/**
 * The files that Gemini CLI may mean by a path. It takes an `@` for its own mark where nothing is called so, drops zeros and reads
 * `%20` as in an address; and an edit (`searches`) of what is not there goes to the one file in the folders below whose path ends
 * like that. Each spelling is guarded: which of them it takes is a matter of its version.
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

/** Breadth first; where there are too many folders to look into, a pattern stands for what may be in the others. */
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
