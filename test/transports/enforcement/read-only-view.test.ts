import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mountLine, withReadOnlyView } from '../../../src/child-process/read-only-view.ts';
import { sandboxProfile } from '../../../src/child-process/sandbox-view.ts';
import { Place } from './support.ts';

/** Names that a list of mounts, a shell or Perl could take for something else. */
const NAMES = [
  ...['plain', 'with space', 'tab\there', 'line\nbreak', 'back\\slash', '\\040', 'ünï', 'nb\u00a0sp', '日本'],
  ...[
    '$HOME',
    '`id`',
    "quote'",
    '"double"',
    '#hash',
    '-n',
    '*',
    '%s',
    '@ARGV',
    'a;b',
    'a|b',
    'a&b',
    '~',
    '{a,b}',
  ],
];

const VIEW = new URL('../../../src/child-process/read-only-view.ts', import.meta.url).href;

/** What is started for a user without privileges, as a process of that user is told. */
function asUser(command: readonly string[], list: string, paths: number): string[] {
  if (process.getuid?.() !== 0) return withReadOnlyView(command, list, paths);
  const user = ['unshare', '-U', '--map-user=1000', '--map-group=1000'];
  const ask = `import('${VIEW}').then((view) => console.log(JSON.stringify(view.withReadOnlyView(...${JSON.stringify([command, list, paths])}))))`;
  const { stdout } = spawnSync('unshare', [...user.slice(1), process.execPath, '-e', ask], {
    encoding: 'utf8',
  });
  return [...user, ...(JSON.parse(stdout) as string[])];
}

/** Writes to every file of the folder, inside, and answers those that have changed. */
function changedInside(place: Place, around = withReadOnlyView, env: Record<string, string> = {}): string[] {
  const folder = join(place.folder, `files-${readdirSync(place.folder).length}`);
  mkdirSync(folder);
  for (const name of NAMES) writeFileSync(join(folder, name), 'held');
  const gone = join(folder, 'gone');
  const list = `${folder}.mounts`;
  writeFileSync(list, [gone, ...NAMES.map((name) => join(folder, name))].map(mountLine).join(''));
  const write = 'for file in ./*; do echo changed > "$file"; done; echo new > new; exit 0';
  const words = around(['sh', '-c', write], list, NAMES.length + 1);
  const { status, stderr } = spawnSync(words[0] ?? '', words.slice(1), {
    cwd: folder,
    env: { ...place.env, ...env },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(join(folder, 'new'), 'utf8'), 'new\n');
  return NAMES.filter((name) => readFileSync(join(folder, name), 'utf8') !== 'held');
}

test('[KERN-1] many files are held, whatever they are called', () => {
  using place = new Place();
  assert.deepEqual(changedInside(place), []);
});

test('[KERN-1] many files are held for a user without privileges', () => {
  using place = new Place();
  assert.deepEqual(changedInside(place, asUser), []);
});

for (const [broken, other] of [
  ['perl', 'mount'],
  ['mount', 'Perl'],
] as const)
  test(`[KERN-1] with a ${broken} that fails, many files are held by ${other}`, () => {
    using place = new Place();
    const bin = join(place.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, broken), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, broken), 0o755);
    assert.deepEqual(changedInside(place, withReadOnlyView, { PATH: `${bin}:${place.env.PATH}` }), []);
  });

test('[KERN-1] on macOS the profile denies writes to held files and to all in held folders', () => {
  assert.equal(
    sandboxProfile([
      { path: '/repo/a "b".ts', isFolder: false },
      { path: '/repo/back\\slash', isFolder: true },
    ]),
    '(version 1)\n(allow default)\n(deny file-write* (literal "/repo/a \\"b\\".ts"))\n(deny file-write* (subpath "/repo/back\\\\slash"))\n',
  );
  assert.equal(sandboxProfile([]), '(version 1)\n(allow default)\n');
});
