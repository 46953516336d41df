import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { leftOutNotice, needsDynamoDb, readyJava } from '../../scripts/java.ts';
import { findJava } from '../support/java.ts';
import { readProject } from './files.ts';

const runner = join(import.meta.dirname, '..', '..', 'scripts', 'test.ts');
/** Named after the server it wants, as all of them are. */
const WANTING = 'test/support/dynamodb-proxy.test.ts';

interface Machine {
  readonly folder: string;
  /** A program of this name that does what the shell is told. */
  program(folder: string, name: string, script: string): void;
  /** All that such a machine has on its PATH. */
  path(...folders: string[]): string;
}

function machine(t: TestContext): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'cox-java-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    program(inside, name, script) {
      mkdirSync(join(folder, inside), { recursive: true });
      writeFileSync(join(folder, inside, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    path: (...folders) => folders.map((each) => join(folder, each)).join(delimiter),
  };
}

const says = (version: string) => `echo 'openjdk version "${version}" 2026-01-20' >&2`;

test('Java is taken from JAVA_HOME first, then from PATH, and only when it is new enough', (t) => {
  const { folder, program, path } = machine(t);
  program('stub', 'java', 'echo "Unable to locate a Java Runtime." >&2; exit 1');
  program('old', 'java', says('1.8.0_442'));
  program('new', 'java', says('17.0.15'));
  program('home/bin', 'java', says('25'));
  const PATH = path('stub', 'old', 'new');
  assert.deepEqual(findJava({ PATH }), { command: join(folder, 'new', 'java') });
  assert.deepEqual(findJava({ PATH, JAVA_HOME: join(folder, 'home') }), {
    command: join(folder, 'home', 'bin', 'java'),
  });
  const tooOld = findJava({ PATH: path('stub', 'old') });
  assert.ok('missing' in tooOld);
  assert.match(tooOld.missing, /old.java is Java 8\. Install Java 17 .*openjdk-17-jre-headless/);
  const none = findJava({ PATH: path('stub', 'nowhere') });
  assert.ok('missing' in none);
  assert.match(none.missing, /^no Java in JAVA_HOME and PATH\. Install Java 17/);
});

test('where we may, Java is installed, after fetching the list of packages if need be', async (t) => {
  const { folder, program, path } = machine(t);
  const PATH = path('bin');
  const calls = join(folder, 'calls');
  program('ready', 'java', says('17.0.15'));
  program(
    'bin',
    'apt-get',
    `echo "$*" >> ${calls}
case "$1" in
  install) [ -e ${folder}/list ] || exit 100; /bin/cp ${folder}/ready/java ${folder}/bin/java;;
  update) : > ${folder}/list;;
esac`,
  );
  assert.match((await readyJava({ PATH }, false)) ?? '', /no Java/);
  assert.throws(() => readFileSync(calls), 'asked although we may not');
  assert.equal(await readyJava({ PATH }, true), undefined);
  const install = 'install -y --no-install-recommends openjdk-17-jre-headless';
  assert.deepEqual(readFileSync(calls, 'utf8').trim().split('\n'), ['--version', install, 'update', install]);
});

test('an installation that fails is the same as none', async (t) => {
  const { program, path } = machine(t);
  program('bin', 'apt-get', '[ "$1" = --version ] || exit 100');
  assert.match((await readyJava({ PATH: path('bin') }, true)) ?? '', /no Java .*openjdk-17-jre-headless/);
});

test('without Java the run goes on and says what did not run; where Java is required it fails', (t) => {
  const { path } = machine(t);
  const { JAVA_HOME: _, COX_TEST_REQUIRE_JAVA: __, ...env } = process.env;
  const run = (more: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [runner, '--long', WANTING], {
      env: { ...env, PATH: path('empty'), ...more },
      encoding: 'utf8',
    });
  const left = run({});
  assert.equal(left.status, 0, left.stderr);
  assert.match(left.stderr, /!!! 1 test file did not run: DynamoDB Local needs Java\./);
  assert.match(left.stderr, /^ {2}test\/support\/dynamodb-proxy\.test\.ts$/m);
  assert.match(left.stderr, /!!! no Java in JAVA_HOME and PATH\. Install Java 17/);
  const required = run({ COX_TEST_REQUIRE_JAVA: '1' });
  assert.equal(required.status, 1);
  assert.match(required.stderr, /did not run/);
});

test('the notice names every file', () => {
  const notice = leftOutNotice(['test/a/dynamodb.test.ts', 'test/b/dynamodb.test.ts'], 'Why. How.');
  assert.match(notice, /!!! 2 test files did not run.*a\/dynamodb.*b\/dynamodb.*!!! Why\. How\./s);
});

test('a test that wants DynamoDB Local says so in its name', () => {
  const wanting = (text: string) =>
    [...text.matchAll(/^import [^;]* from '(\.[^']*)';$/gm)].some(
      ([statement, from = '']) => /dynamodb/i.test(statement) && !/\/(src|scripts)\//.test(from),
    );
  assert.ok(wanting("import { testTable } from '../support/dynamodb.ts';"));
  assert.ok(wanting("import { dynamodb, files } from './engine.ts';"));
  assert.ok(!wanting("import { parse } from '../../src/stores/dynamodb/address.ts';"));
  const unnamed = readProject()
    .filter(({ path, text }) => /^test\/.*\.test\.ts$/.test(path) && wanting(text))
    .filter(({ path }) => !needsDynamoDb(path));
  assert.deepEqual(
    unnamed.map(({ path }) => path),
    [],
  );
});
