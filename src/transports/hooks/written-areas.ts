import { dirname, normalize } from 'node:path';
import { areaName } from '../../kernel/area.ts';
import { hasAlternatives, hasWildcard } from '../../kernel/glob.ts';
import {
  normaliseArea,
  normalisePath,
  PATH_INPUT_CHARS_MAX,
  type PathRefusalCode,
} from '../../kernel/path.ts';
import type { Workspace } from '../../kernel/workspace.ts';
import type { Touched } from './touched.ts';

type Write = Touched['writes'][number];

/**
 * The lockable ones, in normal form, each once. Paths outside the repository or in git's own folder can't be
 * locked.
 */
export function lockable(writes: readonly Write[], workspace: Workspace, cwd: string): string[] {
  const names = writes.flatMap((write) => {
    const isLiteral = write.how === 'file' && hasWildcard(write.path);
    return readings(write, workspace, cwd).map((path) => nameOf(path, isLiteral, workspace));
  });
  return [...new Set(names.filter((name) => name !== undefined))];
}

/**
 * Absolute, so that no file is taken for a logical key. The system applies `..` after symlinks, but some
 * clients normalise a path before they open it, and then it means another file. Both are guarded.
 */
function readings({ path, how }: Write, workspace: Workspace, cwd: string): string[] {
  const isAbsolute = path.startsWith('/') || (workspace.fs.windows && /^[A-Za-z]:[\\/]/.test(path));
  const full = `${isAbsolute ? path : `${cwd}/${path}`}${how === 'tree' ? '/' : ''}`;
  // No program can open a path this long as it stands.
  if (full.length > PATH_INPUT_CHARS_MAX) return [normalize(full)];
  return /[\\/]\.\.(?:[\\/]|$)/.test(full) ? [full, normalize(full)] : [full];
}

function nameOf(path: string, isLiteral: boolean, workspace: Workspace): string | undefined {
  // A tool that writes one file means a star in its name literally.
  if (isLiteral) {
    const normal = normalisePath(path, workspace);
    if (normal.ok && !hasAlternatives(normal.key)) return normal.key;
    return around(path, normal.ok ? 'path_invalid' : normal.code, workspace);
  }
  const normal = normaliseArea(path, workspace);
  return normal.ok ? areaName(normal.area) : around(path, normal.code, workspace);
}

// Braces beside a wildcard can't be queried either. Here they are part of a name, because the shell's own are
// already expanded.
const UNNAMEABLE = '[{\\p{Cc}\\p{Cs}\\u2028\\u2029]';

/**
 * A name that can't be locked may be in a folder that another agent holds: the narrowest area around it
 * stands for it.
 */
function around(path: string, code: PathRefusalCode, workspace: Workspace): string | undefined {
  if (code === 'path_invalid') {
    // Built only here: it takes a fraction of a millisecond, which no ordinary edit should wait for.
    const pattern = path.replace(new RegExp(UNNAMEABLE, 'gu'), '?');
    const normal = normaliseArea(pattern, workspace);
    if (normal.ok) return areaName(normal.area);
    return pattern === path ? undefined : around(pattern, normal.code, workspace);
  }
  if (code !== 'path_too_long') return undefined;
  const folder = dirname(path);
  if (folder === path) return undefined;
  const normal = normaliseArea(`${folder}/`, workspace);
  return normal.ok ? areaName(normal.area) : around(folder, normal.code, workspace);
}
