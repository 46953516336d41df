// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's, not ours
import type { Operation } from './corpus.ts';

/** A small generator of numbers that a seed repeats exactly (mulberry32). */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  of<T>(all: readonly [T, ...T[]]): T {
    return all[this.below(all.length)] ?? all[0];
  }
}

type Words = readonly [string, ...string[]];

const PROGRAMS: Words = [
  ...([
    'rm',
    'git',
    'find',
    'xargs',
    'sudo',
    'env',
    'bash',
    'sh',
    'eval',
    'python3',
    'node',
    'perl',
    'psql',
  ] as const),
  ...[
    'docker',
    'kubectl',
    'terraform',
    'aws',
    'npm',
    'curl',
    'ssh',
    'echo',
    'printf',
    'base64',
    'dd',
    'sed',
    'awk',
  ],
  ...[
    'rev',
    'tr',
    'cat',
    'tee',
    'cd',
    'export',
    'set',
    'alias',
    'trap',
    'read',
    'source',
    '.',
    'exec',
    'command',
  ],
  ...[
    'nohup',
    'time',
    'timeout',
    'parallel',
    'redis-cli',
    'mongosh',
    'sqlite3',
    'mysql',
    'chmod',
    'mv',
    'cp',
    'cox',
  ],
];

const ARGUMENTS: Words = [
  ...([
    '-rf',
    '-f',
    '--force',
    '-c',
    '-e',
    '-d',
    '-x',
    '--',
    '-',
    '-exec',
    '{}',
    '\\;',
    '+',
    '-delete',
    '-0',
  ] as const),
  ...[
    'push',
    'reset',
    '--hard',
    'clean',
    'origin',
    'main',
    '+main',
    ':main',
    'alias.x=!y',
    'destroy',
    'delete',
  ],
  ...[
    '/',
    '~',
    '.',
    '..',
    '*',
    'src',
    'dist',
    '/tmp/x',
    '.env',
    '$HOME',
    '"$@"',
    '$1',
    '${x}',
    '${x:-y}',
    '${x%%a*}',
  ],
  ...[
    "'DROP TABLE a'",
    '\'import os; os.system("rm -rf a")\'',
    'cm0gLXJmIH4=',
    "$'\\x72\\x6d'",
    '{a,b}',
    '[a-z]?',
  ],
  ...[
    'a=b',
    'A=1',
    '&1',
    '2>&1',
    '$((1+2))',
    '$RANDOM',
    '$x$y',
    '"a b"',
    "'a'\\''b'",
    '-I%',
    '-n1',
    '10',
    '/dev/sda',
  ],
];

/** What is put around other text. */
type Shape = (inner: () => string, dice: Dice) => string;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const simple: Shape = (_, dice) => {
  const words = [dice.of(PROGRAMS)];
  for (let left = dice.below(6); left > 0; left -= 1) words.push(dice.of(ARGUMENTS));
  return words.join(' ');
};

