import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { mountList } from '../../../src/child-process/mount-list.ts';
import {
  type Confinement,
  HELPER_STDIO,
  ReadOnlyView,
  withReadOnlyView,
} from '../../../src/child-process/read-only-view.ts';
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

interface Around {
  readonly confinement: Confinement;
  /** Started first, and told the rest as its arguments. */
  readonly before: readonly string[];
  readonly env: Record<string, string>;
}

const US: Confinement = process.getuid?.() === 0 ? 'root' : 'user';
const AS_USER: Partial<Around> = {
  confinement: 'user',
  before: US === 'user' ? [] : ['unshare', '-U', '--map-user=1000', '--map-group=1000'],
};

/** Runs a script in which these are read-only, and answers its output. */
async function inView(place: Place, held: readonly string[], script: string, around: Partial<Around> = {}) {
  const { confinement = US, before = [], env = {} } = around;
  const folder = join(place.folder, `view-${readdirSync(place.folder).length}`);
  mkdirSync(folder);
  const list = join(folder, 'list');
  const { text, mounts } = mountList(held, confinement !== 'user');
  writeFileSync(list, text);
  const all = { ...place.env, ...env };
  const view = { confinement, list, mounts, cwd: place.folder, env: all };
  const [program = '', ...words] = [...before, ...withReadOnlyView(['sh', '-c', script], view)];
  const child = spawn(program, words, {
    cwd: place.folder,
    env: all,
    stdio: ['ignore', 'pipe', 'pipe', ...HELPER_STDIO],
  });
  const [, out, err, input, output] = child.stdio as [null, Readable, Readable, Writable, Readable];
  const attended = new ReadOnlyView(child.pid ?? 0, input, output);
  const [said] = await Promise.all([textOf(out), textOf(err), once(child, 'exit')]);
  attended.close();
  assert.equal(child.exitCode, 0);
  return said;
}

/** Writes to every file of the folder, inside, and answers those that have changed. */
async function changedInside(place: Place, around: Partial<Around> = {}): Promise<string[]> {
  const folder = join(place.folder, `files-${readdirSync(place.folder).length}`);
  mkdirSync(folder);
  for (const name of NAMES) writeFileSync(join(folder, name), 'held');
  const held = [join(folder, 'gone'), ...NAMES.map((name) => join(folder, name))];
  const write = `cd "${folder}"; for file in ./*; do echo changed > "$file"; done; echo new > new; exit 0`;
  await inView(place, held, write, around);
  assert.equal(readFileSync(join(folder, 'new'), 'utf8'), 'new\n');
  return NAMES.filter((name) => readFileSync(join(folder, name), 'utf8') !== 'held');
}

test('[KERN-1] many files are held, whatever they are called', async () => {
  using place = new Place();
  assert.deepEqual(await changedInside(place), []);
});

test('[KERN-1] many files are held for a user without privileges', async () => {
  using place = new Place();
  assert.deepEqual(await changedInside(place, AS_USER), []);
});

for (const [broken, other] of [
  ['perl', 'mount'],
  ['mount', 'Perl'],
] as const)
  test(`[KERN-1] with a ${broken} that fails, many files are held by ${other}`, async () => {
    using place = new Place();
    const bin = join(place.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, broken), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, broken), 0o755);
    const env = { PATH: `${bin}:${place.env.PATH}` };
    assert.deepEqual(await changedInside(place, { env }), []);
  });

for (const [who, around] of [
  ['the user that we are', {}],
  ['a user without privileges', AS_USER],
] as const)
  test(`[KERN-1] for ${who} the folders above a held file keep their names, and files move between them`, async () => {
    using place = new Place();
    const lib = join(place.folder, 'lib');
    for (const folder of ['src/deep', 'lib']) mkdirSync(join(place.folder, folder), { recursive: true });
    const held = join(place.folder, 'src/deep/held.ts');
    for (const path of [held, join(place.folder, 'src/free.ts'), join(lib, 'x.ts')])
      writeFileSync(path, 'as it was');
    // What renames by one system call does not copy instead.
    const rename = (from: string, to: string) => `perl -e 'rename shift, shift or exit 1' ${from} ${to}`;
    const script = `
      ${rename('src', 'src2')} && echo renamed src; ${rename('src/deep', 'src/deeper')} && echo renamed deep
      mv '${place.folder}' '${place.folder}-2' && echo renamed above; rm -rf src/deep; rmdir src/deep && echo removed
      ${rename('src/free.ts', 'src/deep/free.ts')} && ${rename('src/deep/free.ts', 'lib/free.ts')} && echo moved
      ${rename('lib', 'src/deep/lib')} && echo moved a folder; ln src/deep/lib/x.ts x.ts && echo linked; exit 0`;
    const said = await inView(place, [held], script, around);
    assert.deepEqual(said.trim().split('\n'), ['moved', 'moved a folder', 'linked']);
    assert.equal(readFileSync(held, 'utf8'), 'as it was');
    assert.equal(existsSync(lib), false);
  });

for (const [who, around] of [
  ['the user that we are', {}],
  ['a user without privileges', AS_USER],
] as const)
  test(`[KERN-1] for ${who} there is one view of the files, and a sandbox made in it holds what it holds`, async () => {
    using place = new Place();
    const { folder } = place;
    for (const name of ['src/deep', 'box']) mkdirSync(join(folder, name), { recursive: true });
    const held = join(folder, 'src/deep/held.ts');
    writeFileSync(held, 'as it was');
    // All files at another place, that place as the root, and the old root taken away.
    const sandbox = `mount --rbind / box && cd box && pivot_root . '.${folder}/box' && cd / && umount -l '${folder}/box' && cd '${folder}' &&
      echo set up; echo x > src/deep/held.ts; mv src src2 && echo renamed; echo free > src/free.ts && echo written`;
    const script = `awk '$5 == "/"' /proc/self/mountinfo | wc -l; grep -c '/src\\|cox-view' /proc/self/mountinfo
      unshare -Urm sh -c "${sandbox}; exit 0"; exit 0`;
    const said = await inView(place, [held], script, around);
    assert.deepEqual(said.trim().split('\n'), ['1', '1', 'set up', 'written']);
    assert.equal(readFileSync(held, 'utf8'), 'as it was');
  });

test('[KERN-1] the environment of the command is what it was given', async () => {
  using place = new Place();
  const given = { PWD: '/somewhere/else', OLDPWD: '/and/before' };
  const said = await inView(place, [], 'tr "\\0" "\\n" < /proc/$$/environ', { env: given });
  const kept = said.split('\n').filter((line) => /^(OLD)?PWD=/.test(line));
  assert.deepEqual(kept.sort(), [`OLDPWD=${given.OLDPWD}`, `PWD=${given.PWD}`]);
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
