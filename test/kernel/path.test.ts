import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isLogicalKey } from '../../src/kernel/area.ts';
import { type FileSystem, nodeFileSystem } from '../../src/kernel/file-system.ts';
import {
  contains,
  normalisePath,
  PATH_INPUT_CHARS_MAX,
  PATH_KEY_BYTES_MAX,
  type PathOptions,
} from '../../src/kernel/path.ts';
import { findWorkspace, type Workspace } from '../../src/kernel/workspace.ts';

let base: string;
let root: string;
let worktree: string;
let workspace: Workspace;

const gitEnv = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

function git(cwd: string, ...args: string[]): void {
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], { cwd, env: gitEnv, stdio: 'pipe' });
}

before(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cox-path-')));
  root = join(base, 'repo');
  worktree = join(base, 'w');
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  mkdirSync(join(base, 'repo-evil'));
  git(base, 'init', '-q', root);
  writeFileSync(join(root, 'src/a.ts'), '');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'first');
  git(root, 'worktree', 'add', '-q', worktree);
  git(root, 'worktree', 'add', '-q', join(root, '.trees/inner'));
  workspace = findWorkspace(root);
});

after(() => {
  rmSync(base, { recursive: true, force: true });
});

function link(name: string, target: string): void {
  symlinkSync(target, join(root, name));
}

function key(input: string, options?: PathOptions, from: Workspace = workspace): string {
  const result = normalisePath(input, from, options);
  assert.ok(result.ok, result.ok ? '' : result.message);
  return result.key;
}

function code(input: unknown, options?: PathOptions, from: Workspace = workspace): string {
  const result = normalisePath(input as string, from, options);
  assert.ok(!result.ok, `accepted ${JSON.stringify(result)}`);
  assert.match(result.message, /Send/, 'every refusal says what would be accepted');
  return result.code;
}

test('[LOCK-9] every spelling of one file is one key', () => {
  const spellings = [
    'src/a.ts',
    './src/a.ts',
    'src//a.ts',
    'src/./a.ts',
    'src/a.ts/',
    'x/../src/a.ts',
    'src/deep/../a.ts',
    'src/missing/../a.ts',
    'src\\a.ts',
    '.\\src\\a.ts',
    `${root}/src/a.ts`,
    `${root}//src/../src/a.ts`,
    `${base}/nowhere/../repo/src/a.ts`,
    `../repo/src/a.ts`,
    `${root}\\src\\a.ts`,
  ];
  for (const spelling of spellings) assert.equal(key(spelling), 'src/a.ts', spelling);
  assert.equal(key('a.ts', { cwd: join(root, 'src') }), 'src/a.ts');
  assert.equal(key('../a.ts', { cwd: join(root, 'src/deep') }), 'src/a.ts');
  assert.equal(key('a.ts', { cwd: 'src' }), 'src/a.ts');
});

test('[LOCK-9] a file is one lock from every worktree, also from one inside the main tree', () => {
  const inner = join(root, '.trees/inner');
  for (const from of [root, worktree, inner].map((cwd) => findWorkspace(cwd))) {
    for (const tree of [root, worktree, inner]) assert.equal(key(`${tree}/src/a.ts`, {}, from), 'src/a.ts');
    assert.equal(key('src/new.ts', {}, from), 'src/new.ts');
    assert.equal(key('a.ts', { cwd: join(worktree, 'src') }, from), 'src/a.ts');
    assert.equal(code(inner, {}, from), 'path_is_root');
  }
});

test('[LOCK-9] a symlink is the file it leads to, a chain and a dangling one too', () => {
  link('file-link', 'src/a.ts');
  link('chain', 'file-link');
  link('folder-link', `${root}/src`);
  link('dangling', 'src/deep/later.ts');
  link('to-worktree', `${worktree}/src`);
  assert.equal(key('file-link'), 'src/a.ts');
  assert.equal(key('chain'), 'src/a.ts');
  assert.equal(key('folder-link/a.ts'), 'src/a.ts');
  assert.equal(key('folder-link/new/b.ts'), 'src/new/b.ts');
  assert.equal(key('to-worktree/a.ts'), 'src/a.ts');
  symlinkSync(root, join(base, 'repo-alias'));
  assert.equal(key(`${base}/repo-alias/src/a.ts`), 'src/a.ts');
  const early = key('dangling');
  writeFileSync(join(root, 'src/deep/later.ts'), '');
  assert.equal(early, 'src/deep/later.ts');
  assert.equal(key('dangling'), early, 'creating the file does not change its key');
});