const SHAPES: readonly [Shape, ...Shape[]] = [
  simple,
  simple,
  simple,
  (inner) => `${inner()} | ${inner()}`,
  (inner) => `${inner()} && ${inner()}`,
  (inner) => `${inner()}; ${inner()}`,
  (inner) => `${inner()}\n${inner()}`,
  (inner) => `${inner()} &`,
  (inner) => `! ${inner()}`,
  (inner) => `( ${inner()} )`,
  (inner) => `{ ${inner()}; }`,
  (inner) => `$(${inner()})`,
  (inner) => `echo "$(${inner()})"`,
  (inner) => `\`${inner()}\``,
  (inner) => `cat <(${inner()})`,
  (inner, dice) => `${inner()} > ${dice.of(ARGUMENTS)}`,
  (inner) => `bash -c ${quoted(inner())}`,
  (inner) => `eval ${quoted(inner())}`,
  (inner) => `x=${quoted(inner())}; $x`,
  (inner) => `x=${quoted(inner())}; eval "$x"`,
  (inner) => `f() { ${inner()}; }; f`,
  (inner) => `f() { ${inner()}; f; }; f`,
  (inner) => `if ${inner()}; then ${inner()}; else ${inner()}; fi`,
  (inner, dice) => `for x in ${dice.of(ARGUMENTS)} {1..${dice.below(30)}}; do ${inner()}; done`,
  (inner) => `while ${inner()}; do ${inner()}; done`,
  (inner) => `case $x in ${inner()}) ${inner()};; *) ${inner()};; esac`,
  (inner) => `bash <<'E'\n${inner()}\nE\n`,
  (inner) => `cat <<E | sh\n${inner()}\nE\n`,
  (inner) => `echo ${Buffer.from(inner()).toString('base64')} | base64 -d | sh`,
  (inner) => `python3 -c ${quoted(`import os; os.system(${JSON.stringify(inner())})`)}`,
  (inner) => `node -e ${quoted(`require('child_process').execSync(${JSON.stringify(inner())})`)}`,
  (inner) => `git -c alias.z=${quoted(`!${inner()}`)} z`,
  (inner) => `alias z=${quoted(inner())}; z`,
  (inner) => `trap ${quoted(inner())} EXIT`,
  (inner) => `find . -exec ${inner()} \\;`,
  (inner) => `xargs ${inner()}`,
  (inner) => `ssh host ${quoted(inner())}`,
];

function grown(dice: Dice, depth: number): string {
  const shape = depth === 0 ? simple : dice.of(SHAPES);
  return shape(() => grown(dice, depth - 1), dice);
}

const SCRAPS: Words = [
  ...([
    "'",
    '"',
    '`',
    '$(',
    ')',
    '(',
    '{',
    '}',
    '${',
    '$',
    '\\',
    '\n',
    '\t',
    ' ',
    '\r',
    '\0',
    '#',
    '!',
    '|',
  ] as const),
  ...[
    '&',
    ';',
    '<',
    '>',
    '<<',
    '<<<',
    '$((',
    '))',
    '[[',
    ']]',
    '=',
    '*',
    '?',
    '~',
    '-',
    '\u202e',
    '\ud800',
    '😀',
    'é',
  ],
  ...[
    '<<E\n',
    '\nE\n',
    "$'",
    '@(',
    '..',
    '{a,{b,',
    '%',
    '^',
    '\x1b[2J',
    '\x7f',
    'function ',
    'esac',
    'done',
    'fi',
  ],
];

/** Cuts, doubles, swaps and litters, as a broken or a hostile client would. */
function damaged(text: string, dice: Dice): string {
  let result = text;
  for (let left = 1 + dice.below(5); left > 0; left -= 1) {
    const at = dice.below(result.length + 1);
    const to = at + dice.below(12);
    const piece = result.slice(at, to);
    const changes: readonly [string, ...string[]] = [
      result.slice(0, at) + result.slice(to),
      result.slice(0, to) + piece.repeat(1 + dice.below(8)) + result.slice(to),
      result.slice(0, at) + dice.of(SCRAPS) + result.slice(at),
      result.slice(0, at) + String.fromCharCode(dice.below(0x10000)) + result.slice(at + 1),
    ];
    result = dice.of(changes);
  }
  return result;
}

function noise(dice: Dice): string {
  let text = '';
  for (let left = dice.below(200); left > 0; left -= 1)
    text += dice.below(3) === 0 ? dice.of(SCRAPS) : String.fromCharCode(dice.below(256));
  return text;
}

/** The command of a number: shell that has been grown, the corpus damaged, or plain noise. At most some kilobytes. */
export function generated(seed: number, index: number, corpus: readonly Operation[]): string {
  const dice = new Dice(Math.imul(seed, 0x9e3779b1) ^ index);
  const kind = dice.below(10);
  if (kind < 5) return grown(dice, 1 + dice.below(3));
  if (kind < 6) return damaged(grown(dice, 1 + dice.below(3)), dice);
  if (kind < 9) return damaged(corpus[dice.below(corpus.length)]?.command ?? '', dice);
  return noise(dice);
}
