import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filesWritten } from '../../src/command-analysis/shell/analyse-shell.ts';

const PLACE = { cwd: '/repo', home: '/h' };
const CHARS = 200_000;
/** What costs the square of its length takes minutes here; what does not, a hundredth of this. */
const CPU_MS_MAX = 1000;

/** Processor time, so that a busy machine fails no test. */
function answered(command: string | readonly string[]): void {
  const start = process.cpuUsage();
  filesWritten(command, PLACE);
  const { user, system } = process.cpuUsage(start);
  const taken_ms = (user + system) / 1000;
  assert.ok(
    taken_ms < CPU_MS_MAX,
    `${JSON.stringify([command].flat().map((word) => word.slice(0, 40)))}: ${taken_ms} ms`,
  );
}

/** As much of each as a command line may hold, behind what makes it count. */
function longTexts(units: readonly string[], start = ''): string[] {
  return units.map((unit) => (start + unit.repeat(CHARS / unit.length)).slice(0, CHARS));
}

const SED_UNITS = [
  ...[
    '/\\/',
    '\\,\\,',
    '\\/',
    '/',
    '1,/',
    '/a/,\\',
    's/[',
    's/[[:',
    '/[[:',
    '[[.a',
    's/a/',
    'y/\\/',
    's/a/b/w',
  ],
  ...['\n', '\r', ' ', '1 ', '1, ', '! ', '{', '}', 'a\\\n', 'a', ':', '0~', '+1', 'wa\n', 'w', '1e ', '1e'],
  ...['e a\n', 'e\n', 's/a/b/e;', 's/a/b/;'],
];

test('shell: a script of sed costs no more than its length', () => {
  for (const script of longTexts(SED_UNITS)) {
    answered(['sed', script, 'x']);
    answered(['sed', `${script}\n`, 'x']);
  }
});

test('shell: what sed would make of a text is not made where it is long', () => {
  const [text, by] = ['a'.repeat(60_000), 'b'.repeat(60_000)];
  answered(`echo ${text} | sed s/a/${by}/g | sh`);
  answered(`echo ${text} | sed '${'s/a/b/;'.repeat(10_000)}' | sh`);
});

test('shell: a list of any number of words is answered', () => {
  const words = Array.from({ length: 200_000 }, (_, index) => `f${index}`);
  const programs =
    'rm|rm -rf|touch|chmod 644|mv|cp -l|install -d|sed -i s/a/b/|vim|wget|go build|sudo rm|xargs rm';
  for (const program of programs.split('|')) answered([...program.split(' '), ...words]);
});

const PATCH_UNITS = [
  ...[
    '\n',
    '\r',
    '\u2028',
    '\u2029',
    '\r\n',
    ' ',
    '\t',
    '\u00a0',
    '\r ',
    '*** Add File: ',
    '*** ',
    '\n--- a\n+++ ',
  ],
  ...['--- a\n', '--- a\r', 'diff --git a/', 'diff --git a/x b/', 'rename to ', '\nrename to \t'],
];

test('shell: a patch costs no more than its length', () => {
  for (const start of ['*** Begin Patch\n', '--- a\n', ''])
    for (const patch of longTexts(PATCH_UNITS, start)) answered(['apply_patch', patch]);
});

const AWK_UNITS = [
  ...[
    'print ',
    'print >',
    'print > "',
    'print "',
    'print "print \\"',
    'print "print (\\"',
    'print ("print \\"(',
    'print (',
  ],
  ...[
    'print "(" [',
    '[a',
    '[',
    '"\\',
    '\\',
    'print a > b;',
    'x = "a" ',
    'x = ',
    'x',
    ' ',
    '\n',
    '(',
    ')',
    '> ',
  ],
  ...['|"\\', '"\\"', 'system("', 'print "a" | "', '| ', '"a" ', '"a" | '],
];

test('shell: a program of awk costs no more than its length', () => {
  for (const program of [...longTexts(AWK_UNITS), ...longTexts(AWK_UNITS, 'print > x "')]) {
    const half = program.slice(0, CHARS / 2);
    answered(['awk', program]);
    // Many ways that end in one long tail.
    for (const tail of [' a', '( >', '"a"'])
      answered(['awk', `${half}"${tail.repeat(CHARS / 2 / tail.length)}`]);
  }
});