test('[LOCK-9] creating a file or its folders does not change the key', () => {
  const early = key('fresh/folder/../folder/b.ts');
  mkdirSync(join(root, 'fresh/folder'), { recursive: true });
  writeFileSync(join(root, 'fresh/folder/b.ts'), '');
  assert.equal(early, 'fresh/folder/b.ts');
  assert.equal(key('fresh/folder/../folder/b.ts'), early);
});

test('[LOCK-9] .. after a symlink goes where the operating system goes, lexically where nothing exists', () => {
  link('deep-link', 'src/deep');
  assert.equal(key('deep-link/../a.ts'), 'src/a.ts');
  // `.native`: Node's own realpath drops `..` before it looks, and finds nothing here.
  assert.equal(realpathSync.native(`${root}/deep-link/../a.ts`), join(root, 'src/a.ts'));
  mkdirSync(join(root, ':'));
  assert.equal(key(':/x/../y'), ':/y');
  assert.equal(key('./x:/y/..'), 'x:');
  assert.equal(key('gone/deeper/../../deep-link/b'), 'src/deep/b', 'back from nothing, links count again');
  assert.equal(key('src/a.ts/../a.ts'), 'src/a.ts');
});

test('[LOCK-9] a loop of symlinks is refused, forty links are not', () => {
  link('loop-a', 'loop-b');
  link('loop-b', 'loop-a');
  link('self', 'self/x');
  assert.equal(code('loop-a'), 'path_symlink_loop');
  assert.equal(code('loop-a/x'), 'path_symlink_loop');
  assert.equal(code('self'), 'path_symlink_loop');
  for (let hop = 0; hop < 41; hop += 1) link(`hop${hop}`, hop === 0 ? 'src/a.ts' : `hop${hop - 1}`);
  assert.equal(key('hop39'), 'src/a.ts');
  assert.equal(code('hop40'), 'path_symlink_loop');
});

test('[LOCK-9] what lies outside the repository is refused, name by name', () => {
  link('escape', base);
  link('etc', '/etc');
  link('dangling-out', '../not-there.ts');
  for (const input of [
    '..',
    '../x',
    'src/../../x',
    '/',
    '/etc/passwd',
    `${base}/repo-evil/a`,
    `${root}-evil/a`,
    '../repo-evil/a',
    'escape/x',
    'etc/passwd',
    'dangling-out',
    'a/../../../../../../../../../../x',
    '//etc',
    '\\etc\\passwd',
    'C:\\repo\\a.ts',
    'c:/repo/a.ts',
    '\\\\server\\share\\a',
  ]) {
    assert.equal(code(input), 'path_outside_repository', input);
  }
  assert.equal(key('escape/repo/src/a.ts'), 'src/a.ts', 'out and back in is in');
  assert.equal(code('a.ts', { cwd: base }), 'path_outside_repository');
});

test('[LOCK-9] what is no path is refused', () => {
  for (const input of [
    '',
    ' ',
    '\0',
    'a\0b',
    'a\nb',
    'a\u007f',
    'a\u0085b',
    'a\u2028b',
    'a\ud800',
    '\udc00/b',
  ]) {
    assert.equal(code(input), 'path_invalid', JSON.stringify(input));
  }
  for (const input of [undefined, null, 7, {}, ['a'], true]) assert.equal(code(input), 'path_invalid');
  for (const input of ['~', '~/a', 'file:///repo/a.ts', 'https://x.test/a'])
    assert.equal(code(input), 'path_invalid');
  assert.equal(key('./~/a'), './~/a');
  assert.equal(key('~a'), '~a');
  link('odd', 'with\nnewline');
  assert.equal(code('odd'), 'path_invalid', 'a link to an unprintable name');
  link('back', 'with\\slash');
  assert.equal(code('back'), 'path_invalid', 'a link to a name with a backslash');
});

test('[LOCK-9] a refusal quotes the input harmlessly', () => {
  const result = normalisePath(`../\u202e${'x'.repeat(500)}`, workspace);
  assert.ok(!result.ok);
  assert.match(result.message, /\\u202e/);
  assert.ok(result.message.length < 600);
});

