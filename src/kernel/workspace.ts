import { errorCode, type FileStat, type FileSystem, knowingFolders, nodeFileSystem } from './file-system.ts';

/** A folder whose files have keys (`work`), or git's own folder, whose files have none (`git`). */
export interface Tree {
  readonly kind: 'work' | 'git';
  readonly path: string;
  /** The path in the form used for comparison: case-folded where the disk ignores case. */
  readonly probe: string;
}

export interface Workspace {
  /** Symlink-free path of the work tree that the cwd is in. */
  readonly root: string;
  /** The repository's main work tree; all others are linked to it. Undefined where there is none (bare, or without git). */
  readonly main?: string | undefined;
  /** The folder that all worktrees of the repository share; undefined without git. */
  readonly gitCommonDir?: string;
  /** Set where git would refuse to work: it can't be told which repository this is. */
  readonly dangling?: Dangling | undefined;
  readonly caseInsensitive: boolean;
  readonly fs: FileSystem;
  /** Every tree of the repository, deepest first; read on first use, and again after git has changed it. */
  trees(): readonly Tree[];
}

/** The `.git` file of a work tree, and the path it names, where there is no repository. */
export interface Dangling {
  readonly file: string;
  readonly target: string;
}

export type Followed =
  | { readonly ok: true; readonly path: string; readonly directory: boolean }
  | { readonly ok: false; readonly code: 'path_symlink_loop' | 'path_unreadable'; readonly path: string };

/** Linux gives up after 40 too, so a path that we refuse cannot be opened either. */
const SYMLINK_HOPS_MAX = 40;

// Coarse file system clocks (FAT: 2 s) let a folder change twice under one mtime. A list read so soon after a
// change is not trusted until the mtime is older than that.
const MTIME_SETTLED_MS = 2_000;

/** Where the store is when there is no git. */
export const STORE_FOLDER = '.coxswain';
const STICKY_FOR_ALL = 0o1002;

export function toSlashes(path: string): string {
  return path.includes('\\') ? path.replaceAll('\\', '/') : path;
}

