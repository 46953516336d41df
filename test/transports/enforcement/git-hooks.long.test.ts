import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { planGitHooks } from '../../../src/transports/git/git-hooks.ts';
import { findHooksFolder } from '../../../src/transports/git/git-hooks-folder.ts';
import { COX, Place, type Repository } from './support.ts';

const HOOKS = [
  'pre-applypatch',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'prepare-commit-msg',
];
const program = { node: process.execPath, cox: COX, locks: 'auto' } as const;

/** Every name in a folder with its mode and what is in it. */
function picture(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  const described = entries.map((entry) => {
    const path = join(folder, entry.name);
    const mode = (lstatSync(path).mode & 0o7777).toString(8);
    if (entry.isSymbolicLink()) return [entry.name, `-> ${readlinkSync(path)}`];
    return [entry.name, entry.isDirectory() ? 'folder' : `${mode} ${readFileSync(path, 'base64')}`];
  });
  return Object.fromEntries(described);
}

async function blocks(repository: Repository, agent = 'alice'): Promise<boolean> {
  await repository.lock('bob', 'a.ts');
  repository.write('a.ts', `changed ${readFileSync(join(repository.root, 'a.ts'), 'utf8')}`);
  const { code, err } = repository.commit({ AGENT_ID: agent });
  assert.equal(code === 1, /a\.ts is locked by bob/.test(err), err);
  return code === 1;
}

test('[LOCK-12] hooks of every kind run first, with their arguments and input, and are put back byte for byte', async () => {
  using place = new Place();
  const repository = place.repository();
  const hooks = join(repository.root, '.git/hooks');
  repository.write('.git/hooks/pre-commit', '#!/bin/sh\necho "first in $0 $#" >&2\n', 0o750);
  const seen = join(place.folder, 'seen');
  const script = `const { readFileSync, writeFileSync } = require('node:fs');
    writeFileSync(${JSON.stringify(seen)}, process.argv.slice(2).join(' ') + '|' + readFileSync(0));`;
  repository.write('other-hook.cjs', `#!${process.execPath}\n${script}\n`, 0o755);
  symlinkSync('../../other-hook.cjs', join(hooks, 'pre-push'));
  const before = picture(hooks);
  for (const changed of [true, false]) {
    const { code, out, err } = repository.cox(['git', 'install', '--json']);
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).changed, changed, 'once is enough');
  }
  assert.ok(await blocks(repository));
  await repository.ask('bob', 'release_lock', { file_path: 'a.ts' });
  const passed = repository.commit();
  assert.equal(passed.code, 0);
  assert.match(passed.err, /first in \S*hooks\/pre-commit 0\n/);
  repository.place.repository('there').must('config', 'receive.denyCurrentBranch', 'ignore');
  const there = join(place.folder, 'there');
  assert.equal(repository.git('push', '-q', '--force', there, 'main').code, 0);
  const commit = repository.must('rev-parse', 'main').trim();
  assert.match(readFileSync(seen, 'utf8'), new RegExp(`^${there} ${there}\\|refs/heads/main ${commit} refs`));
  assert.equal(repository.cox(['git', 'uninstall']).code, 0);
  assert.deepEqual(picture(hooks), before);
  assert.equal(JSON.parse(repository.cox(['git', 'uninstall', '--json']).out).changed, false);
  assert.deepEqual(picture(hooks), before);
});

test('[LOCK-12] a hook that says no is obeyed with its own exit code; one that may not run is not run', () => {
  using place = new Place();
  const repository = place.repository();
  const hook = repository.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 1\n', 0o755);
  assert.equal(repository.cox(['git', 'install']).code, 0);
  repository.write('a.ts', 'x\n');
  const refused = repository.commit();
  assert.deepEqual([refused.code, refused.err], [1, '']);
  assert.equal(repository.run(hook, []).code, 1);
  writeFileSync(`${hook}.before-coxswain`, '#!/bin/sh\nexit 42\n');
  assert.equal(repository.run(hook, []).code, 42);
  chmodSync(`${hook}.before-coxswain`, 0o644);
  assert.equal(repository.commit().code, 0);
});

test('[LOCK-12] hook managers that go by the name of the hook still find theirs', async () => {
  using place = new Place();
  const repository = place.repository();
  // As husky does it: a folder of its own, and one helper that looks where it was called from.
  repository.write(
    '.tool/_/help',
    'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ -f "$s" ] || exit 0\nsh -e "$s" "$@"\n',
  );
  repository.write('.tool/_/pre-commit', '#!/usr/bin/env sh\n. "$(dirname "$0")/help"\n', 0o755);
  repository.write('.tool/_/pre-push', `#!/bin/bash -e\n. "$(dirname "\${0}")/help"\n`, 0o755);
  repository.write('.tool/pre-commit', 'echo managed >&2\n[ ! -f forbidden ]\n');
  repository.write('.tool/pre-push', 'echo "managed push $1: $(cut -d" " -f1)" >&2\n');
  repository.must('config', 'core.hooksPath', '.tool/_');
  const installed = JSON.parse(repository.cox(['git', 'install', '--json']).out);
  assert.equal(installed.folder, join(repository.root, '.tool/_'));
  assert.equal(installed.reach, 'this work tree');
  assert.match(repository.commit().err, /managed/);
  repository.write('forbidden', '');
  assert.equal(repository.commit().code, 1);
  rmSync(join(repository.root, 'forbidden'));
  assert.ok(await blocks(repository));
  place.repository('there').must('config', 'receive.denyCurrentBranch', 'ignore');
  repository.must('remote', 'add', 'origin', join(place.folder, 'there'));
  assert.match(
    repository.git('push', '--force', 'origin', 'main').err,
    /managed push origin: refs\/heads\/main/,
  );
});

