import {
  type Area,
  folderPlace,
  isHome,
  isLogicalKey,
  isLogicalLike,
  isWindowsDrive,
  ROOT_PLACE,
  unambiguous,
} from './area.ts';
import type { FileSystem } from './file-system.ts';
import { hasAlternatives, hasWildcard } from './glob.ts';
import { isPlain } from './names.ts';
import type { Tree, Workspace } from './workspace.ts';
import { foldCase, followPath, toSlashes, volumeOf, windowsSlashes } from './workspace.ts';

/** A key is part of store keys and of indexes; PostgreSQL and DynamoDB hold 900 bytes without trouble. */
export const PATH_KEY_BYTES_MAX = 900;
/** Linux opens no longer path. Checked first, so that no work is done for an endless string. */
export const PATH_INPUT_CHARS_MAX = 4_096;

export type PathRefusalCode =
  | 'path_invalid'
  | 'path_outside_repository'
  | 'path_too_long'
  | 'path_is_root'
  | 'path_in_git_dir'
  | 'path_symlink_loop'
  | 'path_unreadable'
  | 'logical_key_invalid';

export interface PathRefusal {
  readonly ok: false;
  readonly code: PathRefusalCode;
  readonly message: string;
}

export type PathResult = { readonly ok: true; readonly key: string } | PathRefusal;
export type AreaResult = { readonly ok: true; readonly area: Area } | PathRefusal;

export interface PathOptions {
  /** Where relative paths start; the workspace's root unless given. */
  readonly cwd?: string;
}

const URI = /^[A-Za-z][\w+.-]*:\/\//;

