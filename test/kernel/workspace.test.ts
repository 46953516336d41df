import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type FileSystem, nodeFileSystem } from '../../src/kernel/file-system.ts';
import { normalisePath } from '../../src/kernel/path.ts';
import {
  findWorkspace,
  foldCase,
  probeCaseInsensitive,
  readCoreConfig,
  type Workspace,
} from '../../src/kernel/workspace.ts';

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cox-workspace-')));
});

afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

// Only PATH comes from outside: run from a git hook, GIT_DIR would point at the wrong repository.
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

function repository(name = 'repo'): string {
  const root = join(base, name);
  git(base, 'init', '-q', root);
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  return root;
}

function workTrees(workspace: Workspace): string[] {
  return workspace
    .trees()
    .filter((tree) => tree.kind === 'work')
    .map((tree) => tree.path)
    .sort();
}

test('[LOCK-9] the root of a plain repository is found from any folder in it, symlinks resolved', () => {
  const root = repository();
  mkdirSync(join(root, 'src/deep'), { recursive: true });
  symlinkSync(root, join(base, 'alias'));
  for (const cwd of [
    root,
    join(root, 'src/deep'),
    join(base, 'alias/src'),
    `${root}//src/`,
    join(root, '.git/hooks'),
  ]) {
    const workspace = findWorkspace(cwd);
    assert.equal(workspace.root, root);
    assert.equal(workspace.gitCommonDir, join(root, '.git'));
    assert.deepEqual(workTrees(workspace), [root]);
  }
});

test('[LOCK-9] without git the cwd is the root, existing or not', () => {
  assert.equal(findWorkspace(base).root, base);
  assert.equal(findWorkspace(base).gitCommonDir, undefined);
  assert.equal(findWorkspace(join(base, 'new')).root, join(base, 'new'));
  assert.throws(() => findWorkspace('relative'), /absolute/);
});

test('[LOCK-9] an empty .git folder, a broken .git file and a pipe are not repositories', () => {
  mkdirSync(join(base, 'empty/.git'), { recursive: true });
  mkdirSync(join(base, 'broken'));
  writeFileSync(join(base, 'broken/.git'), 'gitdir: ../gone\n');
  mkdirSync(join(base, 'pipe'));
  execFileSync('mkfifo', [join(base, 'pipe/.git')]);
  for (const name of ['empty', 'broken', 'pipe']) {
    assert.equal(findWorkspace(join(base, name)).gitCommonDir, undefined, name);
  }
});

test('[LOCK-9] without git the nearest folder with a store is the root, up to the home directory', () => {
  const folder = (path: string) => mkdirSync(join(base, path), { recursive: true });
  const rootOf = (path: string, home?: string) =>
    findWorkspace(join(base, path), nodeFileSystem, Date.now, home && join(base, home)).root;
  folder('p/sub/deep');
  folder('p/.coxswain');
  for (const path of ['p', 'p/sub/deep', 'p/new', 'p/.coxswain'])
    assert.equal(rootOf(path), join(base, 'p'), path);
  assert.equal(rootOf('p/sub', 'p'), join(base, 'p'), 'the home directory itself counts');
  assert.equal(rootOf('p/sub', 'p/sub'), join(base, 'p/sub'), 'what is above it does not');
  folder('p/events/.coxswain');
  writeFileSync(join(base, 'p/events/.coxswain/state.db'), '');
  assert.equal(rootOf('p/events'), join(base, 'p'), 'a log in files is no workspace');
  chmodSync(join(base, 'p'), 0o1777);
  assert.equal(rootOf('p/sub'), join(base, 'p/sub'), 'in a folder for everybody anybody may have made it');
  const root = repository('p/repo');
  assert.equal(findWorkspace(root).root, root);
});

test('[LOCK-9] a work tree whose repository was moved is known as such, from any folder in it', () => {
  const root = repository();
  git(root, 'worktree', 'add', '-q', join(base, 'tree'));
  mkdirSync(join(base, 'tree/src'));
  renameSync(root, join(base, 'elsewhere'));
  for (const cwd of ['tree', 'tree/src']) {
    const { root: top, gitCommonDir, dangling } = findWorkspace(join(base, cwd));
    assert.deepEqual([top, gitCommonDir], [join(base, 'tree'), undefined]);
    assert.deepEqual(dangling, { file: join(base, 'tree/.git'), target: join(root, '.git/worktrees/tree') });
  }
  git(join(base, 'elsewhere'), 'worktree', 'repair', join(base, 'tree'));
  const mended = findWorkspace(join(base, 'tree'));
  assert.deepEqual([mended.gitCommonDir, mended.dangling], [join(base, 'elsewhere/.git'), undefined]);
});