/** Also removes the `\\?\` that Windows puts before the target of a junction. */
export function windowsSlashes(path: string): string {
  return toSlashes(path).replace(/^\/\/\?\//, '');
}

/** `/` or `C:/`: what an absolute path starts with; undefined for a relative one. */
export function volumeOf(path: string, windows: boolean): string | undefined {
  if (windows && /^[A-Za-z]:\//.test(path)) return path.slice(0, 3);
  return path.startsWith('/') ? '/' : undefined;
}

/** For names without `..`; `join` of node:path looks for those. */
export function joinPath(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

function parentOf(path: string): string {
  const cut = path.lastIndexOf('/');
  // `C:/x`, but not `/:/x`: a POSIX folder may be called `:`.
  const isVolume = cut === 0 || (cut === 2 && path[1] === ':' && path[0] !== '/');
  return path.slice(0, isVolume ? cut + 1 : cut);
}

/**
 * The case rule for disks that ignore case. Lower, upper, lower, character by character: `ẞ`, `ß` and `SS`
 * become equal, and so do the three sigmas. Where disks differ it merges names rather than separating them: a
 * lock shared by two files is a nuisance, two locks on one file are a lost edit.
 */
export function foldCase(text: string): string {
  if (/^\p{ASCII}*$/u.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text.normalize('NFD')) {
    folded += character.toLowerCase().toUpperCase().toLowerCase();
  }
  return folded.normalize('NFC');
}

/**
 * Where the operating system arrives when it walks `names` from `start` (itself free of symlinks). `..` is
 * applied after symlinks, as open(2) does. Below a name that does not exist there is nothing to follow, so
 * the walk continues lexically: the key of a new file is the same before and after it is created.
 */
export function followPath(fs: FileSystem, start: string, names: readonly string[]): Followed {
  const rest = [...names].reverse();
  let at = start;
  let missing = 0;
  let hops = 0;
  let directory = true;
  try {
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        at = parentOf(at);
        if (missing > 0) missing -= 1;
        directory = missing === 0;
        continue;
      }
      const next = joinPath(at, name);
      const stat = missing === 0 ? fs.lstat(next) : undefined;
      if (stat?.isSymbolicLink()) {
        hops += 1;
        if (hops > SYMLINK_HOPS_MAX) return { ok: false, code: 'path_symlink_loop', path: next };
        const target = fs.windows ? windowsSlashes(fs.readlink(next)) : fs.readlink(next);
        const volume = volumeOf(target, fs.windows);
        at = volume ?? at;
        for (const part of target
          .slice(volume?.length ?? 0)
          .split('/')
          .reverse())
          rest.push(part);
        continue;
      }
      if (stat === undefined) missing += 1;
      directory = stat?.isDirectory() === true;
      at = fs.windows && stat && /~\d/.test(name) ? toSlashes(fs.realpath(next)) : next;
    }
    return { ok: true, path: at, directory };
  } catch (error) {
    const code = errorCode(error) === 'ELOOP' ? 'path_symlink_loop' : 'path_unreadable';
    return { ok: false, code, path: at };
  }
}

/** `path` against `base`, both as git writes them into its files, symlinks resolved. */
function resolveFrom(fs: FileSystem, base: string, path: string): string {
  const slashed = fs.windows ? toSlashes(path) : path;
  const volume = volumeOf(slashed, fs.windows);
  return followPath(fs, volume ?? base, slashed.slice(volume?.length ?? 0).split('/')).path;
}

function readText(fs: FileSystem, path: string): string | undefined {
  try {
    // A `.git` that is a pipe would hang the reader.
    const stat = fs.lstat(path);
    return stat?.isFile() ? fs.readFile(path) : undefined;
  } catch {
    return undefined;
  }
}

function statOf(fs: FileSystem, path: string): FileStat | undefined {
  try {
    return fs.lstat(path);
  } catch {
    return undefined;
  }
}

function exists(fs: FileSystem, path: string): boolean {
  return statOf(fs, path) !== undefined;
}

/**
 * The few `[core]` settings that decide where the work tree is and how names compare. The last one wins.
 * Parsed by hand: a hook reads one file of ten lines, and would compile five expressions for it.
 */
export function readCoreConfig(text: string): Map<string, string> {
  const settings = new Map<string, string>();
  let inCore = false;
  for (const raw of text.split('\n')) {
    let line = raw.trim();
    const end = line.startsWith('[') ? line.indexOf(']') : -1;
    if (end !== -1) {
      inCore = line.slice(1, end).trim().toLowerCase() === 'core';
      line = line.slice(end + 1).trim();
    }
    if (!inCore || line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const equals = line.indexOf('=');
    const name = equals === -1 ? line : line.slice(0, equals).trimEnd();
    if (!name.includes(' '))
      settings.set(name.toLowerCase(), equals === -1 ? 'true' : settingIn(line, equals));
  }
  return settings;
}

function settingIn(line: string, equals: number): string {
  const value = line.slice(equals + 1).trim();
  const quoted = value.startsWith('"') ? /^"((?:[^"\\]|\\.)*)"/.exec(value)?.[1] : undefined;
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1');
  return value.includes('#') || value.includes(';') ? value.replace(/\s*[#;].*$/, '') : value;
}

function isTrue(value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false;
  return value === 'true' || /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}

function isGitDir(fs: FileSystem, path: string): boolean {
  if (!exists(fs, joinPath(path, 'HEAD'))) return false;
  if (exists(fs, joinPath(path, 'commondir'))) return true;
  return exists(fs, joinPath(path, 'objects')) && exists(fs, joinPath(path, 'refs'));
}

interface GitPlace {
  readonly gitDir: string;
  /** undefined when the cwd lies inside a git directory, not in a work tree. */
  readonly workTree?: string;
}

function gitPlaceAt(fs: FileSystem, directory: string): GitPlace | Dangling | undefined {
  const dotGit = resolveFrom(fs, directory, '.git');
  if (isGitDir(fs, dotGit)) return { gitDir: dotGit, workTree: directory };
  const pointer = /^gitdir:\s*(.+?)\s*$/m.exec(readText(fs, dotGit) ?? '')?.[1];
  if (pointer) {
    const target = resolveFrom(fs, directory, pointer);
    return isGitDir(fs, target)
      ? { gitDir: target, workTree: directory }
      : { file: joinPath(directory, '.git'), target };
  }
  return isGitDir(fs, directory) ? { gitDir: directory } : undefined;
}

function findGit(fs: FileSystem, start: string): GitPlace | Dangling | undefined {
  for (let directory = start; ; directory = parentOf(directory)) {
    const place = gitPlaceAt(fs, directory);
    if (place) return place;
    if (parentOf(directory) === directory) return undefined;
  }
}

/** Without git, the root is the nearest folder above that has a store; otherwise each folder would have its own. */
function ungitRoot(fs: FileSystem, start: string, home: string | undefined): string {
  const last = home === undefined ? undefined : resolveFrom(fs, '/', home);
  for (let directory = start; ; directory = parentOf(directory)) {
    if (hasDefaultStore(fs, directory)) return directory;
    if (directory === last || parentOf(directory) === directory) return start;
  }
}

function hasDefaultStore(fs: FileSystem, directory: string): boolean {
  const found = followPath(fs, directory, [STORE_FOLDER]);
  if (!found.ok || !found.directory) return false;
  // In a world-writable folder, such as /tmp, any user may have put it there. Windows has no such mode bits.
  const isForAll = !fs.windows && ((statOf(fs, directory)?.mode ?? 0) & STICKY_FOR_ALL) === STICKY_FOR_ALL;
  // The files store keeps its own data in a folder of that name, among its events.
  return !isForAll && !exists(fs, joinPath(found.path, 'state.db'));
}

/** `<worktree>/.git` is what git writes into `worktrees/<name>/gitdir`. */
function worktreeOf(fs: FileSystem, adminDir: string): string | undefined {
  const noted = readText(fs, joinPath(adminDir, 'gitdir'))?.trim();
  if (!noted) return undefined;
  // Only the folder is followed: its `.git` may itself be a link.
  return resolveFrom(fs, adminDir, noted.replace(/[\\/]\.git$/, ''));
}

function mainWorkTree(fs: FileSystem, common: string, core: Map<string, string>): string | undefined {
  const configured = core.get('worktree');
  if (configured) return resolveFrom(fs, common, configured);
  return common.endsWith('/.git') && !isTrue(core.get('bare')) ? parentOf(common) : undefined;
}

function flipCase(name: string): string {
  return name.replace(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

/** Does a name written in the other case reach the same file? Decided by looking, never by writing. */
export function probeCaseInsensitive(fs: FileSystem, root: string): boolean {
  const hasLetter = (name: string): boolean => /[A-Za-z]/.test(name);
  const sameFile = (one: string, other: string): boolean => {
    const [left, right] = [fs.lstat(one), fs.lstat(other)];
    return left !== undefined && right !== undefined && left.ino === right.ino && left.dev === right.dev;
  };
  try {
    if (exists(fs, joinPath(root, '.git'))) return sameFile(joinPath(root, '.git'), joinPath(root, '.GIT'));
    const name = fs.readdir(root).find(hasLetter);
    if (name) return sameFile(joinPath(root, name), joinPath(root, flipCase(name)));
    const base = root.slice(parentOf(root).length).replace(/^\//, '');
    return hasLetter(base) && sameFile(root, joinPath(parentOf(root), flipCase(base)));
  } catch {
    return fs.windows;
  }
}

interface Snapshot {
  readonly trees: readonly Tree[];
  readonly stamps: ReadonlyArray<{ readonly path: string; readonly mtimeMs: number | undefined }>;
  readonly settled: boolean;
}

interface TreeSource {
  readonly fs: FileSystem;
  readonly common: string | undefined;
  readonly fixed: readonly string[];
  readonly caseInsensitive: boolean;
  readonly nowMs: () => number;
}

function readSnapshot({ fs, common, fixed, caseInsensitive, nowMs }: TreeSource): Snapshot {
  const work = new Set(fixed);
  const stamps: Array<{ path: string; mtimeMs: number | undefined }> = [];
  const readAtMs = nowMs();
  if (common !== undefined) {
    // Stamps are taken before contents, so a change made in between is seen by the next call.
    const listDir = joinPath(common, 'worktrees');
    stamps.push({ path: listDir, mtimeMs: statOf(fs, listDir)?.mtimeMs });
    for (const name of listNames(fs, listDir)) {
      const adminDir = joinPath(listDir, name);
      // `git worktree move` rewrites this file in place and touches no folder.
      const gitdir = joinPath(adminDir, 'gitdir');
      stamps.push({ path: gitdir, mtimeMs: statOf(fs, gitdir)?.mtimeMs });
      const worktree = worktreeOf(fs, adminDir);
      if (worktree) work.add(worktree);
    }
  }
  const tree = (kind: Tree['kind'], path: string): Tree => ({
    kind,
    path,
    probe: caseInsensitive ? foldCase(path) : path,
  });
  const trees = [...work].map((path) => tree('work', path));
  if (common !== undefined && !work.has(common)) trees.push(tree('git', common));
  trees.sort((left, right) => right.probe.length - left.probe.length);
  const settled = stamps.every(
    ({ mtimeMs }) => mtimeMs === undefined || readAtMs - mtimeMs > MTIME_SETTLED_MS,
  );
  return { trees, stamps, settled };
}

function listNames(fs: FileSystem, directory: string): string[] {
  try {
    return fs.lstat(directory) ? fs.readdir(directory) : [];
  } catch {
    return [];
  }
}

/** A worktree's entry here is git's first step in creating one, before its checkout: no agent can ask for a path in it so soon. */
const LOOK_EVERY_MS = 3;

function treeLister(source: TreeSource): () => readonly Tree[] {
  let snapshot: Snapshot | undefined;
  let looked_ms = Number.NEGATIVE_INFINITY;
  const isCurrent = (): boolean =>
    snapshot?.settled === true &&
    snapshot.stamps.every(({ path, mtimeMs }) => statOf(source.fs, path)?.mtimeMs === mtimeMs);
  return () => {
    const now_ms = source.nowMs();
    const age_ms = now_ms - looked_ms;
    if (snapshot?.settled === true && age_ms >= 0 && age_ms < LOOK_EVERY_MS) return snapshot.trees;
    if (snapshot === undefined || !isCurrent()) snapshot = readSnapshot(source);
    looked_ms = now_ms;
    return snapshot.trees;
  };
}

function withoutGit(fs: FileSystem, nowMs: () => number, root: string): Workspace {
  const caseInsensitive = probeCaseInsensitive(fs, root);
  const source = { fs, common: undefined, fixed: [root], caseInsensitive, nowMs };
  return { root, caseInsensitive, fs: knowingFolders(fs, nowMs), trees: treeLister(source) };
}

/**
 * The repository around `cwd`, found by reading git's files: a git process costs milliseconds and may not be
 * installed. Without git the root is the nearest folder with a store in it, or else the cwd itself.
 */
export function findWorkspace(
  cwd: string,
  fs: FileSystem = nodeFileSystem,
  nowMs: () => number = Date.now,
  home: string | undefined = process.env.HOME ?? process.env.USERPROFILE,
): Workspace {
  const slashed = fs.windows ? toSlashes(cwd) : cwd;
  if (volumeOf(slashed, fs.windows) === undefined)
    throw new Error(`cwd must be absolute: ${JSON.stringify(cwd)}`);
  const start = resolveFrom(fs, '/', slashed);
  const place = findGit(fs, start);
  if (place === undefined) return withoutGit(fs, nowMs, ungitRoot(fs, start, home));
  if ('target' in place) return { ...withoutGit(fs, nowMs, parentOf(place.file)), dangling: place };
  const { gitDir } = place;
  const pointer = readText(fs, joinPath(gitDir, 'commondir'))?.trim();
  const common = pointer ? resolveFrom(fs, gitDir, pointer) : gitDir;
  const configs = ['config', 'config.worktree'].map((name) => readText(fs, joinPath(common, name)) ?? '');
  const core = readCoreConfig(configs.join('\n'));
  const main = mainWorkTree(fs, common, core);
  const root = place.workTree ?? (gitDir === common ? main : worktreeOf(fs, gitDir)) ?? gitDir;
  const ignoreCase = core.get('ignorecase');
  const caseInsensitive = ignoreCase === undefined ? probeCaseInsensitive(fs, root) : isTrue(ignoreCase);
  // In a bare repository the root is git's own folder: it stays a `git` tree, so nothing in it can be locked.
  const fixed = [root, main].filter((path) => path !== undefined).filter((path) => path !== common);
  const trees = treeLister({ fs, common, fixed, caseInsensitive, nowMs });
  return { root, main, gitCommonDir: common, caseInsensitive, fs: knowingFolders(fs, nowMs), trees };
}
