import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { Place, Repository } from './support.ts';

/** Who holds what, asked by the library and by a command. */
async function holders(repository: Repository, ...paths: string[]): Promise<string[]> {
  const asked = await repository.ask('carol', 'check_locks', { file_paths: paths });
  const typed = JSON.parse(repository.cox(['lock', 'check', ...paths, '--json']).out) as JsonObject;
  assert.deepEqual(typed.locks, JSON.parse(JSON.stringify(asked.locks)));
  return (asked.locks as JsonObject[]).map(({ file_path, locked_by }) => `${file_path} ${locked_by}`);
}

function worktree(repository: Repository, path: string, branch: string): Repository {
  repository.must('worktree', 'add', '-q', '-b', branch, path);
  return new Repository(repository.place, path);
}

test('[LOCK-9] [LOCK-12] all worktrees of a repository share locks and hooks, by library, command and commit', async () => {
  using place = new Place();
  const main = place.repository();
  const beside = worktree(main, join(place.folder, 'beside'), 'one');
  const inside = worktree(main, join(main.root, 'trees', 'inside'), 'two');
  assert.equal(inside.cox(['git', 'install']).code, 0);
  await beside.lock('bob', 'a.ts', 'src/');
  for (const tree of [main, beside, inside]) {
    const absolute = join(tree.root, 'a.ts');
    assert.deepEqual(await holders(tree, 'a.ts', absolute), ['a.ts bob']);
    assert.deepEqual(await holders(tree, 'src/deep/new.ts'), ['src/ bob']);
    const refused = await tree.ask('alice', 'acquire_lock', { file_path: 'a.ts' });
    assert.equal(refused.locked_by, 'bob');
    tree.write('a.ts', 'mine\n');
    tree.write('src/new.ts', 'mine\n');
    const { code, err } = tree.run('sh', ['-c', 'git add a.ts src && git commit -m x'], {
      AGENT_ID: 'alice',
    });
    assert.equal(code, 1);
    assert.match(
      err,
      /a\.ts is locked by bob[\s\S]*src\/new\.ts is locked by bob \(test\), who holds src\/,/,
    );
    tree.must('reset', '-q', '--hard');
  }
  // The path of a file in one tree, said in another, is the same file.
  assert.deepEqual(await holders(main, join(beside.root, 'a.ts')), ['a.ts bob']);
  main.must('worktree', 'remove', '--force', beside.root);
  assert.deepEqual(await holders(main, 'a.ts'), ['a.ts bob']);
});

test('[LOCK-12] a commit from a folder below, with git’s own settings for where things are', async () => {
  using place = new Place();
  const main = place.repository();
  const tree = worktree(main, join(place.folder, 'a tree'), 'one');
  assert.equal(main.cox(['git', 'install']).code, 0);
  await main.lock('bob', 'sub/x.ts');
  tree.write('sub/x.ts', 'x\n');
  const below = new Repository(place, join(tree.root, 'sub'));
  below.must('add', '.');
  assert.equal(below.git('commit', '-qm', 'x').code, 1);
  assert.equal(main.git('-C', below.root, 'commit', '-qm', 'x').code, 1);
  below.must('config', 'diff.relative', 'true');
  below.must('config', 'core.quotePath', 'true');
  assert.equal(below.git('commit', '-qm', 'x').code, 1);
  const named = { GIT_DIR: tree.must('rev-parse', '--git-dir').trim(), GIT_WORK_TREE: tree.root };
  assert.equal(below.run('git', ['commit', '-qm', 'x'], named).code, 1);
});

test('[LOCK-9] [LOCK-12] worktrees of a bare repository share them too', async () => {
  using place = new Place();
  const source = place.repository('source');
  const bare = new Repository(place, join(place.folder, 'bare.git'));
  source.must('clone', '-q', '--bare', source.root, bare.root);
  const one = worktree(bare, join(place.folder, 'one'), 'one');
  const two = worktree(bare, join(bare.root, 'two'), 'two');
  assert.equal(JSON.parse(bare.cox(['git', 'install', '--json']).out).folder, join(bare.root, 'hooks'));
  await one.lock('bob', 'a.ts');
  for (const tree of [one, two]) {
    assert.deepEqual(await holders(tree, 'a.ts'), ['a.ts bob']);
    tree.write('a.ts', 'mine\n');
    assert.equal(tree.commit({ AGENT_ID: 'alice' }).code, 1);
    assert.equal(JSON.parse(tree.cox(['git', 'status', '--json']).out).hooks[0].status, 'installed');
  }
});

