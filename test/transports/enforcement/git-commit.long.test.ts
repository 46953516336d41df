import assert from 'node:assert/strict';
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { acquireLock } from '../../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../../src/index.ts';
import { Place, type Repository } from './support.ts';

function installed(place: Place, ...flags: string[]): Repository {
  const repository = place.repository();
  const { code, err } = repository.cox(['git', 'install', ...flags]);
  assert.equal(code, 0, err);
  return repository;
}

test('[LOCK-12] a commit of a file that another agent holds is blocked, and says who, why, until when and what to do', async () => {
  using place = new Place();
  const repository = installed(place);
  await repository.lock('bob', 'a.ts');
  repository.write('a.ts', 'mine\n');
  const blocked = repository.commit({ AGENT_ID: 'alice' });
  assert.equal(blocked.code, 1);
  assert.match(blocked.err, /a\.ts is locked by bob \(test\) until \S+ \(120 min\): "rename the router"/);
  assert.match(blocked.err, /git restore --staged FILE/);
  assert.doesNotMatch(blocked.err, /no-verify|COX_GIT/, 'an agent is not told how to go past it');
  assert.equal(repository.must('log', '--oneline').trim().split('\n').length, 1);

  repository.write('b.ts', 'free\n');
  repository.must('restore', '--staged', 'a.ts');
  repository.must('add', 'b.ts');
  assert.equal(repository.run('git', ['commit', '-qm', 'b'], { AGENT_ID: 'alice' }).code, 0);
  assert.equal(repository.commit({ AGENT_ID: 'bob' }).code, 0, 'the holder itself');

  repository.write('a.ts', 'later\n');
  assert.equal(repository.commit({ AGENT_ID: 'alice' }).code, 1);
  await repository.ask('bob', 'release_lock', { file_path: 'a.ts' });
  assert.equal(repository.commit({ AGENT_ID: 'alice' }).code, 0, 'free again');
});

test('[LOCK-12] a person is stopped too, and told how to go on; a client’s shell is spoken to as an agent', async () => {
  using place = new Place();
  const repository = installed(place);
  await repository.lock('bob', 'a.ts');
  repository.write('a.ts', 'mine\n');
  const blocked = repository.commit();
  assert.equal(blocked.code, 1);
  assert.match(blocked.err, /git commit --no-verify \(or COX_GIT=off\)/);
  const agent = repository.commit({ CLAUDECODE: '1' });
  assert.equal(agent.code, 1);
  assert.doesNotMatch(agent.err, /no-verify|COX_GIT/);
  assert.equal(repository.commit({ COX_GIT: 'off' }).code, 0);
  repository.write('a.ts', 'mine again\n');
  repository.must('add', '-A');
  assert.equal(repository.git('commit', '-qm', 'x', '--no-verify').code, 0);
});

test('[LOCK-12] folders, patterns, deletions, both sides of a rename, and names of every kind', async () => {
  using place = new Place();
  const repository = installed(place);
  const odd = [
    'with space',
    '-dash',
    'new\nline',
    'tab\tulator',
    'ünïcode ☃',
    'quo"te',
    '[slug].tsx',
    '\u001b[2Jx',
  ];
  for (const name of odd) repository.write(`odd/${name}`, 'x\n');
  for (const name of ['api:users', 'src/old.ts', 'web/x/y.css', 'gone.ts'])
    repository.write(name, `${name}\n`);
  assert.equal(repository.commit().code, 0);
  const refused = async (area: string, change: () => void, expected: RegExp) => {
    await repository.lock('bob', area);
    change();
    const { code, err } = repository.commit({ AGENT_ID: 'alice' });
    assert.equal(code, 1, area);
    assert.match(err, expected);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that none of them gets through is the point.
    assert.doesNotMatch(err, /[\u0000-\u0009\u000b-\u001f]/, 'nothing that a terminal obeys');
    await repository.ask('bob', 'release_lock', { file_path: area });
    repository.must('reset', '-q', '--hard');
  };
  for (const name of odd)
    await refused(
      'odd/',
      () => repository.write(`odd/${name}`, 'y\n'),
      /odd\/.+ is locked by bob.*, who holds odd\/,/,
    );
  await refused('odd/[slug].tsx', () => repository.write('odd/[slug].tsx', 'y\n'), /\[slug\]\.tsx is locked/);
  await refused('./api:users', () => repository.write('api:users', 'y\n'), /api:users is locked/);
  await refused('web/**/*.css', () => repository.write('web/x/y.css', 'y\n'), /y\.css is locked.*web\/\*\*/);
  await refused('gone.ts', () => rmSync(join(repository.root, 'gone.ts')), /gone\.ts is locked/);
  const move = (from: string, to: string) => () =>
    renameSync(join(repository.root, from), join(repository.root, to));
  await refused('src/old.ts', move('src/old.ts', 'src/new.ts'), /src\/old\.ts is locked/);
  await refused('src/new.ts', move('src/old.ts', 'src/new.ts'), /src\/new\.ts is locked/);
  await repository.ask('bob', 'acquire_lock', { file_path: 'a.ts', shared: true });
  repository.write('a.ts', 'y\n');
  assert.equal(repository.commit({ AGENT_ID: 'alice' }).code, 0, 'a reader is not in the way of a commit');
});

