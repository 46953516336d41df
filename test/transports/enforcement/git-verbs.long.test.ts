import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Finished, Place, type Repository } from './support.ts';

const alice = { AGENT_ID: 'alice' };
const bob = { AGENT_ID: 'bob' };
const STOPPED = /this commit changes what others hold:\n {2}a\.ts is locked by bob \(test\) until/;

/** On `side` the first line of a.ts is another one, on `main` the last; c.ts is only on `side`. */
function diverged(place: Place, install = true): Repository {
  const repository = place.repository();
  const commit = (text: string) => {
    repository.write('a.ts', text);
    repository.must('add', '-A');
    repository.must('commit', '-qm', text.replaceAll('\n', ' '));
  };
  commit('1\n2\n3\n4\n5\n');
  repository.must('checkout', '-qb', 'side');
  commit('side\n2\n3\n4\n5\n');
  repository.write('c.ts', 'c\n');
  commit('side\n2\n3\n4\n5\n');
  repository.must('checkout', '-q', 'main');
  commit('1\n2\n3\n4\nmain\n');
  repository.must('tag', 'start');
  if (install) assert.equal(repository.cox(['git', 'install']).code, 0);
  return repository;
}

function head(repository: Repository): string {
  return repository.must('rev-parse', 'HEAD').trim();
}

interface Verb {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
  /** What git itself leaves when a hook says no, and how one gets out of it. */
  readonly left: string | undefined;
  readonly abort: readonly string[];
}

/** Stopped while bob holds a.ts; for bob himself, and once it is free, it goes through. */
async function isChecked(repository: Repository, { words, env = {}, left, abort }: Verb): Promise<void> {
  const name = words.join(' ');
  const before = head(repository);
  const reset = () => repository.must('reset', '-q', '--hard', before);
  const run = (who: Record<string, string>): Finished => repository.run('git', words, { ...env, ...who });
  await repository.lock('bob', 'a.ts');
  const stopped = run(alice);
  assert.notEqual(stopped.code, 0, name);
  assert.match(stopped.err, STOPPED, name);
  assert.equal(head(repository), before, name);
  assert.equal(repository.must('diff', '--cached', '--name-only', '--', 'a.ts'), 'a.ts\n', name);
  if (left !== undefined) assert.ok(existsSync(join(repository.root, '.git', left)), `${name}: ${left}`);
  repository.must(...abort);
  assert.equal(head(repository), before, name);
  assert.equal(repository.must('status', '--porcelain'), '', name);
  const own = run(bob);
  assert.equal(own.code, 0, `${name}: ${own.err}`);
  assert.notEqual(head(repository), before, name);
  reset();
  await repository.ask('bob', 'release_lock', { file_path: 'a.ts' });
  const free = run(alice);
  assert.equal(free.code, 0, `${name}: ${free.err}`);
  reset();
}

test('[LOCK-12] a merge without conflicts is checked: what it puts together itself, not what others have committed', async () => {
  using place = new Place();
  const repository = diverged(place);
  const merge = ['merge', '--no-edit', 'side'];
  await isChecked(repository, { words: merge, left: 'MERGE_HEAD', abort: ['merge', '--abort'] });
  await repository.lock('bob', 'c.ts');
  assert.equal(repository.run('git', merge, alice).code, 0, 'c.ts is as on side');
  repository.must('reset', '-q', '--hard', 'start');
  await repository.lock('bob', 'a.ts');
  assert.equal(repository.run('git', ['merge', '--no-edit', '--no-verify', 'side']).code, 0);
  repository.must('reset', '-q', '--hard', 'start');
  assert.notEqual(
    repository.run('git', ['pull', '-q', '--no-rebase', '--no-edit', '.', 'side'], alice).code,
    0,
  );
});

test('[LOCK-12] cherry-picks and reverts are checked, with an editor or without, and however git was called', async () => {
  using place = new Place();
  const repository = diverged(place);
  const pick = { left: 'CHERRY_PICK_HEAD', abort: ['cherry-pick', '--abort'] };
  // Git leaves no sign of a revert that a hook has stopped, except the index.
  const revert = { left: undefined, abort: ['reset', '-q', '--hard'] };
  const env = { GIT_EDITOR: 'true' };
  repository.must('config', 'alias.cp', 'cherry-pick');
  await isChecked(repository, { ...pick, words: ['cherry-pick', 'side~1'] });
  await isChecked(repository, { ...pick, env, words: ['cherry-pick', '-e', 'side~1'] });
  await isChecked(repository, { ...pick, words: ['-c', 'core.pager=cat', 'cp', 'side~2..side'] });
  await isChecked(repository, { ...revert, words: ['revert', '--no-edit', 'HEAD'] });
  await isChecked(repository, { ...revert, env, words: ['revert', '-e', 'HEAD'] });
});

test('[LOCK-12] patches of git am are checked', async () => {
  using place = new Place();
  const repository = diverged(place);
  const patches = repository.must('format-patch', '-o', join(place.folder, 'patches'), 'side~2..side~1');
  const words = ['am', '-q', ...patches.trim().split('\n')];
  await isChecked(repository, { words, left: 'rebase-apply', abort: ['am', '--abort'] });
});

