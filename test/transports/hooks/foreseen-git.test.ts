import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { git, Stage } from './support.ts';

/** `side` changes a.txt, `other` changes b.txt, and `main` has a commit of its own; the newest stash has a.txt, the one before b.txt. */
function branched(stage: Stage): void {
  const { repo } = stage;
  const commit = (file: string, text: string) => {
    writeFileSync(join(repo, file), text);
    git(repo, 'add', '-A');
    git(repo, 'commit', '-q', '-m', `${file} ${text.trim()}`);
  };
  commit('bare', 'without an ending\n');
  commit('a.txt', 'two\n');
  git(repo, 'tag', 'two');
  git(repo, 'checkout', '-q', '-b', 'moved', 'two');
  git(repo, 'mv', 'a.txt', 'z.txt');
  commit('b.txt', 'one\n');
  writeFileSync(join(stage.folder, 'moved.patch'), git(repo, 'format-patch', '-1', '--stdout'));
  for (const [branch = '', file = ''] of [
    ['side', 'a.txt'],
    ['other', 'b.txt'],
  ]) {
    git(repo, 'checkout', '-q', '-b', branch, 'two');
    commit(file, `of ${branch}\n`);
    writeFileSync(join(stage.folder, `${branch}.patch`), git(repo, 'format-patch', '-1', '--stdout'));
  }
  git(repo, 'checkout', '-q', 'main');
  commit('src/c.ts', 'of main\n');
  git(repo, 'branch', '-q', '--set-upstream-to=side');
  for (const [alias = '', text = ''] of [
    ['co', 'checkout'],
    ['again', 'co -q'],
    ['wipe', '!git reset --hard'],
    ['from', '!f() { git checkout "$1" -- "$2"; }; f'],
    ['st', 'status -sb'],
    ['loop', 'round'],
    ['round', 'loop'],
  ])
    git(repo, 'config', `alias.${alias}`, text);
  for (const file of ['b.txt', 'a.txt']) {
    writeFileSync(join(repo, file), 'in the stash\n');
    git(repo, 'stash', '-q');
  }
}

/** What it really does, in a copy of the repository: git gives a file that it writes another time. */
function changesIt(stage: Stage, command: string): boolean {
  const copy = join(stage.folder, 'copy', 'repo');
  cpSync(stage.repo, copy, { recursive: true });
  for (const branch of ['side', 'other', 'moved'])
    cpSync(join(stage.folder, `${branch}.patch`), join(stage.folder, 'copy', `${branch}.patch`));
  git(copy, 'update-index', '-q', '--refresh');
  const written = () => statSync(join(copy, 'a.txt'), { throwIfNoEntry: false, bigint: true })?.mtimeNs;
  const before = written();
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const run = spawnSync('bash', ['-c', command], {
    cwd: copy,
    env: { ...stage.env, ...identity },
    encoding: 'utf8',
  });
  const changed = written() !== before;
  assert.ok(changed || run.status === 0, `${command}: ${run.stderr}`);
  rmSync(join(stage.folder, 'copy'), { recursive: true });
  return changed;
}

const CHANGING = [
  'git checkout side',
  'git checkout -b topic side',
  'git checkout --detach side~0',
  'git switch side',
  'git checkout -m side',
  'git switch -c topic side',
  'git switch --orphan topic',
  'git reset --hard side',
  'git reset --keep side',
  'git merge side',
  'git merge -m both --no-ff side',
  'git merge --squash other side',
  'git merge',
  'git pull --no-rebase -q',
  'git pull --no-rebase . side',
  'git pull --rebase . side',
  'git cherry-pick side',
  'git cherry-pick main..side',
  'git revert --no-edit two',
  'git rebase side',
  'git rebase',
  'git rebase --onto two~1 two',
  'git stash pop',
  'git stash apply stash@{0}',
  'git stash branch topic',
  'git read-tree -m -u side',
  'git sparse-checkout set --no-cone src',
  'git sparse-checkout set --no-cone src && git sparse-checkout disable',
  'git apply ../side.patch',
  'git apply < ../side.patch',
  'cat ../side.patch | git apply -3',
  'git apply ../moved.patch',
  'git am ../side.patch',
  'git am -q < ../side.patch',
  'cd src && git am -q ../../side.patch',
  'git -C src checkout side',
  'git checkout -q other && git merge -q side -m x',
  'git checkout other; git reset --hard side',
  'git checkout -q two && git reset --keep HEAD~1',
  'git diff two side -- a.txt | git apply',
  'git --no-pager show two -- a.txt | git apply -R -',
  'cd src && git stash show -p | git -C .. apply --index',
  'git format-patch --stdout two..side | git am -q',
  'git co side',
  'git -C src again side',
  'git wipe side',
  'git from side a.txt',
] as const;

const HARMLESS = [
  'git checkout other',
  'git checkout -B topic',
  'git checkout bare',
  'git switch -',
  'git switch -c topic other',
  'git reset --hard',
  'git reset --hard HEAD~1',
  'git reset --keep other',
  'git merge -m x other',
  'git merge -q -m x other && git merge -q --no-edit two',
  'git pull --no-rebase -q . other',
  'git cherry-pick other',
  'git revert --no-edit main',
  'git rebase -q other',
  'git stash pop stash@{1}',
  'git read-tree -m -u other',
  'git sparse-checkout set src',
  'git sparse-checkout list || git sparse-checkout reapply || true',
  'git apply ../other.patch',
  'git am -q ../other.patch',
  'cd src && git apply ../../side.patch',
  'git checkout -q other && git rebase -q main',
  'git merge --abort || true',
  'git diff two other | git apply --index',
  'git format-patch --stdout -1 other | git am -q',
  'git again other',
  'git from other b.txt',
  'git st; git nothing || git loop || true',
] as const;

