import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { git, Stage } from './support.ts';

const RESET = 'git reset --hard';

test('[LOCK-12] a command that would throw away what another has not committed yet is denied', async () => {
  await using stage = new Stage();
  await stage.agent('alice').edit('a.txt');
  const bob = stage.agent('bob');
  assert.equal((await bob.shell(RESET)).denied, undefined, 'held, but nothing changed yet');
  writeFileSync(join(stage.repo, 'a.txt'), 'work of alice\n');
  const { denied = '' } = await bob.shell(RESET);
  assert.match(
    denied,
    /^Coxswain: `git reset --hard` would throw away changes that others have not committed/,
  );
  assert.match(denied, /a\.txt is locked by alice/);
  assert.match((await bob.shell('git stash')).denied ?? '', /a\.txt is locked by alice/);
  assert.match((await bob.shell(RESET, { flags: ['--locks', 'require'] })).denied ?? '', /alice/);
  const warned = await bob.shell(RESET, { flags: ['--locks', 'warn'] });
  assert.equal(warned.denied, undefined);
  assert.match(warned.context ?? '', /warns: `git reset --hard` would throw away/);
  const gemini = stage.agent('carol', 'gemini-cli');
  assert.match((await gemini.shell(RESET)).denied ?? '', /alice/);
});

test('[LOCK-12] one’s own changes, and files that nobody holds, are one’s own business', async () => {
  await using stage = new Stage();
  const alice = stage.agent('alice');
  await alice.edit('a.txt');
  writeFileSync(join(stage.repo, 'a.txt'), 'mine\n');
  assert.equal((await alice.shell(RESET)).denied, undefined);
  const bob = stage.agent('bob');
  git(stage.repo, 'commit', '-q', '-am', 'safe');
  writeFileSync(join(stage.repo, 'b.txt'), 'nobody’s\n');
  assert.equal((await bob.shell(RESET)).denied, undefined, 'what alice holds is committed');
  assert.equal((await bob.shell('git pull')).denied, undefined, 'git itself keeps that from losing anything');
});

test('[LOCK-12] a file that git does not know yet counts where the command may take it along', async () => {
  await using stage = new Stage();
  await stage.ask('alice', 'acquire_lock', { file_path: 'src/', reason: 'new files' });
  writeFileSync(join(stage.repo, 'src', 'new ünamed.ts'), 'work of alice\n');
  const bob = stage.agent('bob');
  assert.equal((await bob.shell(RESET)).denied, undefined);
  assert.match(
    (await bob.shell('git stash')).denied ?? '',
    /src\/new .* is locked by alice .*who holds src\//,
  );
});

test('[LOCK-12] all files of another commit are written over what is held, though nothing uncommitted is lost', async () => {
  await using stage = new Stage();
  git(stage.repo, 'branch', 'side');
  const alice = stage.agent('alice');
  await alice.edit('a.txt');
  const bob = stage.agent('bob');
  for (const command of ['git checkout side -- .', 'git restore -s side .', 'git restore --source=side :/'])
    assert.match((await bob.shell(command)).denied ?? '', /locked by alice .*who holds a\.txt/, command);
  for (const command of ['git checkout .', 'git checkout HEAD -- .', 'git restore .'])
    assert.equal((await bob.shell(command)).denied, undefined, command);
  assert.equal((await alice.shell('git checkout side -- .')).denied, undefined, 'the holder itself');
});

test('[LOCK-12] whoever holds a file in another worktree has nothing to lose in this one', async () => {
  await using stage = new Stage();
  const tree = join(stage.folder, 'tree');
  git(stage.repo, 'worktree', 'add', '-q', tree, '-b', 'side');
  await stage.agent('alice').edit('a.txt');
  writeFileSync(join(stage.repo, 'a.txt'), 'work of alice\n');
  const bob = stage.agent('bob', 'claude-code', { cwd: tree });
  writeFileSync(join(tree, 'b.txt'), 'bob’s own mess\n');
  assert.equal((await bob.shell(RESET)).denied, undefined);
  assert.match((await stage.agent('carol').shell(RESET)).denied ?? '', /a\.txt is locked by alice/);
});

test('[LOCK-12] the work tree that counts is the one that the command is about', async () => {
  await using stage = new Stage();
  const tree = join(stage.folder, 'tree');
  git(stage.repo, 'worktree', 'add', '-q', tree, '-b', 'side');
  await stage.agent('alice', 'claude-code', { cwd: tree }).edit('a.txt');
  writeFileSync(join(tree, 'a.txt'), 'work of alice\n');
  const bob = stage.agent('bob');
  const commands = [
    'cd ../tree && git checkout .',
    'git -C ../tree stash',
    `git -C ${tree} restore .`,
    'git --work-tree=../tree checkout -f',
    'git -C ../tree checkout-index -f -a',
    '(cd ../tree/src; git reset --hard)',
  ];
  for (const command of commands)
    assert.match((await bob.shell(command)).denied ?? '', /throw away.*\na\.txt is locked by alice/, command);
  assert.equal((await bob.shell('git stash')).denied, undefined, 'here is nothing of hers');
  for (const workdir of ['../tree', tree]) {
    const call = { tool_name: 'exec_command', tool_input: { cmd: 'git stash', workdir } };
    const { denied } = await stage.agent('carl', 'codex').hook('before-tool', call);
    assert.match(denied ?? '', /a\.txt is locked by alice/, workdir);
  }
});

test('[HOOK-2] without git the check can’t be made: the policy decides, unless it looks dangerous', async () => {
  await using stage = new Stage();
  await stage.agent('alice').edit('a.txt');
  const env = { PATH: '/nonexistent' };
  const bob = stage.agent('bob', 'claude-code', { env });
  const stashed = await bob.shell('git stash');
  assert.match(stashed.context ?? '', /could not check the locks .*goes ahead unguarded/);
  const strict = await bob.shell('git stash', { flags: ['--locks', 'require'] });
  assert.match(strict.denied ?? '', /could not check the locks/);
  assert.match((await bob.shell(RESET)).denied ?? '', /could not decide about this, and it looks dangerous/);
});

test('[LOCK-12] [HOOK-2] a command about a place that is no tree of ours is no way past the locks', async () => {
  await using stage = new Stage();
  const plain = join(stage.folder, 'plain');
  mkdirSync(plain);
  await stage.agent('alice').edit('a.txt');
  writeFileSync(join(stage.repo, 'a.txt'), 'work of alice\n');
  const bob = stage.agent('bob');
  for (const before of ['git -C /proc stash', `git -C ${plain} stash`, 'git -C /nowhere reset --hard']) {
    const written = await bob.shell(`${before}; echo x > a.txt`);
    assert.match(written.denied ?? '', /a\.txt is locked by alice/, before);
    const thrown = await bob.shell(`${before}; git stash`);
    assert.match(thrown.denied ?? '', /throw away.*\na\.txt is locked by alice/, before);
    assert.equal((await bob.shell(before)).denied, undefined, `${before}: nothing of ours is there`);
  }
});

test('[LOCK-12] [HOOK-2] where git can’t tell what would be lost, what the call names is still held', async () => {
  await using stage = new Stage();
  await stage.agent('alice').edit('a.txt');
  writeFileSync(join(stage.repo, '.git', 'index'), 'no index');
  const { denied } = await stage.agent('bob').shell('git stash; echo x > a.txt');
  assert.match(denied ?? '', /a\.txt is locked by alice/);
});