/** Line separators count: a key is printed on one line of every log and listing. */
function isUnprintable(text: string): boolean {
  // Most are plain. Compiling the other check alone takes a fifth of a millisecond, and a hook lives for a
  // few.
  return !isPlain(text) && /[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

// In upper or lower case, on every disk: git itself puts no file of such a name into a repository.
const GIT_NAME = /(?:^|\/)\.git(?:\/|$)/i;
const GIT_NAME_WINDOWS = /(?:^|\/)(?:\.git|git~1)(?:\/|$)/i;

const ACCEPTED =
  'Send a path inside the repository, such as src/a.ts, or a logical key, such as api:users (api, db, event, flag, env, contract, feature).';

function refuse(code: PathRefusalCode, problem: string, remedy: string = ACCEPTED): PathRefusal {
  return { ok: false, code, message: `${problem} ${remedy}` };
}

/** An input in a form that is safe to show: short, and nothing in it can move a cursor or reverse text. */
function quote(text: string): string {
  const shown = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  const escaped = (character: string): string =>
    `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(shown).replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, escaped);
}

/** Is `key` the thing `directoryKey` names, or under it? By whole names: `src` does not contain `src2/a`. */
export function contains(directoryKey: string, key: string): boolean {
  if (directoryKey === key) return true;
  // Logical keys have no folders: api:users and api:users/1 are two names.
  if (isLogicalKey(directoryKey) || isLogicalKey(key)) return false;
  if (directoryKey === '.') return true;
  return withoutPrefix(key).startsWith(`${withoutPrefix(directoryKey)}/`);
}

function withoutPrefix(key: string): string {
  return key.startsWith('./') ? key.slice(2) : key;
}

/**
 * The unique key of a file or of a logical name. Normalise once, at the entry point, and keep the key: with a
 * symlink that appears later, a second pass would give another key.
 */
export function normalisePath(input: string, workspace: Workspace, options: PathOptions = {}): PathResult {
  const unusable = refuseText(input);
  if (unusable) return unusable;
  if (isLogicalLike(input)) return logicalKey(input);
  const place = placeOf(input, workspace, options.cwd);
  if ('code' in place) return place;
  return keyInTree(input, place.path, workspace, place.trees);
}

/**
 * The same for everything that can be locked: a file, a folder (it ends in a slash, or is a folder on this
 * disk) or a pattern. The folders before a pattern's first wildcard are followed like any path.
 */
export function normaliseArea(input: string, workspace: Workspace, options: PathOptions = {}): AreaResult {
  const unusable = refuseText(input);
  if (unusable) return unusable;
  if (isLogicalLike(input)) {
    const logical = logicalKey(input);
    return logical.ok ? { ok: true, area: { place: logical.key } } : logical;
  }
  const place = placeOf(input, workspace, options.cwd, true);
  if ('code' in place) return place;
  const endsInSlash = input.endsWith('/') || input.endsWith('\\');
  const key = keyInTree(input, place.path, workspace, place.trees);
  if (!key.ok && (key.code !== 'path_is_root' || (place.rest.length === 0 && !endsInSlash))) return key;
  const folder = key.ok ? folderPlace(key.key) : ROOT_PLACE;
  if (place.rest.length > 0) return patternIn(folder, place.rest, input, workspace, endsInSlash);
  if (!key.ok || endsInSlash || place.directory) return { ok: true, area: { place: folder } };
  return { ok: true, area: { place: key.key } };
}

function patternIn(
  folder: string,
  rest: readonly string[],
  input: string,
  workspace: Workspace,
  endsInSlash: boolean,
): AreaResult {
  const names = rest.filter((name) => name !== '' && name !== '.');
  if (names.includes('..'))
    return refuse('path_invalid', `The pattern ${quote(input)} has a .. after a wildcard.`);
  // After a slash, the pattern means everything in that folder.
  if (endsInSlash) names.push('**');
  const spread = names.filter((name, index) => name !== '**' || names[index - 1] !== '**');
  const text = (folder === ROOT_PLACE ? '' : folder) + spread.join('/');
  // Checked on the pattern and not on the input: the repository itself may be in a folder of such a name.
  if (hasAlternatives(text)) return refuseAlternatives(input);
  if (spread.length === 1 && spread[0] === '**') return { ok: true, area: { place: folder } };
  const folded = workspace.caseInsensitive ? foldCase(text) : text.normalize('NFC');
  const pattern = limited(folded.startsWith('./') ? folded : unambiguous(folded));
  return pattern.ok ? { ok: true, area: { place: folder, pattern: pattern.key } } : pattern;
}

/** Taken literally, such a lock would be granted and protect nothing. */
function refuseAlternatives(input: string): PathRefusal {
  return refuse(
    'path_invalid',
    `The braces in the pattern ${quote(input)} are not expanded here.`,
    'Name each pattern, such as lib/**/*.ts and lib/**/*.tsx; several paths are locked all or none.',
  );
}

function refuseText(input: string): PathRefusal | undefined {
  if (typeof input !== 'string') return refuse('path_invalid', 'The path is not a string.');
  if (input === '') return refuse('path_invalid', 'The path is empty.');
  if (input.length > PATH_INPUT_CHARS_MAX) {
    return refuse('path_too_long', `The path has more than ${PATH_INPUT_CHARS_MAX} characters.`);
  }
  if (isUnprintable(input)) {
    return refuse(
      'path_invalid',
      `The path ${quote(input)} holds a control character, a line separator or half a surrogate pair.`,
    );
  }
  return undefined;
}

function logicalKey(input: string): PathResult {
  const text = input.normalize('NFC').trim();
  const colon = text.indexOf(':');
  const name = text.slice(colon + 1).trim();
  if (name === '') {
    return refuse(
      'logical_key_invalid',
      `The logical key ${quote(input)} has no name after the colon.`,
      `Send, for instance, ${text.slice(0, colon)}:users; a file of that name is ./${text}`,
    );
  }
  return limited(`${text.slice(0, colon)}:${name}`);
}

function limited(key: string): PathResult {
  const bytes = Buffer.byteLength(key);
  if (bytes <= PATH_KEY_BYTES_MAX) return { ok: true, key };
  return refuse(
    'path_too_long',
    `The key has ${bytes} bytes of UTF-8; ${PATH_KEY_BYTES_MAX} are allowed.`,
    'Send a shorter path, or lock the folder above it.',
  );
}

interface Walk {
  readonly start: string;
  readonly names: readonly string[];
}

interface Located {
  readonly path: string;
  readonly directory: boolean;
  /** The names from the first wildcard on, if the caller asked to leave those. */
  readonly rest: readonly string[];
  readonly trees: readonly Tree[];
}

function placeOf(
  input: string,
  workspace: Workspace,
  cwd: string | undefined,
  wildcards = false,
): Located | PathRefusal {
  const misread = refuseMisreadable(input, workspace.fs);
  if (misread) return misread;
  const trees = workspace.trees();
  const walk = walkOf(input, workspace, trees, cwd);
  if ('ok' in walk) return walk;
  const wild = wildcards ? walk.names.findIndex(hasWildcard) : -1;
  const rest = wild === -1 ? [] : walk.names.slice(wild);
  const names = wild === -1 ? walk.names : walk.names.slice(0, wild);
  const followed = followPath(workspace.fs, walk.start, names);
  if (!followed.ok) {
    const why =
      followed.code === 'path_symlink_loop'
        ? 'goes through a loop of symlinks, or more than 40 of them.'
        : 'cannot be followed: a folder on its way is not readable, so the file it names is unknown.';
    return refuse(followed.code, `The path ${quote(input)} ${why}`, 'Send the path of the file itself.');
  }
  return { path: followed.path, directory: followed.directory, rest, trees };
}

/** Spellings that other tools expand and the file system does not; taken literally they lock no real file. */
function refuseMisreadable(input: string, fs: FileSystem): PathRefusal | undefined {
  if (input.includes('://') && URI.test(input)) {
    return refuse('path_invalid', `${quote(input)} is a URI, not a path.`);
  }
  if (isHome(input)) {
    const remedy = 'Send the expanded path; a folder that is really called ~ is ./~';
    return refuse(
      'path_invalid',
      `The ~ in ${quote(input)} is the shell's, and is not expanded here.`,
      remedy,
    );
  }
  if (!fs.windows && isWindowsDrive(input)) {
    const remedy = 'Send it relative to the repository, such as src/a.ts.';
    return refuse(
      'path_outside_repository',
      `${quote(input)} is an absolute path of a Windows machine; this is another one.`,
      remedy,
    );
  }
  return undefined;
}