test('[LOCK-12] what was not to be checked is not checked by another hook: --no-verify, COX_GIT=off', async () => {
  using place = new Place();
  const repository = diverged(place);
  await repository.lock('bob', 'a.ts');
  // A person who solves a conflict of a pick, and means it.
  repository.write('a.ts', 'other\n2\n3\n4\nmain\n');
  repository.must('commit', '-qam', 'revert or cherry-pick', '--no-verify');
  assert.equal(repository.git('cherry-pick', 'side~1').code, 1, 'both have changed the first line');
  repository.write('a.ts', 'solved\n2\n3\n4\nmain\n');
  repository.must('add', '-A');
  assert.match(repository.run('git', ['cherry-pick', '--continue'], { GIT_EDITOR: 'true' }).err, STOPPED);
  repository.must('commit', '-qm', 'revert', '--no-verify');
  assert.equal(repository.run('git', ['revert', '--no-edit', 'HEAD'], { COX_GIT: 'off' }).code, 0);
});

test('[LOCK-12] a rebase is checked before it begins: what both sides have changed, not what one of them has', async () => {
  using place = new Place();
  const repository = diverged(place);
  const env = { GIT_EDITOR: 'true' };
  const run = (words: readonly string[], who: Record<string, string> = alice): Finished => {
    repository.must('checkout', '-q', '-B', 'moved', 'side');
    return repository.run('git', words, { ...env, ...who });
  };
  const meeting = [
    ['rebase', '--merge', 'start'],
    ['rebase', '--apply', 'start'],
    ['rebase', '-i', 'start'],
    ['rebase', '--onto', 'start', 'side~2'],
    ['rebase', '--root', '--onto=start'],
    ['rebase', 'start', 'side'],
    ['pull', '-q', '--rebase', '.', 'main'],
    ['-c', 'pull.rebase=true', 'pull', '-q', '.', 'main'],
  ];
  await repository.lock('bob', 'a.ts');
  for (const words of meeting) {
    const { code, err } = run(words);
    const name = words.join(' ');
    assert.notEqual(code, 0, name);
    assert.match(err, /this rebase changes what others hold:\n {2}a\.ts is locked by bob/, name);
    assert.equal(repository.must('diff', '--name-only', 'side'), '', `${name}: nothing was begun`);
    for (const left of ['rebase-merge', 'rebase-apply'])
      assert.equal(existsSync(join(repository.root, '.git', left)), false, name);
  }
  for (const [words, who] of [
    [['rebase', 'start'], bob],
    [['rebase', '--no-verify', 'start'], alice],
    [['rebase', 'start'], { ...alice, COX_GIT: 'off' }],
    [['rebase', '--onto', 'side~2', 'side~1'], alice],
    [['rebase', '-i', 'side~2'], alice],
  ] as const) {
    const { code, err } = run(words, who);
    assert.equal(code, 0, `${words.join(' ')}: ${err}`);
  }
  await repository.ask('bob', 'release_lock', { file_path: 'a.ts' });
  await repository.lock('bob', 'b.ts', 'c.ts');
  assert.equal(run(['rebase', 'start']).code, 0, 'c.ts is only on one side');
});

test('[LOCK-12] a hook for the message that was there runs first, and once', async () => {
  using place = new Place();
  const repository = diverged(place, false);
  const hook = '#!/bin/sh\necho "told $2" >>"$1"\n';
  const path = repository.write('.git/hooks/prepare-commit-msg', hook, 0o755);
  assert.equal(repository.cox(['git', 'install']).code, 0);
  repository.must('cherry-pick', 'side~1');
  assert.match(repository.must('log', '-1', '--format=%B'), /^side[^\n]*\ntold message\n*$/);
  repository.write('b.ts', 'x\n');
  assert.equal(repository.commit().code, 0);
  assert.match(repository.must('log', '-1', '--format=%B'), /^more\ntold message\n*$/);
  assert.equal(repository.cox(['git', 'uninstall']).code, 0);
  assert.equal(readFileSync(path, 'utf8'), hook);
});

test('[LOCK-12] cox run: the same for merges, picks and patches, without anything being installed', async () => {
  using place = new Place();
  const repository = diverged(place, false);
  await repository.lock('bob', 'a.ts');
  const patches = repository.must('format-patch', '-o', join(place.folder, 'patches'), 'side~2..side~1');
  for (const words of [
    ['merge', '--no-edit', 'side'],
    ['cherry-pick', 'side~1'],
    ['revert', '--no-edit', 'HEAD'],
    ['am', '-q', ...patches.trim().split('\n')],
  ]) {
    const run = ['run', '--protect', 'off', '--agent', 'alice', '--'];
    const before = repository.must('status', '--porcelain=v2', '--branch');
    const direct = repository.cox([...run, 'git', ...words]);
    assert.equal(direct.code, 1, words[0]);
    const refused = /git was not started: `git [\w-]+` would change files .*\n {2}a\.ts is locked by bob/;
    assert.match(direct.err, refused, words[0]);
    assert.equal(repository.must('status', '--porcelain=v2', '--branch'), before, 'it was not begun');
    // What a program starts is checked when it commits.
    const { code, err } = repository.cox([...run, 'sh', '-c', 'git "$@"', 'sh', ...words]);
    assert.notEqual(code, 0, words[0]);
    assert.match(err, STOPPED, words[0]);
    repository.git('am', '--quit');
    repository.git('cherry-pick', '--quit');
    repository.must('reset', '-q', '--hard', 'start');
  }
  const other = repository.cox(['run', '--agent', 'bob', '--', 'git', 'merge', '-q', '--no-edit', 'side']);
  assert.equal(other.code, 0, other.err);
  repository.must('reset', '-q', '--hard', 'start');
  await repository.lock('bob', 'a.ts');
  const warned = repository.cox(['run', '--locks', 'warn', '--', 'git', 'checkout', '-q', 'side']);
  assert.deepEqual([warned.code, repository.must('branch', '--show-current')], [0, 'side\n'], warned.err);
  assert.match(warned.err, /would change files that others hold/);
});