test('[LOCK-9] a worktree has its own root, the shared git folder, and knows every other tree', () => {
  const root = repository();
  git(root, 'worktree', 'add', '-q', join(base, 'outside'));
  git(root, 'worktree', 'add', '-q', join(root, '.trees/inside'));
  const all = [root, join(base, 'outside'), join(root, '.trees/inside')].sort();
  for (const tree of all) {
    const workspace = findWorkspace(tree);
    assert.equal(workspace.root, tree);
    assert.equal(workspace.gitCommonDir, join(root, '.git'));
    assert.deepEqual(workTrees(workspace), all);
  }
  assert.equal(findWorkspace(join(root, '.git/worktrees/outside')).root, join(base, 'outside'));
});

test('[LOCK-9] relative gitdir entries, as newer git writes them, are understood', () => {
  const root = repository();
  git(root, 'worktree', 'add', '-q', join(base, 'w'));
  writeFileSync(join(base, 'w/.git'), 'gitdir: ../repo/.git/worktrees/w\n');
  writeFileSync(join(root, '.git/worktrees/w/gitdir'), '../../../../w/.git\n');
  assert.deepEqual(workTrees(findWorkspace(join(base, 'w'))), [root, join(base, 'w')].sort());
});

test('[LOCK-9] worktrees added, moved and removed later are seen by the next call', () => {
  const root = repository();
  const workspace = findWorkspace(root);
  const moved = join(root, 'nested/w');
  assert.deepEqual(workTrees(workspace), [root]);
  git(root, 'worktree', 'add', '-q', join(base, 'w'));
  assert.deepEqual(workTrees(workspace), [root, join(base, 'w')].sort());
  mkdirSync(join(root, 'nested'));
  git(root, 'worktree', 'move', join(base, 'w'), moved);
  assert.deepEqual(workTrees(workspace), [root, moved].sort());
  git(root, 'worktree', 'remove', moved);
  assert.deepEqual(workTrees(workspace), [root]);
});

test('[LOCK-9] a settled list is not read again until git changes it, a fresh one always is', () => {
  const root = repository();
  git(root, 'worktree', 'add', '-q', join(base, 'w'));
  let reads = 0;
  const fs: FileSystem = {
    ...nodeFileSystem,
    readdir: (path) => {
      reads += 1;
      return nodeFileSystem.readdir(path);
    },
  };
  const fresh = findWorkspace(root, fs);
  reads = 0;
  fresh.trees();
  fresh.trees();
  assert.equal(reads, 2, 'a change within the same tick of the disk clock must not be missed');
  // Really long ago: a change within the tick in which they were made would not show, as nothing younger is taken for settled.
  const past = new Date(Date.now() - 60_000);
  for (const path of ['.git/worktrees', '.git/worktrees/w/gitdir']) utimesSync(join(root, path), past, past);
  let now_ms = Date.now();
  const settled = findWorkspace(root, fs, () => now_ms);
  reads = 0;
  settled.trees();
  settled.trees();
  assert.equal(reads, 1);
  git(root, 'worktree', 'move', join(base, 'w'), join(base, 'x'));
  // It looks only so often; git may be quicker than that.
  now_ms += 60_000;
  assert.deepEqual(workTrees(settled), [root, join(base, 'x')].sort());
});

test('[LOCK-9] a folder is not looked at again for a moment; a link that is made counts at once', () => {
  const root = repository();
  mkdirSync(join(root, 'real'));
  mkdirSync(join(root, 'old'));
  let now_ms = 1_000_000;
  let looks = 0;
  const fs: FileSystem = {
    ...nodeFileSystem,
    lstat: (path) => {
      looks += 1;
      return nodeFileSystem.lstat(path);
    },
  };
  const workspace = findWorkspace(root, fs, () => now_ms);
  const keyOf = (path: string) => normalisePath(path, workspace);
  assert.deepEqual(keyOf('old/a.ts'), { ok: true, key: 'old/a.ts' });
  assert.deepEqual(keyOf('new/a.ts'), { ok: true, key: 'new/a.ts' });
  looks = 0;
  assert.deepEqual(keyOf('old/b.ts'), { ok: true, key: 'old/b.ts' });
  assert.equal(looks, 1, 'only the file itself');
  symlinkSync('real', join(root, 'new'));
  assert.deepEqual(keyOf('new/a.ts'), { ok: true, key: 'real/a.ts' });
  rmSync(join(root, 'old'), { recursive: true });
  symlinkSync('real', join(root, 'old'));
  now_ms += 3;
  assert.deepEqual(keyOf('old/a.ts'), { ok: true, key: 'real/a.ts' });
  // A clock that is set back makes nothing younger.
  rmSync(join(root, 'real'), { recursive: true });
  mkdirSync(join(root, 'other'));
  symlinkSync('other', join(root, 'real'));
  now_ms -= 1_000;
  assert.deepEqual(keyOf('old/a.ts'), { ok: true, key: 'other/a.ts' });
});