/**
 * A backslash separates names on every platform. On POSIX it may be part of a file name, but agents on
 * Windows send `src\a.ts` to servers on Linux, and one file with two locks is worse than a rare name that
 * cannot be locked. Only the path of a known tree is read as the disk has it.
 */
function walkOf(
  input: string,
  workspace: Workspace,
  trees: readonly Tree[],
  cwd: string | undefined,
): Walk | PathRefusal {
  const { fs } = workspace;
  const text = fs.windows ? windowsSlashes(input) : input;
  const absolute = volumeOf(toSlashes(text), fs.windows) !== undefined;
  if (absolute) return checked(absoluteWalk(text, trees, workspace), input, fs);
  const names = toSlashes(text).split('/');
  if (cwd === undefined) return checked({ start: workspace.root, names }, input, fs);
  const base = absoluteWalk(fs.windows ? toSlashes(cwd) : cwd, trees, workspace);
  return checked({ start: base.start, names: [...base.names, ...names] }, input, fs);
}

function absoluteWalk(path: string, trees: readonly Tree[], workspace: Workspace): Walk {
  // Trees are free of symlinks: starting there saves a stat for each folder above.
  for (const tree of trees) {
    if (path === tree.path) return { start: tree.path, names: [] };
    if (path.startsWith(tree.path) && path[tree.path.length] === '/') {
      return { start: tree.path, names: toSlashes(path.slice(tree.path.length)).split('/') };
    }
  }
  const slashed = toSlashes(path);
  const volume = volumeOf(slashed, workspace.fs.windows);
  // On Windows `/x` means the current drive; only the root's drive can matter here.
  const start =
    volume === '/' && workspace.fs.windows ? workspace.root.slice(0, 3) : (volume ?? workspace.root);
  return { start, names: slashed.slice(volume?.length ?? 0).split('/') };
}

