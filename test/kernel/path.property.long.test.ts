import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { isLogicalKey } from '../../src/kernel/area.ts';
import { normalisePath, PATH_KEY_BYTES_MAX } from '../../src/kernel/path.ts';
import { findWorkspace, type Workspace } from '../../src/kernel/workspace.ts';

const RUNS = 20_000;

let base: string;
let root: string;
let worktree: string;
let workspace: Workspace;
let folding: Workspace;

function git(cwd: string, ...args: string[]): void {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', [...identity, ...args], { cwd, env, stdio: 'pipe' });
}

before(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cox-path-property-')));
  root = join(base, 'repo');
  worktree = join(base, 'w');
  git(base, 'init', '-q', root);
  git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  git(root, 'worktree', 'add', '-q', worktree);
  for (const tree of [root, worktree]) {
    mkdirSync(join(tree, 'src/deep'), { recursive: true });
    writeFileSync(join(tree, 'src/a.ts'), '');
    symlinkSync('src/deep', join(tree, 'deep-link'));
    symlinkSync(join(tree, 'src'), join(tree, 'src-link'));
    symlinkSync('..', join(tree, 'up'));
    symlinkSync('src/later', join(tree, 'dangling'));
    symlinkSync('loop', join(tree, 'loop'));
  }
  // Far enough ahead for the list of worktrees to count as settled, so that the cache is tested too.
  workspace = findWorkspace(root, undefined, () => Date.now() + 60_000);
  git(root, 'config', 'core.ignorecase', 'true');
  folding = findWorkspace(root, undefined, () => Date.now() + 60_000);
});

after(() => {
  rmSync(base, { recursive: true, force: true });
});

const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('src', 'deep', 'a.ts', 'deep-link', 'src-link', 'up', 'dangling', 'later'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('..', '.', '', '...', 'loop', '.git', '.gitignore', 'new', 'repo', 'w'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('api:x', 'C:', '~', ' ', ' db:', 'é', 'e\u0301', 'SRC', 'ſ', 'Σ', 'ß'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);
const spelled = fc
  .tuple(fc.constantFrom('', './', '/', 'ROOT/', 'WORKTREE/', 'C:\\', '~/'), fc.array(name, { maxLength: 8 }))
  .chain(([prefix, names]) => fc.constantFrom('/', '\\').map((separator) => prefix + names.join(separator)));
const absolute = (text: string): string => text.replace('ROOT', root).replace('WORKTREE', worktree);
const anything = fc.oneof(spelled, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));

function assertSound(key: string, input: string): void {
  assert.ok(Buffer.byteLength(key) <= PATH_KEY_BYTES_MAX, input);
  assert.equal(key, key.normalize('NFC'), input);
  if (isLogicalKey(key)) return;
  const names = (key.startsWith('./') ? key.slice(2) : key).split('/');
  for (const part of names) assert.ok(!['', '.', '..', '.git'].includes(part), `${input} → ${key}`);
  assert.ok(!key.includes('\\') && !key.startsWith('/'), `${input} → ${key}`);
}

test('[LOCK-9] nothing throws, no key escapes, and a key is its own normal form', () => {
  let accepted = 0;
  fc.assert(
    fc.property(anything, fc.boolean(), (text, folds) => {
      const input = absolute(text);
      const from = folds ? folding : workspace;
      const result = normalisePath(input, from);
      if (!result.ok) return;
      accepted += 1;
      assertSound(result.key, input);
      assert.deepEqual(normalisePath(result.key, from), result, input);
    }),
    { numRuns: RUNS },
  );
  assert.ok(accepted > RUNS / 10, `only ${accepted} inputs were accepted: the property says little`);
});

test('[LOCK-9] the key is the file that the operating system would open', () => {
  let compared = 0;
  fc.assert(
    fc.property(spelled, (text) => {
      const input = absolute(text);
      if (/[\\\0~]|^C:|^\s*(?:api|db):/.test(input)) return;
      const result = normalisePath(input, workspace);
      let opened: string;
      try {
        opened = realpathSync.native(input.startsWith('/') ? input : `${root}/${input}`);
      } catch {
        return;
      }
      compared += 1;
      const tree = [root, worktree].find((path) => `${opened}/`.startsWith(`${path}/`));
      const relative = tree && opened.slice(tree.length + 1);
      if (!relative || /(?:^|\/)\.git(?:\/|$)/.test(relative)) assert.equal(result.ok, false, input);
      else assert.deepEqual(result, { ok: true, key: relative }, input);
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared > RUNS / 20, `only ${compared} inputs exist on disk`);
});

test('[LOCK-9] however a file is spelled, its key is the same', () => {
  const files = fc.constantFrom(
    'src/a.ts',
    'src/deep/b.ts',
    'src/new/c.ts',
    'caf\u00e9/d.ts',
    'api:x/e.ts',
    'f',
  );
  const noise = fc.constantFrom('', './', 'gone/../', './/', 'src/../', 'gone/away/../../', '.\\');
  const prefix = fc.constantFrom(
    './',
    'ROOT/',
    'WORKTREE/',
    'ROOT/../repo/',
    'up/repo/',
    '../w/',
    'deep-link/../../',
  );
  const ending = fc.constantFrom('', '/', '//', '/.');
  fc.assert(
    fc.property(files, prefix, noise, fc.array(noise, { maxLength: 3 }), ending, fc.boolean(), (...drawn) => {
      const [file, start, before, between, end, decomposed] = drawn;
      const [first = '', ...others] = file.split('/');
      const viaLink = first === 'src' && between.length === 2 ? 'src-link' : first;
      const tail = others.map((part, index) => (between[index] ?? '').replace('src/../', '') + part);
      const spelling = absolute(start) + before + [viaLink, ...tail].join('/') + end;
      const expected = { ok: true, key: file.startsWith('api:') ? `./${file}` : file };
      const input = decomposed ? spelling.normalize('NFD') : spelling;
      assert.deepEqual(normalisePath(input, workspace), expected, input);
      assert.deepEqual(
        normalisePath(
          input.replace(/[a-z.]+$/, (tailName) => tailName.toUpperCase()),
          folding,
        ),
        expected,
      );
    }),
    { numRuns: RUNS },
  );
});
