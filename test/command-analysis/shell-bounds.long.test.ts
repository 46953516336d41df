// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { filesWritten } from '../../src/command-analysis/shell/analyse-shell.ts';
import { readCommands } from '../../src/command-analysis/shell/parse-shell-line.ts';
import { written } from './shell-support.ts';

const PLACE = { cwd: '/repo', home: '/h' };
const CPU_MS_MAX = 3000;
const CHARS = 10_000;

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Processor time, so that a busy machine fails no test. */
function bounded(command: string): void {
  const start = process.cpuUsage();
  const touched = filesWritten(command, PLACE);
  const { user, system } = process.cpuUsage(start);
  assert.ok((user + system) / 1000 < CPU_MS_MAX, `${command.slice(0, 80)}: ${(user + system) / 1000} ms`);
  assert.ok(touched.writes.length <= 500 && touched.unknown.length <= 20);
  for (const { path, how } of touched.writes) {
    assert.ok(path !== '' && !/[\0\n]/.test(path) && ['file', 'tree', 'glob'].includes(how));
  }
}

const PIECES = [
  ...'rm |mv a |sed -i |git checkout |find . |-exec |{} |\\; |xargs |sh -c |eval |cd |python -c '.split('|'),
  ...'\'|"|`|$(|)|(|{|}|{a,b}|${|${x%|$x|$@|$((|))|[[ | ]]|*|?|[a-z]|~|\\|&& |; |& |\n| |# |! |--|-rf |='.split(
    '|',
  ),
  ...['> ', '>> ', '2>&1 ', '<<EOF\n', '\nEOF\n', '<<<', '<(', '| ', '|| '],
  ...'if |then |else |fi |for x in |while |do |done |case x in |a) |;; |esac |f() |f |x=|a.ts '.split('|'),
];

test('shell: any text is answered, in bounded time', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), bounded), { numRuns: 1000 });
});

test('shell: any heap of shell is answered, in bounded time', () => {
  const heap = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(fc.property(heap, bounded), { numRuns: 3000 });
});

const UNITS = [
  ...'( $( "$( ` $(( ${a:- { {a, {a,b} [ <( @( \\ \' " */ ~ /.. $'.split(' '),
  ...['a|', 'a&&', 'a;', 'a&', '>a ', '<<A\n', 'x=1;', 'x=$x$x;', 'cd a;', '[ a ] && cd b;', 'f(){ '],
  ...['if a; then ', 'case a in ', 'eval ', 'sudo ', 'bash -c ', 'echo a | ', 'git -C a '],
  ...['for a in {1..60}; do ', 'if a; then x=$y; else x=$z; fi;'],
];

test('shell: ten thousand characters of anything are answered, in bounded time', () => {
  for (const unit of UNITS) {
    for (const start of ['', 'rm ', 'x=aaaa;', "python -c '", 'patch <<A\n']) {
      bounded((start + unit.repeat(CHARS / unit.length)).slice(0, CHARS));
    }
  }
});

test('shell: braces that nobody closes do not cost the square of their number', () => {
  for (const unit of ['{', '{a', '{a,', '{1..']) bounded(`rm ${unit.repeat(100_000 / unit.length)}`);
});

test('shell: what doubles, forks or calls itself is given up', () => {
  const doubled = (name: string, next: string): string => `${name}() { ${next}; ${next}; }; `;
  const names = 'abcdefghijklmnopqrstuvw'.split('');
  bounded(`${names.map((name, index) => doubled(name, names[index + 1] ?? 'rm z')).join('')} a`);
  bounded(`x=(a b);${'x=("${x[@]}" "${x[@]}");'.repeat(40)} rm "\${x[@]}"`);
  bounded('for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do rm $a/$b/$c; done; done; done');
  bounded('x=\'eval "$x"; eval "$x"\'; eval "$x"');
  bounded(`rm ${'$(echo '.repeat(100)}a${')'.repeat(100)}`);
  assert.equal(
    written('f() { f | f & }; f'),
    '? more commands, or deeper inside each other, than are looked at',
  );
});

test('shell: code that costs a naive pattern the square of its length', () => {
  for (const unit of [
    'a',
    'a.',
    'open(',
    'open "',
    '"a" ',
    'x = ',
    ' ',
    'run ',
    "subprocess.run(['a', ",
    'print > "',
  ]) {
    for (const program of ['python3 -c', 'node -e', 'perl -e', 'awk', 'sed']) {
      bounded(`${program} ${quoted(`run([open( ${unit.repeat(CHARS / unit.length)}`)}`);
    }
  }
});

test('shell: a quoted path is reported as it is, whatever it holds and whoever wraps it', () => {
  const path = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    .filter((text) => !/[\0\n\r]|^-?$|^\/(?:dev|proc)/.test(text));
  const wrapper = fc.constantFrom(
    '',
    'sudo ',
    'env A=b ',
    'nohup ',
    'timeout 5 ',
    'cd . && ',
    'true; ',
    'x=1 ',
  );
  fc.assert(
    fc.property(path, wrapper, (text, wrap) => {
      const said = filesWritten(`${wrap}rm -- ${quoted(text)}`, PLACE);
      assert.deepEqual(said, { writes: [{ path: text, how: 'file' }], unknown: [], everywhere: [] });
      assert.deepEqual(filesWritten(['rm', '--', text], PLACE), said);
      assert.deepEqual(filesWritten(['bash', '-lc', `rm -- ${quoted(text)}`], PLACE), said);
      assert.deepEqual(filesWritten(`sh -c ${quoted(`rm -- ${quoted(text)}`)}`, PLACE), said);
    }),
  );
});

test('shell: an argument list has been through no shell', () => {
  assert.equal(written(['rm', '*.ts', '$HOME', 'a b']), '*.ts | $HOME | a b');
  assert.equal(written(['bash', '-lc', 'cd src && rm *.ts']), 'glob src/*.ts');
  assert.equal(written(['apply_patch', '*** Begin Patch\n*** Add File: a.ts\n+x\n*** End Patch']), 'a.ts');
  assert.equal(written([]), '');
});

test('shell: the commands that would run are told apart from what runs them', () => {
  const { commands, unknown } = readCommands('cd src; sudo xargs -n1 rm -f <<< a.ts && $X b', PLACE);
  assert.deepEqual(
    commands.map(({ name, args, folder, through }) => [
      name,
      args.map(({ text }) => text),
      folder.text,
      through,
    ]),
    [
      ['rm', ['-f', 'a.ts'], 'src', ['sudo', 'xargs']],
      ['', ['b'], 'src', []],
    ],
  );
  assert.deepEqual(unknown, ['$X as a command']);
});