test('[LOCK-12] git is asked what a command for the whole tree would change: a held file is not among it', async () => {
  await using stage = new Stage();
  branched(stage);
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt', reason: 'rename the router' });
  const bob = stage.agent('bob');
  const before = git(stage.repo, 'rev-parse', 'HEAD', 'stash@{0}', 'HEAD^{tree}');
  for (const command of CHANGING) {
    assert.ok(changesIt(stage, command), `${command} was to change it`);
    const { denied = '' } = await bob.shell(command);
    assert.match(
      denied,
      /^Coxswain: `git [\w -]+` (?:is an alias that )?would change files that others hold/,
      command,
    );
    assert.match(denied, /\na\.txt is locked by alice .*"rename the router"/, command);
  }
  assert.equal(git(stage.repo, 'rev-parse', 'HEAD', 'stash@{0}', 'HEAD^{tree}'), before);
  assert.equal(git(stage.repo, 'status', '--porcelain'), '');
});

test('[LOCK-12] a command for the whole tree that would not change the held file goes ahead', async () => {
  await using stage = new Stage();
  branched(stage);
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' });
  const bob = stage.agent('bob');
  for (const command of HARMLESS) {
    assert.equal(changesIt(stage, command), false, `${command} was not to change it`);
    assert.equal((await bob.shell(command)).denied, undefined, command);
  }
});

test('[LOCK-12] a holder that is at work in another tree keeps no command from this one', async () => {
  await using stage = new Stage();
  branched(stage);
  const tree = join(stage.folder, 'tree');
  git(stage.repo, 'worktree', 'add', '-q', tree, '-b', 'topic');
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' });
  const inTree = stage.agent('bob', 'claude-code', { cwd: tree });
  const isDenied = async (agent = inTree) =>
    /a\.txt is locked by alice/.test((await agent.shell('git merge side')).denied ?? '');
  assert.ok(await isDenied(), 'she may be at work here');
  writeFileSync(join(stage.repo, 'a.txt'), 'work of alice\n');
  assert.equal(await isDenied(), false, 'her changes are there');
  assert.ok(await isDenied(stage.agent('bob')), 'and there they count');
  writeFileSync(join(tree, 'a.txt'), 'more work\n');
  assert.ok(await isDenied(), 'there are changes here as well');
  for (const root of [stage.repo, tree]) git(root, 'checkout', '-q', '--', 'a.txt');
  if (process.platform !== 'linux') return;
  for (const cwd of [stage.repo, tree]) {
    const client = spawn('sleep', ['60'], { cwd, env: { ...stage.env, SESSION_ID: 'alice-1' } });
    await once(client, 'spawn');
    assert.equal(await isDenied(), cwd === tree, `she is in ${cwd}`);
    client.kill();
    await once(client, 'close');
  }
});

test('[LOCK-12] a silent holder keeps nothing, a pattern what it matches; under `warn` it is only said', async () => {
  await using stage = new Stage();
  branched(stage);
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' }, 20);
  assert.equal((await stage.agent('bob').shell('git merge side')).denied, undefined);
  await stage.ask('carol', 'acquire_lock', { file_path: 'bare' });
  assert.equal((await stage.agent('bob').shell('git merge side')).denied, undefined, 'another file');
  await stage.ask('carol', 'acquire_lock', { file_paths: ['*.txt'] });
  assert.match((await stage.agent('bob').shell('git merge side')).denied ?? '', /carol.*who holds \*\.txt/);
  assert.equal((await stage.agent('carol').shell('git merge side')).denied, undefined, 'the holder itself');
  const warned = await stage.agent('bob').shell('git merge side', { flags: ['--locks', 'warn'] });
  assert.match(warned.context ?? '', /warns: `git merge` would change files that others hold/);
});

test('[HOOK-2] what git can’t tell in time goes ahead as before', async () => {
  await using stage = new Stage();
  branched(stage);
  await stage.ask('alice', 'acquire_lock', { file_path: 'a.txt' });
  const bob = stage.agent('bob');
  for (const command of [
    'git checkout "$BRANCH"',
    'git --git-dir=../elsewhere/.git --work-tree=. checkout side',
    'git checkout nowhere',
    'git merge nothing',
    'git pull https://example.org/repo.git side',
    'git apply ../missing.patch',
    'git apply src/c.ts',
    'curl -s https://example.org/side.patch | git apply',
    'git diff --output=../written two side | git apply',
    'git diff --ext-diff two side | git apply',
  ])
    assert.equal((await bob.shell(command)).denied, undefined, command);
  assert.equal(existsSync(join(stage.folder, 'written')), false, 'to ask writes nothing');
  const bin = join(stage.folder, 'bin');
  mkdirSync(bin);
  const slow = `#!/bin/sh\ncase "$*" in *rev-parse*) exec sleep 30 ;; esac\nPATH=${stage.env.PATH} exec git "$@"\n`;
  writeFileSync(join(bin, 'git'), slow, { mode: 0o755 });
  const env = { PATH: `${bin}:${stage.env.PATH}` };
  assert.equal((await bob.shell('git merge side', { env })).denied, undefined);
  assert.equal(stage.hookLog(), '', 'it answered by itself');
});
