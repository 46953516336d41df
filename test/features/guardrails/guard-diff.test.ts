import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { assessDiff, assessFiles } from '../../../src/features/guardrails/diff/assess-diff.ts';
import { parseDiff } from '../../../src/features/guardrails/diff/parse-diff.ts';

const folder = mkdtempSync(join(tmpdir(), 'cox-diff-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = ['gh', 'p_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYabcd'].join('');

class Repository {
  readonly path: string;

  constructor(name: string) {
    this.path = join(folder, name);
    mkdirSync(this.path);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Test');
    this.git('config', 'user.email', 'test@example.com');
  }

  git(...words: string[]): string {
    return execFileSync('git', words, {
      cwd: this.path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  write(name: string, text: string | Buffer): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true });
    writeFileSync(join(this.path, name), text);
  }

  commit(): void {
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', 'never run rm -rf /\n\n@@ -1 +1 @@\n+DROP TABLE users;');
  }

  /** What the work tree differs in from the last commit, in git's words. */
  diff(...options: string[]): string {
    this.git('add', '-A');
    return this.git('diff', '--cached', ...options);
  }
}

/** `file:line operation`, in order. */
async function found(diff: string): Promise<string[]> {
  return (await assessDiff(diff)).map(({ file, line, operation }) => `${file}:${line} ${operation}`);
}

test('[GUARD-4] what a change adds is judged by the kind of its file', async () => {
  const repository = new Repository('kinds');
  repository.commit();
  repository.write('db/clean.sql', 'SELECT 1;\n\nDELETE FROM users;\nDELETE FROM users WHERE id = 1;\n');
  repository.write('scripts/ship.sh', '#!/bin/sh\nset -e\ngit push \\\n  --force origin mine\n');
  repository.write('tool', '#!/usr/bin/env bash\nrm -rf /data\n');
  repository.write('Makefile', 'ship:\n\t@git push --force\n\t$(RM) -rf $(DATA)\n');
  repository.write(
    'Dockerfile',
    'FROM node\nRUN apt-get update && \\\n  rm -rf /var/lib/apt/lists/*\nRUN git push --force\n',
  );
  repository.write(
    '.github/workflows/ci.yml',
    'jobs:\n  a:\n    steps:\n      - run: |\n          npm ci\n          git push --force\n      - name: x\n        run: rm -rf /x\n',
  );
  repository.write('.gitlab-ci.yml', 'a:\n  script:\n    - npm ci\n    - git push --force\n');
  repository.write(
    'package.json',
    '{\n  "scripts": {\n    "ship": "git push --force",\n    "test": "node --test"\n  }\n}\n',
  );
  repository.write('src/a.ts', "// git push --force\nconst never = 'rm -rf /; DROP TABLE users';\n");
  repository.write('README.md', '```sh\ngit push --force\n```\n');
  repository.write('notes.sh', 'echo "never rm -rf /"\n# git push --force\n');
  assert.deepEqual(await found(repository.diff()), [
    '.github/workflows/ci.yml:6 force_push',
    '.gitlab-ci.yml:4 force_push',
    'Dockerfile:4 force_push',
    'Makefile:2 force_push',
    'Makefile:3 recursive_delete',
    'db/clean.sql:3 unscoped_delete',
    'package.json:3 force_push',
    'scripts/ship.sh:3 force_push',
    'tool:2 recursive_delete',
  ]);
});

test('[GUARD-5] credential files and secrets in a change', async () => {
  const repository = new Repository('credentials');
  repository.write('old.env', 'A=1\n');
  repository.commit();
  repository.write('.env', 'PORT=1\n');
  repository.write('.env.example', 'TOKEN=changeme\n');
  repository.write('src/config.ts', `export const a = 1;\nexport const token = '${SECRET}';\n`);
  renameSync(join(repository.path, 'old.env'), join(repository.path, 'harmless.txt'));
  const findings = await assessDiff(repository.diff('-M'));
  assert.deepEqual(
    findings.map(({ file, line, operation }) => [file, line, operation]),
    [
      ['.env', undefined, 'credential_modify'],
      ['old.env', undefined, 'credential_modify'],
      ['src/config.ts', 2, 'secret_added'],
    ],
  );
  assert.ok(!JSON.stringify(findings).includes(SECRET));
});

test('a change next to dangerous lines is not blamed for them, taking the condition away is', async () => {
  const repository = new Repository('context');
  const lines = [
    '-- a',
    'DELETE FROM kept',
    '  WHERE id = 1;',
    '-- b',
    'DELETE FROM users;',
    '-- c',
    'SELECT 1;',
  ];
  repository.write('a.sql', `${lines.join('\n')}\n`);
  repository.write('b.sh', 'rm -rf /data\necho 1\n');
  repository.commit();
  repository.write('a.sql', `${lines.with(6, 'SELECT 2;').join('\n')}\n`);
  repository.write('b.sh', 'rm -rf /data\necho 2\n');
  assert.deepEqual(await found(repository.diff()), []);
  repository.write('a.sql', `${lines.with(2, '  ;').join('\n')}\n`);
  assert.deepEqual(await found(repository.diff()), ['a.sql:3 unscoped_delete']);
  repository.write('a.sql', `${lines.toSpliced(2, 1).join('\n')}\n`);
  assert.deepEqual(await found(repository.diff()), ['a.sql:2 unscoped_delete']);
  repository.write('b.sh', 'rm -rf /data\necho 1\nrm -rf /data\n');
  repository.write('a.sql', `${lines.join('\n')}\n`);
  assert.deepEqual(await found(repository.diff()), ['b.sh:3 recursive_delete']);
});

test('a line taken out of the middle of a statement changes the statement', async () => {
  const repository = new Repository('gaps');
  repository.write('a.sql', 'DELETE FROM users\n  WHERE id = 1\n;\nSELECT 1;\n');
  repository.write('b.sh', 'git push \\\n  origin mine \\\n  --force\necho\n');
  repository.commit();
  repository.write('a.sql', 'DELETE FROM users\n;\nSELECT 1;\n');
  repository.write('b.sh', 'git push \\\n  --force\necho\n');
  assert.deepEqual(await found(repository.diff()), ['a.sql:1 unscoped_delete', 'b.sh:1 force_push']);
});

test('parts of a file that begin in the middle of something', async () => {
  const repository = new Repository('middle');
  const before = [
    'if true; then',
    ...Array.from({ length: 9 }, (_, index) => `echo ${index}`),
    'fi',
    'echo end',
  ];
  const step = [
    'jobs:',
    '  a:',
    '    steps:',
    '      - run: |',
    ...before.map((line) => `          ${line}`),
  ];
  repository.write('a.sh', before.join('\n'));
  repository.write('.github/workflows/a.yml', step.join('\n'));
  repository.commit();
  repository.write('a.sh', [...before, 'git push --force'].join('\n'));
  repository.write('.github/workflows/a.yml', [...step, '          git push --force'].join('\n'));
  assert.deepEqual(await found(repository.diff()), [
    '.github/workflows/a.yml:17 force_push',
    'a.sh:13 force_push',
  ]);
});

test('names that git has to quote, and everything else it writes', async () => {
  const repository = new Repository('names');
  repository.write('gone.sh', 'rm -rf /data\n');
  repository.write('image.png', Buffer.from([0, 1, 2, 3]));
  repository.write('mode.sh', 'echo\n');
  repository.commit();
  rmSync(join(repository.path, 'gone.sh'));
  repository.write('image.png', Buffer.from([0, 3, 2, 1]));
  repository.git('update-index', '--chmod=+x', 'mode.sh');
  repository.write('a b/ü "q"\n.sh', 'git push --force');
  repository.write('tab\there.sh', 'git push --force\r\n');
  repository.write('--- a.sh', '++ b\n--- x\n+++ y\ngit push --force\n');
  repository.write('empty.env', '');
  const expected = [
    '--- a.sh:4 force_push',
    'a b/ü "q"\n.sh:1 force_push',
    'empty.env:undefined credential_modify',
    'tab\there.sh:1 force_push',
  ];
  const kinds = [
    [],
    ['--binary'],
    ['--no-prefix'],
    ['-U0'],
    ['--src-prefix=i/', '--dst-prefix=w/'],
    ['--full-index'],
  ];
  for (const options of kinds)
    assert.deepEqual((await found(repository.diff(...options))).sort(), expected, String(options));
  const crlf = repository.diff().replaceAll('\n', '\r\n');
  assert.deepEqual((await found(crlf)).sort(), expected);
  repository.git('commit', '-q', '-m', 'x\n\ndiff --git a/x b/x');
  assert.deepEqual((await found(repository.git('format-patch', '--stdout', '-1'))).sort(), expected);
});

test('a merge as git shows it', async () => {
  const repository = new Repository('merge');
  repository.write('a.sh', 'echo 1\n');
  repository.commit();
  repository.git('checkout', '-q', '-b', 'other');
  repository.write('a.sh', 'echo 2\n');
  repository.commit();
  repository.git('checkout', '-q', 'main');
  repository.write('a.sh', 'echo 3\n');
  repository.commit();
  assert.throws(() => repository.git('merge', '-q', 'other'));
  repository.write('a.sh', 'echo 4\ngit push --force\n');
  repository.git('commit', '-qam', 'merged');
  assert.deepEqual(await found(repository.git('show', '--format=', 'HEAD')), ['a.sh:2 force_push']);
});

test('migrations by their place, once each', async () => {
  const repository = new Repository('migrations');
  repository.commit();
  repository.write(
    'db/migrations/001_a.sql',
    'CREATE TABLE a (b int);\nCREATE TABLE c (d int);\nDROP TABLE e;\n',
  );
  repository.write('db/migrate/2_b.rb', 'class A\n  def up\n    execute "TRUNCATE users"\n  end\nend\n');
  repository.write(
    'alembic/versions/3_c.py',
    'op.execute("""\n  DELETE FROM users\n""")\nx = "drop the ball"\n',
  );
  repository.write('migrations/README.md', 'DROP TABLE users\n');
  assert.deepEqual(await found(repository.diff()), [
    'alembic/versions/3_c.py:undefined migration_change',
    'alembic/versions/3_c.py:1 unscoped_delete',
    'db/migrate/2_b.rb:undefined migration_change',
    'db/migrate/2_b.rb:3 truncate_table',
    'db/migrations/001_a.sql:undefined migration_change',
    'db/migrations/001_a.sql:3 drop_table',
  ]);
  const names = ['db/migrations/001_a.sql', 'src/a.ts', 'config/.env', 'V2__x.sql'];
  assert.deepEqual(
    assessFiles(names).map(({ file, operation }) => `${file} ${operation}`),
    [
      'db/migrations/001_a.sql migration_change',
      'config/.env credential_modify',
      'V2__x.sql migration_change',
    ],
  );
});

test('what is no diff, or not all of one, is said to be unreadable', async () => {
  const rows = [
    'nonsense',
    '@@ -1 +1 @@\n-a\n+b\n',
    '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n',
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n?a\n',
    '--- a/x\n+++ b/x\n@@ nowhere @@\n+a\n',
  ];
  for (const diff of rows) {
    const [finding] = await assessDiff(diff);
    assert.deepEqual([finding?.category, finding?.operation], ['unresolved', 'unreadable_change'], diff);
  }
  assert.deepEqual(await assessDiff(''), []);
  assert.deepEqual(await assessDiff('\n \n'), []);
});

test('what was found before the unreadable place is still said', async () => {
  const diff = '--- a/x.sh\n+++ b/x.sh\n@@ -0,0 +1 @@\n+git push --force\n@@ -1 +1,9 @@\n';
  assert.deepEqual(await found(diff), ['x.sh:1 force_push', 'undefined:7 unreadable_change']);
});

test('no text breaks the reader, and large ones are read quickly', async () => {
  const line = fc.oneof(
    fc.constantFrom(
      'diff --git a/x b/x',
      '--- a/x.sql',
      '+++ b/x.sql',
      '@@ -1,2 +1,2 @@',
      '@@@ -1 -1 +1 @@@',
      '+DROP TABLE x',
      '-a',
      ' b',
    ),
    fc.constantFrom(
      '\\ No newline',
      'rename to "a\\303',
      'GIT binary patch',
      '+++ "b/\\',
      'diff --cc x',
      'Binary files a and b differ',
    ),
    fc.string({ maxLength: 30 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (lines) => {
      const diff = lines.join('\n');
      assert.ok(parseDiff(diff).files.length <= lines.length);
      assert.ok((await assessDiff(diff)).length <= 50);
    }),
    { numRuns: 500 },
  );
  for (const [name, text] of [
    ['big.json', '  "a": "b",'],
    ['big.sql', "INSERT INTO t VALUES ('a', 1);"],
    ['big.sh', 'echo hello "$world"'],
  ] as const) {
    const count = Math.floor(1_000_000 / text.length);
    const diff = `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,${count} @@\n${`+${text}\n`.repeat(count)}`;
    const started = performance.now();
    const findings = await assessDiff(diff);
    assert.ok(findings.length <= 1, JSON.stringify(findings[0]));
    assert.ok(performance.now() - started < 10_000, name);
  }
});
