import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { ourHook } from '../../../src/transports/cli/init/hook-parts.ts';
import { unifiedDiff } from '../../../src/transports/cli/init/setup-diff.ts';
import { hooksFor } from '../../../src/transports/cli/init/wiring.ts';
import { noPaint } from '../../../src/transports/cli/output/paint.ts';

const ODD = [
  '/a b/c',
  '/$HOME/`id`/x',
  '/quote"and\'tick',
  '/back\\slash',
  '/new\nline',
  '/$(touch x)',
  '/é 字',
  '/--flag',
];

test('[HOOK-3] a path with anything in it reaches the hook program as it is, through a real shell', () => {
  const script = 'console.log(JSON.stringify(process.argv.slice(1)))';
  for (const odd of ODD) {
    const wiring = {
      programs: { node: 'NODE', cox: odd, hook: `${odd}/dist/hook.cjs` },
      locks: 'auto',
      store: `sqlite:${odd}`,
    } as const;
    const { Stop } = hooksFor('codex', [['Stop', 'turn-end', 1]], wiring);
    const command = String(Stop?.hooks[0]?.command);
    assert.deepEqual(ourHook(command), { client: 'codex', event: 'turn-end' }, command);
    const argv = command.replace('"NODE"', `"${process.execPath}" -e '${script}'`);
    const words = JSON.parse(execFileSync('/bin/sh', ['-c', argv], { encoding: 'utf8' })) as string[];
    assert.deepEqual(words, [
      `${odd}/dist/hook.cjs`,
      'codex',
      'turn-end',
      '--locks',
      'auto',
      '--store',
      `sqlite:${odd}`,
    ]);
  }
});

test('[HOOK-3] Node is told to hurry before a tool, and only there', () => {
  const programs = { node: '/node', cox: '/cox', hook: '/dist/hook.cjs' };
  const events = [
    ['Before', 'before-tool', 1],
    ['After', 'after-tool', 1],
    ['Start', 'session-start', 1],
  ] as const;
  const hooks = hooksFor('claude-code', events, { programs, locks: 'auto' });
  assert.deepEqual(
    Object.values(hooks).map((group) => group.hooks[0]?.command),
    [
      '"/node" --no-rehash-snapshot "/dist/hook.cjs" claude-code before-tool --locks auto',
      '"/node" "/dist/hook.cjs" claude-code after-tool --locks auto',
      '"/node" "/dist/hook.cjs" claude-code session-start --locks auto',
    ],
  );
});

function diff(before: string | undefined, after: string | undefined): string[] {
  const bytes = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
  return unifiedDiff({ path: 'f', before: bytes(before), after: bytes(after) }, noPaint).slice(2);
}

test('[HOOK-3] the diff is one that `patch` applies', () => {
  const numbers = Array.from({ length: 30 }, (_, index) => `${index}\n`);
  const changed = numbers.toSpliced(3, 1, 'x\n', 'y\n').toSpliced(20, 2).concat('end\n');
  assert.deepEqual(diff(numbers.join(''), changed.join('')), [
    '@@ -1,7 +1,8 @@',
    ' 0',
    ' 1',
    ' 2',
    '-3',
    '+x',
    '+y',
    ' 4',
    ' 5',
    ' 6',
    '@@ -17,8 +18,6 @@',
    ' 16',
    ' 17',
    ' 18',
    '-19',
    '-20',
    ' 21',
    ' 22',
    ' 23',
    '@@ -28,3 +27,4 @@',
    ' 27',
    ' 28',
    ' 29',
    '+end',
  ]);
  assert.deepEqual(diff(undefined, 'a\nb\n'), ['@@ -0,0 +1,2 @@', '+a', '+b']);
  assert.deepEqual(diff('a\n', undefined), ['@@ -1,1 +0,0 @@', '-a']);
  assert.deepEqual(diff('a\nb\n', 'a\nb\n'), []);
});

test('[HOOK-3] what a terminal would obey in a file is not obeyed when the file is shown', () => {
  const shown = diff('a\u001b[2J\u202e\tb\r\n', 'c\u0007\n').join('\n');
  assert.equal(shown, '@@ -1,1 +1,1 @@\n-a [2J \tb\n+c ');
});
