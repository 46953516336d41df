import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { assessCommand } from '../../../src/features/guardrails/assess.ts';
import { assessCommandIn } from '../../../src/features/guardrails/assess-operation.ts';
import { type ExcuseRule, excuse } from '../../../src/features/guardrails/excuse.ts';
import { gatherFacts } from '../../../src/features/guardrails/git-facts.ts';

let folder: string;
let root: string;

function write(path: string, text = `${path}\n`): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...words: string[]): void {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], {
    cwd: root,
    env,
    stdio: 'pipe',
  });
}

before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'cox-excuse-')));
  root = join(folder, 'home', 'repo');
  for (const path of ['src/clean.ts', 'src/dirty.ts', 'old/a.ts', 'old/b.ts', 'dist.md', 'tracked/dist/a.js'])
    write(path);
  write('.gitignore', 'node_modules/\ndist/\n*.log\n/data\n/secret-work\n');
  write("we'ird\nname/a.ts");
  write('-rf/a.ts');
  git('init', '-q', '-b', 'main');
  git('add', '--all', '--force');
  git('commit', '-qm', 'start');
  write('src/dirty.ts', 'work of today\n');
  for (const path of [
    'notes/plan.md',
    'dist/app.js',
    'node_modules/a/index.js',
    'data/app.db',
    'x.log',
    'untracked-build/x',
  ])
    write(path);
  write('staged/a.ts');
  git('add', 'staged/a.ts');
  mkdirSync(join(folder, 'elsewhere'));
  writeFileSync(join(folder, 'elsewhere', 'precious'), 'x');
  symlinkSync(join(folder, 'elsewhere'), join(root, 'link'));
});

after(() => rmSync(folder, { recursive: true, force: true }));

async function judged(command: string, off: readonly ExcuseRule[] = []): Promise<string> {
  const place = { cwd: root, root, home: dirname(root) };
  const assessment = assessCommand(command, place);
  const { findings, excused } = excuse(assessment, place, await gatherFacts(assessment, place), off);
  if (assessment.findings.length === 0) return 'nothing found';
  return findings.length > 0 ? 'found' : [...new Set(excused.map(({ rule }) => rule))].join(' ');
}

test('[GUARD-8] git itself says what a removal would lose', async () => {
  const rows: [string, string][] = [
    ['rm -rf node_modules', 'build_output'],
    ['rm -rf dist node_modules', 'build_output'],
    ['rm -rf ./dist/', 'build_output'],
    ['rm -rf dist/*', 'build_output'],
    ['cd src && rm -rf ../dist', 'build_output'],
    ['rm -rf untracked-build', 'found'],
    // Ignored, and of no kind that a build makes again.
    ['rm -rf data', 'found'],
    ['rm -rf secret-work', 'found'],
    ['rm -rf old', 'committed_files'],
    ['rm -rf old src', 'found'],
    ['rm -rf src', 'found'],
    ['rm -rf src/clean.ts', 'committed_files'],
    ['rm -rf staged', 'found'],
    ['rm -rf notes', 'found'],
    ['rm -rf nothing-there', 'found'],
    ['rm -rf .', 'found'],
    ['rm -rf *', 'found'],
    ['rm -rf ./*', 'found'],
    ['rm -rf ..', 'found'],
    ['cd old && rm -rf .', 'committed_files'],
    ['cd old && rm -rf ../src', 'found'],
    ['rm -rf /', 'found'],
    ['rm -rf ../repo', 'found'],
    ['rm -rf tracked/dist', 'committed_files'],
    ["rm -rf $'we\\'ird\\nname'", 'committed_files'],
    ['rm -rf -- -rf', 'committed_files'],
    ['rm -rf link/', 'found'],
    ['rm -rf link/precious', 'found'],
    ['git checkout -- src/clean.ts', 'committed_files'],
    ['git checkout -- src/dirty.ts', 'found'],
    ['git restore old', 'committed_files'],
    [': > src/clean.ts', 'committed_files'],
    [': > src/dirty.ts', 'found'],
    [': > src/new.ts', 'committed_files'],
    // The workspace lies below /tmp; that alone makes nothing in it temporary.
    [`rm -rf ${'$'}PWD/notes`, 'found'],
    ['rm -rf ../other', 'found'],
    ['rm -rf /tmp/cox-nobody', 'temporary_files'],
    ['rm -rf /tmp/*', 'found'],
    ['rm -rf /tmp', 'found'],
    ['rm -rf src/a.bak', 'temporary_files'],
    ['mv notes dist && rm -rf dist', 'found'],
    ['ln -s ~ dist && rm -rf dist/*', 'found'],
    ['rm -rf dist; cd /srv && rm -rf dist', 'found'],
  ];
  const seen: [string, string][] = [];
  for (const [command] of rows) seen.push([command, await judged(command)]);
  assert.deepEqual(seen, rows);
});

test('[GUARD-8] each rule can be switched off by its name', async () => {
  assert.equal(await judged('rm -rf dist', ['build_output']), 'found');
  assert.equal(await judged('rm -rf /tmp/cox-nobody', ['temporary_files']), 'found');
  assert.equal(await judged('rm -rf old', ['committed_files']), 'found');
  assert.equal(await judged('rm -rf dist', ['temporary_files', 'committed_files']), 'build_output');
});

test('[GUARD-8] where git cannot be asked nothing is excused by it', async () => {
  const place = { cwd: folder, root: folder, home: folder };
  const assessment = assessCommand('rm -rf dist old', place);
  const { findings } = excuse(assessment, place, await gatherFacts(assessment, place));
  assert.equal(findings.length, 1);
});

test('[GUARD-8] in a linked worktree of its own an agent may discard what is uncommitted, if a person allows it', async () => {
  const tree = join(folder, 'home', 'tree');
  git('worktree', 'add', '-q', tree);
  const allowed = { COX_OWN_WORKTREE: 'discard' };
  const found = async (command: string, at = tree, env: NodeJS.ProcessEnv = allowed) =>
    (await assessCommandIn(command, { root: at, env: { HOME: folder, ...env } })).map(
      ({ operation }) => operation,
    );
  const LOCAL = [
    'git reset --hard',
    'git checkout -f',
    'git clean -fd',
    'git restore src/clean.ts',
    'git checkout -- .',
  ];
  writeFileSync(join(tree, 'src/clean.ts'), 'changed here\n');
  for (const command of LOCAL) {
    assert.deepEqual(await found(command), [], command);
    assert.notDeepEqual(await found(command, tree, {}), [], `${command}, and no person has allowed it`);
    assert.notDeepEqual(await found(command, tree, { COX_OWN_WORKTREE: 'yes' }), [], command);
  }
  for (const command of ['git reset --hard', 'git checkout -f'])
    assert.notDeepEqual(await found(command, root), [], `${command} in the main work tree`);
  for (const command of [
    `git -C ${root} reset --hard`,
    `cd ${root} && git reset --hard`,
    `git --work-tree=${root} checkout -f`,
    `GIT_WORK_TREE=${root} git reset --hard`,
    'git reset --hard; cd "$X" && git reset --hard',
    'git stash clear',
    'git push --force origin main',
    'git worktree remove --force ../other',
  ])
    assert.notDeepEqual(await found(command), [], command);
});