test('[LOCK-9] a worktree whose folder was deleted by hand does no harm', () => {
  const root = repository();
  git(root, 'worktree', 'add', '-q', join(base, 'w'));
  rmSync(join(base, 'w'), { recursive: true });
  assert.deepEqual(workTrees(findWorkspace(root)), [root, join(base, 'w')].sort());
  rmSync(join(root, '.git/worktrees/w/gitdir'));
  assert.deepEqual(workTrees(findWorkspace(root)), [root]);
});

test('[LOCK-9] a submodule is a repository of its own', () => {
  const library = repository('library');
  const root = repository();
  git(root, 'submodule', '--quiet', 'add', library, 'sub');
  const workspace = findWorkspace(join(root, 'sub'));
  assert.equal(workspace.root, join(root, 'sub'));
  assert.equal(workspace.gitCommonDir, join(root, '.git/modules/sub'));
  assert.deepEqual(workTrees(workspace), [join(root, 'sub')]);
  assert.equal(findWorkspace(join(root, '.git/modules/sub')).root, join(root, 'sub'));
  assert.equal(findWorkspace(root).root, root);
});

test('[LOCK-9] a bare repository maps its worktrees and has no files of its own', () => {
  const source = repository('source');
  const bare = join(base, 'bare.git');
  git(base, 'clone', '-q', '--bare', source, bare);
  git(bare, 'worktree', 'add', '-q', join(base, 'w'));
  git(bare, 'worktree', 'add', '-q', join(bare, 'inner'));
  const all = [join(base, 'w'), join(bare, 'inner')].sort();
  for (const cwd of [bare, join(base, 'w'), join(bare, 'inner')]) {
    const workspace = findWorkspace(cwd);
    assert.equal(workspace.root, cwd);
    assert.equal(workspace.gitCommonDir, bare);
    assert.deepEqual(workTrees(workspace), all);
  }
});

test('[LOCK-9] a separate git folder, and a .git that is a symlink', () => {
  git(base, 'init', '-q', '--separate-git-dir', join(base, 'elsewhere'), join(base, 'tree'));
  assert.equal(findWorkspace(join(base, 'tree')).gitCommonDir, join(base, 'elsewhere'));
  const root = repository();
  renameSync(join(root, '.git'), join(base, 'moved'));
  symlinkSync(join(base, 'moved'), join(root, '.git'));
  assert.equal(findWorkspace(root).root, root);
  assert.equal(findWorkspace(root).gitCommonDir, join(base, 'moved'));
});

test('[LOCK-9] core.ignorecase decides about case; without it the disk is asked', () => {
  const root = repository();
  assert.equal(findWorkspace(root).caseInsensitive, probeCaseInsensitive(nodeFileSystem, root));
  for (const [value, expected] of [
    ['true', true],
    ['false', false],
    ['yes', true],
    ['0', false],
  ] as const) {
    git(root, 'config', 'core.ignorecase', value);
    assert.equal(findWorkspace(root).caseInsensitive, expected, value);
  }
});

test('[LOCK-9] the probe looks for the same file under a flipped name, and never writes', () => {
  writeFileSync(join(base, 'Readme'), '');
  const folding: FileSystem = {
    ...nodeFileSystem,
    lstat: (path) => nodeFileSystem.lstat(path) ?? nodeFileSystem.lstat(path.replace('rEADME', 'Readme')),
  };
  const before = nodeFileSystem.readdir(base);
  assert.equal(probeCaseInsensitive(folding, base), true);
  assert.equal(
    probeCaseInsensitive({ ...nodeFileSystem, lstat: (path) => nodeFileSystem.lstat(path) }, '/'),
    false,
  );
  writeFileSync(join(base, 'rEADME'), '');
  assert.equal(probeCaseInsensitive(nodeFileSystem, base), false, 'two files that differ in case');
  assert.deepEqual(before, ['Readme']);
});

test('[LOCK-9] the part of git config that matters is read as git reads it', () => {
  const text =
    '[core]\n\tbare = false # no\n[Core] ignoreCase\n[core "x"]\n\tbare = true\n[other]\nworktree = no\n';
  const core = readCoreConfig(`${text}[core]\n\tworktree = "a \\"b\\" ; c" ; d\n`);
  assert.deepEqual(
    [...core],
    [
      ['bare', 'false'],
      ['ignorecase', 'true'],
      ['worktree', 'a "b" ; c'],
    ],
  );
});

test('[LOCK-9] folding twice changes nothing, for every character there is', () => {
  for (let code = 1; code <= 0x10ffff; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const folded = foldCase(String.fromCodePoint(code));
    if (foldCase(folded) !== folded || (folded.includes('/') && code !== 0x2f))
      assert.fail(`U+${code.toString(16)}`);
  }
  assert.equal(foldCase('ΑΣ'), foldCase('ας'));
  assert.equal(foldCase('STRASSE'), foldCase('straße'));
  assert.equal(foldCase('É'), foldCase('e\u0301'));
});
