import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { acquireLock } from '../../../src/features/locks/operations/acquire-lock-operation.ts';
import { open } from '../../../src/index.ts';
import { watchAll, watchTree } from '../../../src/transports/run/watch-tree.ts';
import { Watching } from '../../../src/transports/run/watching.ts';
import { until } from '../../support/until.ts';
import { Place } from './support.ts';

const nobody = { leaveOut: async () => new Set<string>(), failed: () => {} };

for (const [name, watch] of Object.entries({ watchTree, watchAll }))
  test(`[HOOK-4] ${name}: hears of files in folders that come and go, and not of git’s own`, async () => {
    using place = new Place();
    const repository = place.repository();
    const heard = new Set<string>();
    const changed = (path: string) => heard.add(path.slice(repository.root.length + 1));
    const tree = await watch(repository.root, { ...nobody, changed });
    repository.write('a.ts', 'changed\n');
    repository.write('new/deep/er/x.ts', '1\n');
    repository.write('.git/own', '1\n');
    await until(async () => heard.has('a.ts') && heard.has('new/deep/er/x.ts'));
    renameSync(join(repository.root, 'new'), join(repository.root, 'moved'));
    await until(async () => heard.has('moved'));
    repository.write('moved/deep/er/y.ts', '1\n');
    await until(async () => heard.has('moved/deep/er/y.ts'));
    rmSync(join(repository.root, 'moved'), { recursive: true });
    mkdirSync(join(repository.root, 'moved'));
    repository.write('moved/again.ts', '1\n');
    await until(async () => heard.has('moved/again.ts'));
    tree.stop();
    assert.deepEqual(
      [...heard].filter((path) => path.startsWith('.git')),
      [],
    );
  });

test('[HOOK-4] folders that git ignores are not watched, nor are links followed', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.write('.gitignore', 'big/\n');
  for (const name of ['big/a/b', 'src', 'src/big'])
    mkdirSync(join(repository.root, name), { recursive: true });
  symlinkSync(place.folder, join(repository.root, 'loop'));
  const asked: string[] = [];
  const leaveOut = async (folders: readonly string[]) => {
    asked.push(...folders.map((path) => path.slice(repository.root.length + 1)));
    return new Set(folders.filter((path) => path.endsWith('/big')));
  };
  const tree = await watchTree(repository.root, { ...nobody, leaveOut, changed: () => {} });
  tree.stop();
  assert.deepEqual(asked.sort(), ['big', 'src', 'src/big']);
});

test('[HOOK-4] where the system gives no watches git is asked from time to time; what was there before is nobody’s', async () => {
  using place = new Place();
  const repository = place.repository();
  repository.write('.gitignore', '*.log\n');
  repository.write('before.ts', 'dirty\n');
  const coxswain = await open({ cwd: repository.root, env: {}, store: `sqlite:${repository.root}/cox.db` });
  const noticed: string[] = [];
  const watching = await Watching.start(
    coxswain,
    place.env,
    async (paths) => void noticed.push(...paths.map((path) => path.slice(repository.root.length + 1))),
    async (_root, { failed }) => {
      failed('no space left');
      return { stop: () => {} };
    },
  );
  const answer = await coxswain.connect({ agent_id: 'bob' }).perform(acquireLock, { file_path: 'a.ts' });
  assert.equal(answer.success, true);
  repository.write('a.ts', 'changed\n');
  repository.write('x.log', 'ignored\n');
  await until(async () => noticed.length > 0);
  assert.deepEqual(noticed, ['a.ts']);
  repository.write('before.ts', 'changed\n');
  await watching.stop();
  assert.deepEqual(noticed, ['a.ts', 'before.ts'], 'the last change too, and never the store itself');
  await coxswain.close();
});

for (const [kind, named] of [
  ['sqlite', 'data'],
  ['files', '.ai-workspace'],
] as const)
  test(`[HOOK-4] a ${kind} store in the work tree: what is written to it is nobody’s change, what only begins with its name is`, async () => {
    using place = new Place();
    const repository = place.repository();
    // By a link: the work tree's own paths come without.
    symlinkSync(repository.root, join(place.folder, 'link'));
    const store = `${kind}:${join(place.folder, 'link', named)}`;
    const coxswain = await open({ cwd: repository.root, env: {}, store });
    const noticed = new Set<string>();
    const watching = await Watching.start(coxswain, place.env, async (paths) => {
      for (const path of paths) noticed.add(path.slice(repository.root.length + 1));
    });
    const answer = await coxswain.connect({ agent_id: 'bob' }).perform(acquireLock, { file_path: 'a.ts' });
    assert.equal(answer.success, true);
    repository.write('database.ts', '1\n');
    repository.write('.ai-workspace/features/f.yml', 'feature: F\n');
    await watching.stop();
    assert.deepEqual([...noticed].sort(), ['.ai-workspace/features/f.yml', 'database.ts']);
    await coxswain.close();
  });