test('[LOCK-9] the limits are exact', () => {
  const folder = `${'d'.repeat(199)}/`;
  const longest = folder.repeat(4) + 'f'.repeat(PATH_KEY_BYTES_MAX - 800);
  assert.equal(key(longest), longest);
  assert.equal(code(`${longest}f`), 'path_too_long');
  assert.equal(code(`${'é'.repeat(450)}/`.repeat(2)), 'path_too_long', 'bytes, not characters');
  assert.equal(code('x'.repeat(PATH_INPUT_CHARS_MAX + 1)), 'path_too_long');
  assert.equal(key(`${'./'.repeat(2_000)}src/a.ts`), 'src/a.ts');
  assert.equal(key(`api:${'x'.repeat(PATH_KEY_BYTES_MAX - 4)}`).length, PATH_KEY_BYTES_MAX);
  assert.equal(code(`api:${'x'.repeat(PATH_KEY_BYTES_MAX - 3)}`), 'path_too_long');
});

test('[LOCK-9] the root and git’s own files have no lock', () => {
  for (const input of ['.', './', 'src/..', root, `${root}/`, worktree])
    assert.equal(code(input), 'path_is_root');
  link('into-git', '.git/hooks');
  for (const input of [
    '.git',
    '.git/config',
    '.GIT/config',
    'sub/.git',
    'sub/.Git/x',
    `${worktree}/.git`,
    'into-git/x',
  ]) {
    assert.equal(code(input), 'path_in_git_dir', input);
  }
  assert.equal(key('.gitignore'), '.gitignore');
  assert.equal(key('.github/x.yml'), '.github/x.yml');
});

test('[LOCK-9] a bare repository has locks in its worktrees only', () => {
  const bare = join(base, 'bare.git');
  git(base, 'clone', '-q', '--bare', root, bare);
  git(bare, 'worktree', 'add', '-q', join(bare, 'inner'), 'HEAD');
  const from = findWorkspace(bare);
  assert.equal(key(`${bare}/inner/src/a.ts`, {}, from), 'src/a.ts');
  assert.equal(code('config', {}, from), 'path_in_git_dir');
});

test('[LOCK-9] without git the keys are relative to the cwd', () => {
  const from = findWorkspace(join(base, 'repo-evil'));
  assert.equal(key('x/../a', {}, from), 'a');
  assert.equal(code(`${root}/src/a.ts`, {}, from), 'path_outside_repository');
});

test('[LOCK-9] a submodule’s file has one key in the repository around it', () => {
  const library = join(base, 'library');
  git(base, 'clone', '-q', root, library);
  git(root, 'submodule', '--quiet', 'add', library, 'sub');
  assert.equal(key('sub/src/a.ts'), 'sub/src/a.ts');
  assert.equal(key(`${worktree}/sub/src/a.ts`), 'sub/src/a.ts');
  assert.equal(key(`${root}/sub/src/a.ts`, {}, findWorkspace(join(root, 'sub'))), 'src/a.ts');
});

test('[LOCK-9] names compare as Unicode means them', () => {
  assert.equal(key('caf\u0065\u0301.ts'), 'caf\u00e9.ts');
  mkdirSync(join(root, 'e\u0301'));
  assert.equal(key('e\u0301/a'), key('\u00e9/a'));
});

test('[LOCK-9] on a disk that ignores case, all cases are one key, existing or not', () => {
  git(root, 'config', 'core.ignorecase', 'true');
  try {
    const from = findWorkspace(root);
    assert.equal(key('SRC/A.ts', {}, from), 'src/a.ts');
    assert.equal(key('New/File.TS', {}, from), key('new/file.ts', {}, from));
    assert.equal(key('ÉCOLE', {}, from), key('e\u0301cole', {}, from));
    assert.equal(key(`${root}/Src/a.ts`, {}, from), 'src/a.ts');
    assert.equal(key('API:x', {}, from), './api:x', 'a file, not the logical key');
    assert.equal(code('.GIT/x', {}, from), 'path_in_git_dir');
  } finally {
    git(root, 'config', '--unset', 'core.ignorecase');
  }
  assert.equal(key('SRC/A.ts'), 'SRC/A.ts', 'two files on a disk that does not');
});

test('[LOCK-9] logical keys are a namespace of their own', () => {
  assert.equal(key('api:users'), 'api:users');
  assert.equal(key('  db: orders/Lines '), 'db:orders/Lines');
  assert.equal(key('env:caf\u0065\u0301'), 'env:caf\u00e9');
  assert.equal(key('feature:a/../b\\c'), 'feature:a/../b\\c', 'no path rules');
  for (const input of ['api:', 'flag:  ', ' event: '])
    assert.equal(code(input), 'logical_key_invalid', input);
  assert.equal(code('api:a\nb'), 'path_invalid');
  assert.equal(key('./api:users'), './api:users');
  assert.equal(key(`${root}/api:users`), './api:users');
  assert.equal(key('./ api:users'), './ api:users');
  assert.equal(key('./C:/x'), './C:/x');
  assert.equal(key('src/api:users'), 'src/api:users');
  assert.equal(key('apis:users'), 'apis:users');
  assert.equal(isLogicalKey('api:users'), true);
  assert.equal(isLogicalKey('./api:users'), false);
});

