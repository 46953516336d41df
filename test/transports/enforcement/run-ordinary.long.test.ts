import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ordinaryCommands } from './ordinary-commands.ts';
import { COX, Place, type Repository } from './support.ts';

const DAY_MS_MAX = 300_000;

const FILES: Record<string, string> = {
  'package.json': `${JSON.stringify({ name: 'a-project', version: '1.0.0', scripts: { test: 'node --test src/math.test.mjs > build/tests', hello: 'node scripts/hello.mjs' } }, null, 2)}\n`,
  '.gitignore': 'build/\nnode_modules/\n*.pyc\n__pycache__/\n',
  'README.md': 'one: a\ntwo: b\nthree: c\n',
  'src/app.ts': "import { util } from './util.ts'\nexport const app = (a: number) => util(a)+1\n",
  'src/util.ts': 'export const util = (a: number) => a * 2;\n',
  'src/held.ts': 'export const held = 1;\n',
  'src/math.test.mjs': "import { test } from 'node:test';\ntest('adds', () => {});\n",
  'docs/guide.md': '# Guide\n',
  'docs/held.md': '# Held\n',
  'scripts/hello.mjs': "console.log('hello');\n",
  'scripts/hello.c': '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
  'scripts/run.sh': '#!/bin/sh\necho "$0" "$@" "$#"\n',
  'scripts/test_one.py':
    'import unittest\nclass One(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n',
  'scripts/Makefile': 'build/made: README.md\n\tcp $< $@\nclean:\n\trm -f build/made\n',
  'vendor/left/package.json': '{ "name": "left", "version": "1.0.0", "bin": { "hello-cli": "cli.js" } }\n',
  'vendor/left/cli.js': "#!/usr/bin/env node\nconsole.log('cli');\n",
};

/** A project with one commit and a remote, the same each time but for its path, which is as long as the other's. */
function layOut(place: Place, name: string, env: Record<string, string>): Repository {
  const folder = join(place.folder, name);
  mkdirSync(folder);
  const repository = place.repository(`${name}/project`);
  for (const [path, text] of Object.entries(FILES)) repository.write(path, text);
  mkdirSync(join(repository.root, 'build'));
  for (const words of [
    ['init', '-q', '--bare', '../origin.git'],
    ['add', '-A'],
    ['commit', '-qm', 'A project', '--amend', '--reset-author'],
    ['push', '-q', '../origin.git', 'main'],
  ])
    assert.equal(repository.run('git', words, env).code, 0);
  return repository;
}

interface Said {
  readonly code: string;
  readonly out: string;
  readonly err: string;
}

/** One script: each command in a shell of its own, with what it says and its exit code in files. */
function dayOf(folder: string, commands: readonly string[]): string {
  for (const name of ['commands', 'said']) mkdirSync(join(folder, name));
  const lines = commands.map((command, index) => {
    writeFileSync(join(folder, 'commands', String(index)), command);
    const said = join(folder, 'said', String(index));
    return `timeout -k 1 30 bash ../commands/${index} </dev/null >${said}.out 2>${said}.err; echo $? >${said}.code\n`;
  });
  const script = join(folder, 'day');
  writeFileSync(script, lines.join(''));
  return script;
}

/** Without privileges, files of other users are shown with another owner in a user namespace. */
const OTHERS = process.getuid?.() === 0 ? /(?!)/g : /\b(root root|nobody no\w+)\b/g;

/** What differs from one time to the next anyway: places, times, numbers of processes, and random names. */
function normalised(text: string, folder: string): string {
  return text
    .replaceAll(folder, '<folder>')
    .replace(OTHERS, '<other user>')
    .replace(/\b\d+(\.\d+)? ?(ms|s|MB|kB|bytes)\b/g, '<n> $2')
    .replace(/\b\d{4}-\d\d-\d\d[T_][\d:._]+Z?/g, '<time>')
    .replace(/\b\d\d:\d\d(:\d\d)?\b/g, '<time>')
    .replace(/line \d+: +\d+ /g, 'line <n>: <pid> ')
    .replace(/\bpid \d+/g, 'pid <n>');
}

