import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { temporaryFolder } from '../chaos/crew.ts';
import { agent } from '../conformance/engine.ts';

/** What happens on the disk between a lock and its release. */
const CHANGES: readonly [
  string,
  { name: string; before?: (at: string) => void; between: (at: string) => void },
][] = [
  ['a folder was made where nothing was', { name: 'build', between: (at) => mkdirSync(join(at, 'build')) }],
  [
    'the folder is gone',
    {
      name: 'build',
      before: (at) => mkdirSync(join(at, 'build')),
      between: (at) => rmSync(join(at, 'build'), { recursive: true }),
    },
  ],
  [
    'the file became a link to another',
    {
      name: 'a.ts',
      between(at) {
        writeFileSync(join(at, 'b.ts'), '');
        symlinkSync('b.ts', join(at, 'a.ts'));
      },
    },
  ],
  [
    'the link leads elsewhere',
    {
      name: 'link/a.ts',
      before(at) {
        for (const folder of ['one', 'two']) mkdirSync(join(at, folder));
        symlinkSync('one', join(at, 'link'));
      },
      between(at) {
        rmSync(join(at, 'link'));
        symlinkSync('two', join(at, 'link'));
      },
    },
  ],
];

for (const [what, { name, before, between }] of CHANGES) {
  for (const several of [false, true]) {
    test(`[LOCK-9] ${what}: a release means what was locked under that name${several ? ', of several too' : ''}`, async () => {
      using folder = temporaryFolder();
      before?.(folder.path);
      const coxswain = await open({ store: 'memory:', cwd: folder.path });
      const ann = agent(coxswain, 'ann');
      const asked = several ? { file_paths: [name, 'other.ts'] } : { file_path: name };
      assert.equal((await ann('acquire_lock', asked)).success, true);
      between(folder.path);
      const released = await ann('release_lock', asked);
      assert.equal(released.success, true, JSON.stringify(released));
      assert.deepEqual((await ann('check_locks', {})).locks, []);
      // Over: from here on the name means what it leads to.
      const again = await ann('acquire_lock', asked);
      assert.equal(again.success, true);
      assert.equal((await ann('release_lock', asked)).success, true);
    });
  }
}

test('[LOCK-9] a pattern is released by its name, and a name that is held twice over by the one it was last', async () => {
  using folder = temporaryFolder();
  const coxswain = await open({ store: 'memory:', cwd: folder.path });
  const ann = agent(coxswain, 'ann');
  for (const file_path of ['src/*.ts', './src/../web/**', 'build']) {
    assert.equal((await ann('acquire_lock', { file_path })).success, true);
  }
  mkdirSync(join(folder.path, 'build'));
  assert.equal((await ann('acquire_lock', { file_path: 'build' })).file_path, 'build/');
  for (const file_path of ['src/*.ts', './src/../web/**', 'build'])
    assert.equal((await ann('release_lock', { file_path })).success, true, file_path);
  const left = (await ann('check_locks', {})).locks as { file_path: string }[];
  assert.deepEqual(
    left.map(({ file_path }) => file_path),
    ['build'],
  );
});

test('[LOCK-9] of several names each is over with its own lock, though another was not held', async () => {
  using folder = temporaryFolder();
  for (const name of ['one', 'two']) mkdirSync(join(folder.path, name));
  symlinkSync('one', join(folder.path, 'link'));
  const coxswain = await open({ store: 'memory:', cwd: folder.path });
  const ann = agent(coxswain, 'ann');
  const file_path = 'link/a.ts';
  await ann('acquire_lock', { file_path });
  const answer = await ann('release_lock', { file_paths: [file_path, 'never.ts'] });
  assert.deepEqual(
    (answer.results as { success: boolean }[]).map(({ success }) => success),
    [true, false],
  );
  rmSync(join(folder.path, 'link'));
  symlinkSync('two', join(folder.path, 'link'));
  // Locked by another name of its own; the old one now leads there.
  await ann('acquire_lock', { file_path: 'two/a.ts' });
  assert.equal((await ann('release_lock', { file_path })).success, true);
});