test('[LOCK-9] an unreadable folder refuses rather than guesses', () => {
  const blocked: FileSystem = {
    ...nodeFileSystem,
    lstat: (path) => {
      if (path.includes('/locked/')) throw Object.assign(new Error('no'), { code: 'EACCES' });
      return nodeFileSystem.lstat(path);
    },
  };
  mkdirSync(join(root, 'locked'));
  chmodSync(join(root, 'locked'), 0o000);
  assert.equal(code('locked/a', {}, findWorkspace(root, blocked)), 'path_unreadable');
  assert.equal(key('locked', {}, findWorkspace(root, blocked)), 'locked');
});

/** Windows in memory: names without case, back slashes from the system, one junction, one short name. */
function windowsDisk(): FileSystem {
  const links: Record<string, string> = { 'c:/repo/junction': '\\\\?\\C:\\Repo\\src' };
  const folders = ['c:/', 'c:/repo', 'c:/repo/src', 'c:/repo/longna~1', 'c:/repo/longname', 'd:/'];
  const kindOf = (path: string): string | undefined =>
    links[path] ? 'link' : folders.includes(path) ? 'folder' : undefined;
  return {
    windows: true,
    lstat: (path) => {
      const kind = kindOf(path.toLowerCase());
      if (kind === undefined) return undefined;
      const ino = path.toLowerCase().length;
      const is = (wanted: string) => () => kind === wanted;
      return {
        mtimeMs: 0,
        ino,
        dev: 1,
        isFile: is('file'),
        isDirectory: is('folder'),
        isSymbolicLink: is('link'),
      };
    },
    readlink: (path) => links[path.toLowerCase()] ?? '',
    realpath: (path) => path.replace(/longna~1/i, 'LongName').replaceAll('/', '\\'),
    readFile: () => '',
    readdir: () => ['src'],
  };
}

test('[LOCK-9] Windows: drives, back slashes, junctions, short names, trailing dots', () => {
  const from = findWorkspace('C:\\Repo', windowsDisk());
  assert.equal(from.root, 'C:/Repo');
  assert.equal(from.caseInsensitive, true);
  for (const input of [
    'SRC\\a.ts',
    'c:\\repo\\src\\A.TS',
    'C:/REPO/src/a.ts',
    '\\\\?\\C:\\Repo\\src\\a.ts',
    'junction\\a.ts',
    'src\\a.ts. .',
    '\\repo\\src\\a.ts',
  ]) {
    assert.equal(key(input, {}, from), 'src/a.ts', input);
  }
  assert.equal(key('a.ts', { cwd: 'C:\\Repo\\src' }, from), 'src/a.ts');
  assert.equal(key('LONGNA~1\\a', {}, from), 'longname/a');
  assert.equal(code('D:\\repo\\a', {}, from), 'path_outside_repository');
  assert.equal(code('C:\\Repo-evil\\a', {}, from), 'path_outside_repository');
  for (const input of ['a.ts:stream', 'C:a.ts', 'src\\...'])
    assert.equal(code(input, {}, from), 'path_invalid');
  for (const input of ['.git\\x', '.GIT', 'git~1\\x', '.git.'])
    assert.equal(code(input, {}, from), 'path_in_git_dir');
  assert.equal(key('a', {}, findWorkspace('D:\\', windowsDisk())), 'a');
});

test('[LOCK-9] containment goes by whole names', () => {
  assert.equal(contains('src', 'src/a.ts'), true);
  assert.equal(contains('src', 'src'), true);
  assert.equal(contains('src', 'src2/a.ts'), false);
  assert.equal(contains('src/a.ts', 'src'), false);
  assert.equal(contains('.', 'src/a.ts'), true);
  assert.equal(contains('C:', './C:/x'), true);
  assert.equal(contains('./api:', './api:/x'), true);
  assert.equal(contains('api:users', 'api:users'), true);
  assert.equal(contains('api:users', 'api:users/1'), false);
  assert.equal(contains('.', 'api:users'), false);
});
