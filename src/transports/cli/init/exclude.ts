import { spawnSync } from 'node:child_process';
import { isAbsolute, join, relative, sep } from 'node:path';
import { readBytes } from './changes.ts';
import type { Manifest } from './manifest.ts';
import type { WantedFile } from './setup-plan.ts';

const BEGIN = '# coxswain: begin (cox init; files with paths of this machine)';
const END = '# coxswain: end';

/**
 * Files that `cox init` creates in the repository contain paths of this machine. Git's local exclude list
 * keeps them out of commits without a change to any .gitignore.
 */
export function excludeFile(
  gitCommonDir: string,
  roots: readonly string[],
  { files }: Manifest,
): WantedFile | undefined {
  const made = files
    .filter(({ original, client }) => original === null && client !== undefined)
    .flatMap(({ path }) => within(path, roots) ?? []);
  if (made.length === 0) return undefined;
  const path = join(gitCommonDir, 'info', 'exclude');
  // A worktree that is missing now may come back.
  const there = (readBytes(path)?.toString('utf8') ?? '').split(BEGIN)[1]?.split(END)[0] ?? '';
  const known = there.split(/\r?\n/).filter((line) => line.startsWith('/'));
  const lines = [...new Set([...known, ...made.map((each) => `/${escaped(each)}`)])].sort();
  return { path, parts: [{ kind: 'block', begin: BEGIN, end: END, lines }], own: true };
}

/**
 * As git writes it, relative to the top of the work tree that contains the file. Work trees can be nested:
 * the innermost counts.
 */
function within(path: string, roots: readonly string[]): string | undefined {
  const inmost = roots.toSorted((a, b) => b.length - a.length);
  const paths = inmost.map((root) => relative(root, path).split(sep).join('/'));
  return paths.find((each) => each !== '' && !each.startsWith('../') && !isAbsolute(each));
}

function escaped(path: string): string {
  return path.replaceAll(/[\\*?[\]]/g, '\\$&');
}

/** The tracked ones among these paths: an exclude entry does not keep a tracked file out of a commit. */
export function trackedFiles(roots: readonly string[], paths: readonly string[]): string[] {
  const trees = Map.groupBy(paths, (path) =>
    roots
      .filter((root) => path.startsWith(`${root}/`))
      .sort()
      .at(-1),
  );
  const found = [...trees].flatMap(([root, inside]) => (root === undefined ? [] : trackedIn(root, inside)));
  return [...new Set(found)];
}

function trackedIn(root: string, paths: readonly string[]): string[] {
  const { status, stdout } = spawnSync('git', ['-C', root, 'ls-files', '-z', '--', ...paths], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : [];
}