/** Win32 drops dots and spaces at the end of a name, and writes `a.ts:x` into `a.ts`. */
function checked(walk: Walk, input: string, fs: FileSystem): Walk | PathRefusal {
  if (!fs.windows) return walk;
  const names = walk.names.map((name) => (/^\.{0,2}$/.test(name) ? name : name.replace(/[. ]+$/, '')));
  const emptied = names.some((name, index) => name === '' && walk.names[index] !== '');
  if (emptied || names.some((name) => name.includes(':'))) {
    return refuse('path_invalid', `${quote(input)} holds a name that Windows does not allow.`);
  }
  return { start: walk.start, names };
}

function keyInTree(input: string, path: string, workspace: Workspace, trees: readonly Tree[]): PathResult {
  const tree = treeAround(path, workspace.caseInsensitive, trees);
  if (tree === undefined) {
    return refuse(
      'path_outside_repository',
      `The path ${quote(input)} leads outside the repository at ${quote(workspace.root)}.`,
    );
  }
  if (tree.kind === 'git') return refuseGit(input);
  const relative = workspace.caseInsensitive ? belowByNames(path, tree.path) : below(path, tree.path);
  if (relative === '') {
    return refuse('path_is_root', `The path ${quote(input)} is the root of the repository.`);
  }
  if (relative.includes('\\')) {
    return refuse('path_invalid', `The path ${quote(input)} leads to a file with a backslash in its name.`);
  }
  return finished(input, relative, workspace);
}

function below(path: string, tree: string): string {
  return path.slice(tree.endsWith('/') ? tree.length : tree.length + 1);
}

/** Counted in names, because folding may change a path's length but never its slashes. */
function belowByNames(path: string, tree: string): string {
  const depth = tree.split('/').length - (tree.endsWith('/') ? 1 : 0);
  return path.split('/').slice(depth).join('/');
}

function treeAround(path: string, caseInsensitive: boolean, trees: readonly Tree[]): Tree | undefined {
  const probe = caseInsensitive ? foldCase(path) : path;
  // Deepest first: a worktree may lie inside the main tree, or inside git's own folder.
  return trees.find(
    (tree) =>
      probe.startsWith(tree.probe) &&
      (probe.length === tree.probe.length || tree.probe.endsWith('/') || probe[tree.probe.length] === '/'),
  );
}

/**
 * Lower case where the disk ignores case, rather than the name on disk: a file that does not exist yet has
 * none, and its key must not change when a process creates it in another spelling.
 */
function finished(input: string, relative: string, workspace: Workspace): PathResult {
  // Most are plain and need no change.
  const plain = isPlain(relative);
  const normal = plain ? relative : relative.normalize('NFC');
  const key = workspace.caseInsensitive ? foldCase(relative) : normal;
  if ((!plain && isUnprintable(key)) || key.trim() === '') {
    return refuse('path_invalid', `The path ${quote(input)} leads to ${quote(key)}, which is not printable.`);
  }
  const mayBeGit = key.toLowerCase().includes('git');
  if (mayBeGit && (workspace.fs.windows ? GIT_NAME_WINDOWS : GIT_NAME).test(key)) return refuseGit(input);
  return limited(unambiguous(key));
}

function refuseGit(input: string): PathRefusal {
  return refuse('path_in_git_dir', `The path ${quote(input)} is git's own, and git guards it by itself.`);
}