function saidIn(folder: string, count: number): Said[] {
  return Array.from({ length: count }, (_, index) => {
    const read = (kind: string) =>
      normalised(readFileSync(join(folder, 'said', `${index}.${kind}`), 'utf8'), folder);
    return { code: read('code'), out: read('out'), err: read('err') };
  });
}

/** Built at other times, or with keys and names that are new each time. */
const OF_ITS_TIME =
  /^(\.git\/|build\/(p$|clone\/\.git\/|key|data\.db|tmp\.|all\.bundle|src\.(tgz|zip)|.*\.pyc$|list\.gz|trace|venv|tests|hello|.*\.tgz$)|node_modules\/\.package-lock|scripts\/__pycache__)/;

/** Each file with its mode and content, each link with where it leads. */
function treeOf(root: string, below = ''): string[] {
  return readdirSync(join(root, below))
    .sort()
    .flatMap((name) => {
      const path = join(below, name);
      const full = join(root, path);
      const found = lstatSync(full);
      if (OF_ITS_TIME.test(found.isDirectory() ? `${path}/` : path)) return [];
      if (found.isDirectory()) return [`${path}/ ${found.mode.toString(8)}`, ...treeOf(root, path)];
      const content = found.isSymbolicLink()
        ? readlinkSync(full)
        : found.isFile()
          ? readFileSync(full, 'latin1')
          : '';
      return [`${path} ${found.mode.toString(8)} ${normalised(content, dirname(root))}`];
    });
}

test('[KERN-1] the commands of a working day do and say in a protected run what they do outside', async (t) => {
  using place = new Place();
  const commands = ordinaryCommands();
  assert.ok(commands.length >= 200);
  const BIN = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
  const python = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).stdout;
  const dates = { GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' };
  const PATH = [...(python ? [dirname(python.trim())] : []), dirname(process.execPath), place.env.PATH].join(
    ':',
  );
  const env = {
    ...dates,
    BIN,
    PATH,
    npm_config_cache: join(place.folder, 'npm'),
    npm_config_update_notifier: 'false',
  };

  const outside = layOut(place, 'outside', env);
  const outsideDay = dayOf(dirname(outside.root), commands);
  const started = performance.now();
  assert.equal(outside.run('bash', [outsideDay], env, '', DAY_MS_MAX).code, 0);
  const between = performance.now();

  const inside = layOut(place, 'insided', env);
  await inside.lock('bob', 'src/held.ts', 'docs/held.md');
  const insideDay = dayOf(dirname(inside.root), commands);
  const words = [COX, 'run', '--protect', 'require', '--agent', 'alice', '--', 'bash', insideDay];
  const { code, err } = inside.run(process.execPath, words, env, '', DAY_MS_MAX);
  assert.equal(code, 0, err);
  const took = [between - started, performance.now() - between].map((ms) => Math.round(ms / 100) / 10);

  const [as, is] = [
    saidIn(dirname(outside.root), commands.length),
    saidIn(dirname(inside.root), commands.length),
  ];
  const missing = as.filter(({ code: each, err: text }) => each === '127\n' && /not found/.test(text)).length;
  const well = as.filter(({ code: each }) => each === '0\n').length;
  t.diagnostic(
    `${commands.length} commands in ${took[0]} s outside and ${took[1]} s inside; ${well} succeed, ${missing} are not on this machine`,
  );
  assert.ok(commands.length - missing >= 200);
  const differing = commands.flatMap((command, index) => {
    const [before, after] = [as[index], is[index]];
    return JSON.stringify(before) === JSON.stringify(after)
      ? []
      : [{ command, outside: before, inside: after }];
  });
  assert.deepEqual(differing, []);
  assert.deepEqual(treeOf(inside.root), treeOf(outside.root));
});