test('[LOCK-12] commits of part of the tree, amended ones and merges', async () => {
  using place = new Place();
  const repository = installed(place);
  repository.must('checkout', '-qb', 'side');
  repository.write('a.ts', 'side\n');
  assert.equal(repository.commit().code, 0);
  repository.must('checkout', '-q', 'main');
  repository.write('b.ts', 'main\n');
  assert.equal(repository.commit().code, 0);
  await repository.lock('bob', 'a.ts');
  const as = { AGENT_ID: 'alice' };
  // What others have committed is no change of the one who merges it, a conflict that is solved is.
  repository.must('merge', '-q', '--no-commit', 'side');
  assert.equal(repository.run('git', ['commit', '-qm', 'merged'], as).code, 0);
  repository.must('checkout', '-qb', 'other', 'HEAD~1');
  repository.write('a.ts', 'other\n');
  repository.must('add', '-A');
  repository.must('commit', '-qm', 'other', '--no-verify');
  repository.must('checkout', '-q', 'main');
  assert.equal(repository.git('merge', '-q', 'other').code, 1, 'both have changed a.ts');
  repository.write('a.ts', 'solved\n');
  repository.must('add', '-A');
  assert.equal(repository.run('git', ['commit', '-qm', 'merged'], as).code, 1);
  repository.must('merge', '--abort');
  repository.write('a.ts', 'partly\n');
  repository.write('b.ts', 'partly\n');
  assert.equal(repository.run('git', ['commit', '-qm', 'b only', 'b.ts'], as).code, 0);
  assert.equal(repository.run('git', ['commit', '-qm', 'all', '-a'], as).code, 1);
  assert.equal(repository.run('git', ['commit', '-q', '--amend', '-m', 'b'], as).code, 0);
});

test('[LOCK-12] whoever is silent for too long holds nobody up', async () => {
  using place = new Place();
  const repository = installed(place);
  await repository.lock('bob', 'a.ts');
  repository.write('a.ts', 'mine\n');
  assert.equal(repository.commit({ COX_STALE_MINUTES: '10' }).code, 1);
  assert.equal(repository.commit({ COX_STALE_MINUTES: '0.00001' }).code, 0);
});

test('[LOCK-12] a client’s commits are its own: known by its process, without a word in the environment', async () => {
  using place = new Place();
  const repository = installed(place);
  const client = fileURLToPath(new URL('./fake-client.ts', import.meta.url));
  repository.write('a.ts', 'by the client\n');
  repository.must('add', '-A');
  // It locks a.ts as codex would, then commits through a shell; afterwards another agent tries.
  const own = repository.run(process.execPath, [client, 'codex', 'a.ts', 'git commit -qm own']);
  assert.equal(own.code, 0, own.err);
  repository.write('a.ts', 'by another\n');
  const other = repository.commit();
  assert.equal(other.code, 1);
  assert.match(other.err, /a\.ts is locked by codex-[0-9a-f]{6} \(codex\)/);
});