test('[LOCK-12] a submodule’s files are held by those who work in it and by those who work around it', async () => {
  using place = new Place();
  const library = place.repository('library');
  const main = place.repository();
  main.must('submodule', '--quiet', 'add', library.root, 'sub');
  main.must('commit', '-qm', 'with a submodule');
  const sub = new Repository(place, join(main.root, 'sub'));
  for (const repository of [main, sub]) assert.equal(repository.cox(['git', 'install']).code, 0);
  await sub.lock('bob', 'a.ts');
  assert.deepEqual(await holders(main, 'a.ts', 'sub/a.ts'), [], 'a repository of its own');
  await main.lock('carol', 'sub/b.ts');
  sub.write('a.ts', 'mine\n');
  assert.match(sub.commit({ AGENT_ID: 'alice' }).err, /\n {2}a\.ts is locked by bob/);
  sub.must('reset', '-q', '--hard');
  sub.write('b.ts', 'mine\n');
  assert.match(sub.commit({ AGENT_ID: 'alice' }).err, /\n {2}sub\/b\.ts is locked by carol/);
  assert.equal(sub.commit({ AGENT_ID: 'carol' }).code, 0);
  // That the submodule has moved on is a change of its own: of `sub`, not of what is in it.
  assert.equal(main.commit({ AGENT_ID: 'alice' }).code, 0);
  await main.ask('carol', 'release_lock', { file_path: 'sub/b.ts' });
  await main.lock('carol', 'sub/');
  sub.write('b.ts', 'again\n');
  assert.equal(sub.commit({ AGENT_ID: 'carol' }).code, 0);
  assert.match(main.commit({ AGENT_ID: 'alice' }).err, /\n {2}sub is locked by carol/);
});

function pushing(place: Place): {
  repository: Repository;
  push: (...words: string[]) => ReturnType<Repository['git']>;
} {
  const repository = place.repository();
  repository.must('init', '-q', '--bare', join(place.folder, 'remote.git'));
  repository.must('remote', 'add', 'origin', join(place.folder, 'remote.git'));
  repository.must('push', '-q', 'origin', 'main');
  assert.equal(repository.cox(['git', 'install']).code, 0);
  const push = (...words: string[]) => repository.run('git', ['push', ...words], { AGENT_ID: 'alice' });
  return { repository, push };
}

test('[LOCK-12] a push of commits that change what others hold is blocked; what the remote has already is not looked at', async () => {
  using place = new Place();
  const { repository, push } = pushing(place);
  repository.write('a.ts', 'mine\n');
  assert.equal(repository.commit().code, 0);
  await repository.lock('bob', 'a.ts');
  const blocked = push('origin', 'main');
  assert.equal(blocked.code, 1);
  assert.match(blocked.err, /this push changes what others hold:\n {2}a\.ts is locked by bob/);
  assert.equal(push('origin', 'main:refs/heads/new').code, 1, 'a new branch');
  assert.equal(push(join(place.folder, 'remote.git'), 'main').code, 1, 'a remote without a name');
  assert.equal(repository.run('git', ['push', '-q', 'origin', 'main'], { AGENT_ID: 'bob' }).code, 0);
  repository.write('b.ts', 'free\n');
  assert.equal(repository.commit().code, 0);
  assert.equal(push('origin', 'main', 'main:refs/heads/new').code, 0, 'a.ts is there already');
  repository.must('tag', 'v1', 'HEAD~1');
  assert.equal(push('origin', 'v1').code, 0);
  assert.equal(push('origin', '--delete', 'new').code, 0);
  assert.equal(push('origin', 'main').code, 0, 'nothing to push');
});

test('[LOCK-12] pushes of merges, of rewritten branches, and from a shallow clone', async () => {
  using place = new Place();
  const { repository, push } = pushing(place);
  repository.must('checkout', '-qb', 'side');
  repository.write('a.ts', 'side\n');
  assert.equal(repository.commit().code, 0);
  repository.must('push', '-q', 'origin', 'side');
  repository.must('checkout', '-q', 'main');
  repository.write('b.ts', 'main\n');
  assert.equal(repository.commit().code, 0);
  repository.must('merge', '-q', '-m', 'merged', 'side');
  await repository.lock('bob', 'a.ts');
  assert.equal(push('origin', 'main').code, 0, 'what is merged was pushed before');
  repository.must('commit', '-q', '--amend', '--no-verify', '-m', 'rewritten');
  assert.equal(push('--force', 'origin', 'main').code, 0);
  const shallow = new Repository(place, join(place.folder, 'shallow'));
  repository.must('clone', '-q', '--depth', '1', `file://${join(place.folder, 'remote.git')}`, shallow.root);
  assert.equal(shallow.cox(['git', 'install']).code, 0);
  await shallow.lock('bob', 'a.ts');
  shallow.write('b.ts', 'shallow\n');
  assert.equal(shallow.commit().code, 0);
  // To a remote of which nothing is known: not every file of the commit where the clone was cut off.
  const elsewhere = join(place.folder, 'elsewhere.git');
  repository.must('clone', '-q', '--bare', join(place.folder, 'remote.git'), elsewhere);
  const pushed = shallow.run('git', ['push', '-q', elsewhere, 'HEAD:refs/heads/x'], { AGENT_ID: 'alice' });
  assert.equal(pushed.code, 0, pushed.err);
  rmSync(join(shallow.root, '.git/coxswain'), { recursive: true });
});
