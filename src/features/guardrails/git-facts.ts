import { execFile } from 'node:child_process';
import type { ShellPlace } from '../../command-analysis/shell/parameters.ts';
import { globMatches, hasWildcard } from '../../kernel/glob.ts';
import type { Assessment } from './assess.ts';
import { pathsToAsk, type RepositoryFacts } from './excuse.ts';

const TIME_MS_MAX = 2000;
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;
const PATHS_MAX = 200;

/** They would lead git to another repository than the one in question. */
const MISLEADING =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|COMMON_DIR|CEILING_DIRECTORIES|NAMESPACE|PREFIX)$/;

function surroundings(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !MISLEADING.test(name)));
  return { ...env, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
}

/** What git answers; undefined if it fails, takes too long or prints too much. */
function ask(words: readonly string[], cwd: string, input = ''): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = execFile(
      'git',
      // A file system monitor is a program that the repository chooses.
      ['-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false', ...words],
      {
        cwd,
        env: surroundings(),
        timeout: TIME_MS_MAX,
        maxBuffer: OUTPUT_BYTES_MAX,
        encoding: 'utf8',
        windowsHide: true,
      },
      (error, stdout) => {
        // `check-ignore` exits with 1 for "none of them".
        const fine = error === null || (error.code === 1 && words[0] === 'check-ignore');
        resolve(fine ? stdout : undefined);
      },
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** A path that the pattern would match, for questions that take no patterns. */
function example(path: string): string {
  return path
    .replace(/(?:\/\*{1,2})+$/, '')
    .replaceAll('**/', '')
    .replace(/[*?]+/g, 'x');
}

const pathspec = (path: string): string => `:(top,${hasWildcard(path) ? 'glob' : 'literal'})${path}`;

const entries = (text: string): string[] => text.split('\0').filter((entry) => entry !== '');

/** Is one of the two paths the other one, or inside it? */
function touches(path: string, entry: string): boolean {
  const bare = entry.replace(/\/$/, '');
  if (hasWildcard(path)) return globMatches(path, bare) || globMatches(`${path}/**`, bare);
  return bare === path || bare.startsWith(`${path}/`) || path.startsWith(`${bare}/`);
}

/** The paths of `git status --porcelain -z`; in a rename, the old name follows. */
function changedPaths(status: string): string[] {
  const found: string[] = [];
  const parts = status.split('\0');
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    if (part.length < 4) continue;
    found.push(part.slice(3));
    if (/^[RC]|^.[RC]/.test(part)) {
      index += 1;
      found.push(parts[index] ?? '');
    }
  }
  return found;
}

/**
 * What git says about everything that a command would remove, from three questions in parallel. If git can't
 * be asked, nothing is excused by it.
 */
export async function gatherFacts(assessment: Assessment, place: ShellPlace): Promise<RepositoryFacts> {
  const paths = pathsToAsk(assessment, place).filter((path) => !path.includes('\0'));
  if (paths.length === 0 || paths.length > PATHS_MAX) return NO_FACTS;
  const root = place.root ?? place.cwd;
  const examples = paths.map(example);
  const specs = paths.map(pathspec);
  const [ignored, status, tracked] = await Promise.all([
    // Rules for folders only (`dist/`) don't match a path that does not exist, but do match paths inside it.
    ask(['check-ignore', '-z', '--stdin'], root, examples.flatMap((path) => [path, `${path}/x`]).join('\0')),
    ask(
      ['status', '--porcelain=v1', '-z', '--ignored=matching', '--untracked-files=all', '--', ...specs],
      root,
    ),
    ask(['ls-files', '-z', '--full-name', '--', ...specs], root),
  ]);
  const ignoredPaths = new Set(entries(ignored ?? ''));
  const changed = status === undefined ? undefined : changedPaths(status);
  const known = entries(tracked ?? '');
  return {
    // A file added despite an ignore rule is tracked: changes to it are work.
    isIgnored: (path) =>
      tracked !== undefined &&
      (ignoredPaths.has(example(path)) || ignoredPaths.has(`${example(path)}/x`)) &&
      !known.some((entry) => touches(path, entry)),
    isCommitted: (path) =>
      changed !== undefined &&
      !changed.some((entry) => touches(path, entry)) &&
      known.some((entry) => touches(path, entry)),
    isAbsent: (path) =>
      changed !== undefined &&
      tracked !== undefined &&
      ![...changed, ...known].some((entry) => touches(path, entry)),
  };
}

const NO_FACTS: RepositoryFacts = {
  isIgnored: () => false,
  isCommitted: () => false,
  isAbsent: () => false,
};