test('[LOCK-12] without a store the commit goes on with a warning; where locks are required it does not', async () => {
  using place = new Place();
  const repository = installed(place);
  const gone = { COX_STORE: `sqlite:${join(place.folder, 'gone', 'cox.db')}` };
  const away = { COX_STORE: 'postgres://nobody:secret@127.0.0.1:1/none' };
  for (const env of [gone, away]) {
    repository.write('a.ts', `${env.COX_STORE}\n`);
    const { code, err } = repository.commit(env);
    assert.equal(code, 0);
    assert.match(err, /locks could not be checked, the commit goes on/);
    assert.doesNotMatch(err, /secret/);
  }
  assert.equal(repository.cox(['git', 'install', '--locks', 'require']).code, 0);
  repository.write('a.ts', 'required\n');
  const held = repository.commit(away);
  assert.equal(held.code, 1, 'git’s own exit code');
  assert.match(held.err, /held back, as locks are required/);
  assert.equal(repository.commit().code, 0, 'where nobody ever locked anything there is nothing to ask');
  assert.equal(repository.cox(['git', 'install', '--locks', 'warn']).code, 0);
  await repository.lock('bob', 'a.ts');
  repository.write('a.ts', 'warned\n');
  const warned = repository.commit();
  assert.equal(warned.code, 0);
  assert.match(warned.err, /goes on:\n {2}a\.ts is locked by bob/);
});

test('[LOCK-12] a damaged store, or a Coxswain that was removed, blocks no commit', async () => {
  using place = new Place();
  const repository = installed(place);
  await repository.lock('bob', 'a.ts');
  const hook = join(repository.root, '.git/hooks/pre-commit');
  const text = repository.run('cat', [hook]).out;
  writeFileSync(hook, text.replace(/^cox='.*'$/m, `cox='${join(place.folder, 'removed')}'`));
  repository.write('a.ts', 'mine\n');
  const passed = repository.commit();
  assert.equal(passed.code, 0);
  assert.match(passed.err, /is gone, so locks were not checked/);
  // The one on PATH does as well.
  const cox = repository.write('../bin/cox', `#!/bin/sh\necho "found: $*" >&2\nexit 1\n`, 0o755);
  repository.write('a.ts', 'again\n');
  const found = repository.commit({ PATH: `${join(cox, '..')}:${place.env.PATH}` });
  assert.equal(found.code, 1);
  assert.match(found.err, /found: git check-commit --locks auto/);
  writeFileSync(hook, text);
  const store = join(repository.root, '.git/coxswain/cox.db');
  for (const file of [`${store}-wal`, `${store}-shm`]) rmSync(file, { force: true });
  writeFileSync(store, 'no database at all, but long enough to be looked at'.repeat(100));
  const damaged = repository.commit();
  assert.equal(damaged.code, 0);
  assert.match(damaged.err, /locks could not be checked/);
});

test('[LOCK-12] a symlink is held by what it leads to; a hook that asks leaves no store behind', () => {
  using place = new Place();
  const repository = installed(place);
  symlinkSync('nowhere', join(repository.root, 'dangling'));
  symlinkSync('/etc/hostname', join(repository.root, 'outside'));
  assert.equal(repository.commit().code, 0);
  assert.equal(repository.run('ls', ['.git/coxswain']).code, 2);
  chmodSync(join(repository.root, 'a.ts'), 0o755);
  assert.equal(repository.commit().code, 0);
});

test('[LOCK-12] with more locks than one look shows, those on the files of the commit are still found', async () => {
  using place = new Place();
  const repository = installed(place);
  const many = Array.from({ length: 1000 }, (_, index) => `many/${index}.ts`);
  const coxswain = await open({ cwd: repository.root, env: {} });
  const bob = coxswain.connect({ agent_id: 'bob' });
  for (let start = 0; start < many.length; start += 20)
    await bob.perform(acquireLock, { file_paths: many.slice(start, start + 20) });
  await bob.perform(acquireLock, { file_paths: ['z.ts', 'zoo/', 'zed/*.css'] });
  await coxswain.close();
  for (const [name, code] of [
    ['z.ts', 1],
    ['zoo/deep/x.ts', 1],
    ['zed/x.css', 1],
    ['zed/x.ts', 0],
    ['many/999.ts', 1],
    ['free.ts', 0],
  ] as const) {
    repository.write(name, '1\n');
    assert.equal(repository.commit({ AGENT_ID: 'alice' }).code, code, name);
    if (code === 1) repository.must('reset', '-q', '--hard');
  }
});