test('[LOCK-12] core.hooksPath of the whole user, absolute or from the home folder', async () => {
  using place = new Place();
  const folder = join(place.folder, 'my hooks');
  mkdirSync(folder);
  const repository = place.repository();
  for (const value of [folder, '~/my hooks']) {
    repository.must('config', '--global', 'core.hooksPath', value);
    const { out, err } = repository.cox(['git', 'install', '--json']);
    assert.equal(JSON.parse(out || err).folder, folder);
    assert.equal(JSON.parse(out).reach, 'all repositories of this user');
    assert.ok(await blocks(repository));
    assert.equal(repository.cox(['git', 'uninstall']).code, 0);
    assert.deepEqual(readdirSync(folder), []);
  }
});

test('[LOCK-12] a folder that was not there is not there afterwards; two installs at once do no harm', async () => {
  using place = new Place();
  const repository = place.repository();
  const hooks = join(repository.root, '.git/hooks');
  rmSync(hooks, { recursive: true });
  assert.equal(repository.cox(['git', 'install']).code, 0);
  assert.equal(repository.cox(['git', 'install', '--locks', 'warn']).code, 0);
  assert.deepEqual(readdirSync(hooks), HOOKS);
  assert.equal(repository.cox(['git', 'uninstall']).code, 0);
  assert.equal(lstatSync(hooks, { throwIfNoEntry: false }), undefined);
  repository.write('.git/hooks/pre-commit', '#!/bin/sh\n', 0o755);
  const before = picture(hooks);
  const twice = `'${process.execPath}' '${COX}' git install & '${process.execPath}' '${COX}' git install; wait`;
  repository.run('sh', ['-c', twice]);
  assert.deepEqual(readdirSync(hooks), [...HOOKS, 'pre-commit.before-coxswain'].sort());
  assert.ok(await blocks(repository));
  assert.equal(repository.cox(['git', 'uninstall']).code, 0);
  assert.deepEqual(picture(hooks), before);
});

test('[LOCK-12] what is in the way is said, and nothing is written over', () => {
  using place = new Place();
  const repository = place.repository();
  const hooks = join(repository.root, '.git/hooks');
  rmSync(hooks, { recursive: true });
  repository.write('.git/hooks/pre-commit', '#!/bin/sh\n# mine\n', 0o755);
  assert.equal(repository.cox(['git', 'install']).code, 0);
  // Another tool has put its hook over ours.
  rmSync(join(hooks, 'pre-commit'));
  repository.write('.git/hooks/pre-commit', '#!/bin/sh\n# theirs\n', 0o755);
  const before = picture(hooks);
  const { code, err } = repository.cox(['git', 'install']);
  assert.equal(code, 2);
  assert.match(err, /pre-commit\.before-coxswain is still there from before/);
  assert.deepEqual(picture(hooks), before);
  const status = JSON.parse(repository.cox(['git', 'status', '--json']).out);
  assert.deepEqual(status.hooks[0], { hook: 'pre-commit', status: 'other', chained: false });
  const nowhere = place.repository('plain');
  rmSync(join(nowhere.root, '.git'), { recursive: true });
  assert.equal(nowhere.cox(['git', 'install']).code, 2);
  const secret = repository.cox(['git', 'install', '--store', 'postgres://me:hush@example.org/x']);
  assert.equal(secret.code, 2);
  assert.doesNotMatch(secret.err, /hush/);
  repository.must('config', 'core.hooksPath', '/dev/null');
  assert.equal(repository.cox(['git', 'install']).code, 4, 'no folder, and none can be made');
});

test('[LOCK-12] the plan is what installing does', async () => {
  using place = new Place();
  const repository = place.repository();
  const hook = repository.write('.git/hooks/pre-commit', '#!/bin/sh\n# mine\n', 0o700);
  const folder = await findHooksFolder(repository.root, place.env);
  const changes = await planGitHooks(folder, program);
  assert.deepEqual(
    changes.map(({ path, before, mode }) => [path.replace(hook, 'hook'), before?.toString(), mode]),
    [
      ['hook.before-coxswain', undefined, 0o700],
      ['hook', '#!/bin/sh\n# mine\n', 0o755],
      ...['pre-merge-commit', 'pre-applypatch', 'prepare-commit-msg', 'pre-rebase', 'pre-push'].map(
        (name) => [join(folder.path, name), undefined, 0o755],
      ),
    ],
  );
  assert.equal(repository.cox(['git', 'install']).code, 0);
  for (const { path, after } of changes) assert.deepEqual(readFileSync(path), after);
  assert.deepEqual(await planGitHooks(folder, program), []);
  assert.equal(repository.cox(['git', 'uninstall']).code, 0);
  rmSync(hook);
  symlinkSync('elsewhere', hook);
  await assert.rejects(planGitHooks(folder, program), /is a symbolic link/);
});
