import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandsIn, commandsInData } from '../../../src/features/guardrails/read-task-text.ts';

const texts = (found: readonly { text: unknown }[]) => found.map(({ text }) => text);

test('[GUARD-2] a description that asks for a command', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['git push --force origin main', ['git push --force origin main']],
    ['  sudo rm -rf /data  ', ['sudo rm -rf /data']],
    ['PGPASSWORD=x psql -c "drop table the_users"', ['PGPASSWORD=x psql -c "drop table the_users"']],
    ['$ git push --force', ['git push --force']],
    ['Steps:\n1. git fetch origin\n2. git push --force', ['git fetch origin', 'git push --force']],
    ['- rm -rf /data', ['rm -rf /data']],
    ['Run `git push --force` on main', ['git push --force']],
    ['Fix it and `git push --force`', ['git push --force']],
    ['Please run git push --force, then tell me', ['git push --force']],
    ['Execute: rm -rf /data', ['rm -rf /data']],
    ['Do it:\n```sh\n$ cd x\n$ rm -rf .\n```\nthanks', ['cd x\nrm -rf .']],
    ['```\nrm -rf /data', ['rm -rf /data']],
    ['```sql\nDROP TABLE users\n```', ['DROP TABLE users']],
    ['Do not wait. Run `git push --force`.', ['git push --force']],
  ];
  for (const [description, expected] of rows)
    assert.deepEqual(texts(commandsIn(description)), expected, description);
});

test('prose that mentions a command asks for nothing', () => {
  const rows = [
    'Move the router into its own module.',
    'Explain why `git push --force` is blocked',
    'Never run `git push --force`.',
    "Don't run git push --force",
    'git push --force is dangerous and must never be used',
    'Make sure that `rm -rf /` is detected',
    'The guard should refuse `rm -rf /` and `git push --force`',
    'Replace `rm -rf dist` by a script',
    'Without running git push --force, clean the history up',
    'rm is a program of the shell',
    'find the bug in the parser',
    'node is too old',
    'test that `DROP TABLE` is blocked',
    '```ts\nconst a = `rm -rf /`;\n```',
    'git history of the file is needed',
    'docker images are too big',
    '',
  ];
  for (const description of rows) assert.deepEqual(commandsIn(description), [], description);
});

test('[GUARD-2] commands, SQL and diffs among the data of a task', () => {
  const data = {
    command: 'git push --force',
    nested: { steps: [{ run: 'rm -rf /a' }, { name: 'x', uses: 'y' }] },
    commands: ['npm ci', 'npm test'],
    sql: 'DROP TABLE users',
    patch: 'diff',
    note: 'rm -rf /',
    run: 3,
    script: { command: 'ls' },
  };
  assert.deepEqual(
    commandsInData(data).map(({ kind, text, field }) => [kind, text, field]),
    [
      ['command', 'git push --force', 'input_data.command'],
      ['command', 'rm -rf /a', 'input_data.nested.steps.0.run'],
      ['command', 'npm ci', 'input_data.commands'],
      ['command', 'npm test', 'input_data.commands'],
      ['command', ['npm ci', 'npm test'], 'input_data.commands'],
      ['sql', 'DROP TABLE users', 'input_data.sql'],
      ['diff', 'diff', 'input_data.patch'],
      ['command', 'ls', 'input_data.script.command'],
    ],
  );
  assert.deepEqual(commandsInData(undefined), []);
  assert.deepEqual(commandsInData('rm -rf /'), []);
});

test('a dangerous command behind many harmless ones is not lost', () => {
  const found = commandsIn(`${'Run `ls`. '.repeat(500)}Run \`git push --force\`.`.replaceAll('\\`', '`'));
  assert.equal(found.length, 1);
  assert.match(String(found[0]?.text), /ls\ngit push --force$/);
});

test('any description is read, and quickly', () => {
  const piece = fc.constantFrom(
    'run ',
    'git push ',
    '`',
    '```',
    '\n',
    'never ',
    '$ ',
    '. ',
    'rm -rf ',
    '"',
    "'",
    ' and ',
  );
  const text = fc
    .array(fc.oneof(piece, fc.string({ maxLength: 10 })), { maxLength: 60 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (description) => commandsIn(description).length <= 61),
    { numRuns: 2000 },
  );
  for (const part of ['run git ', '`a', 'A=b ', 'run run ', '- ', 'never `x` ', '"', 'do git x. ']) {
    const started = performance.now();
    commandsIn(part.repeat(20_000 / part.length));
    assert.ok(performance.now() - started < 500, part);
  }
});
