import { parseOptions } from './program-options.ts';
import { baseName, isKnown, type Lines, literal, textOf, textSeen, type Word } from './word.ts';

const CODE_OPTIONS: Readonly<Record<string, string>> = {
  python: '-c',
  node: '-e --eval -p --print -pe',
  nodejs: '-e --eval -p --print -pe',
  ruby: '-e',
  perl: '-e -E -ne -pe',
  php: '-r',
  bun: '-e --eval -p --print',
  lua: '-e',
  luajit: '-e',
  rscript: '-e',
  julia: '-e --eval -E',
  osascript: '-e',
  tclsh: '-c',
  tsx: '-e --eval -p --print -pe',
  'ts-node': '-e --eval -p --print -pe',
  zx: '-e --eval',
  elixir: '-e --eval',
  groovy: '-e',
};

const TAKES: Readonly<Record<string, string>> = {
  python: '-c -W -X',
  node: '-e --eval -p --print -pe -r --require --import --input-type --loader',
  nodejs: '-e --eval -p --print -pe -r --require',
  ruby: '-e -r -I -C',
  perl: '-e -E -I -M',
  php: '-r -d',
  bun: '-e --eval -p --print -r --preload',
  lua: '-e -l',
  luajit: '-e -l',
  rscript: '-e',
  julia: '-e --eval -E',
  osascript: '-e -l',
  tclsh: '-c',
  tsx: '-e --eval -p --print -pe',
  'ts-node': '-e --eval -p --print -pe -O -P',
  zx: '-e --eval',
  elixir: '-e --eval -r -S',
  groovy: '-e -cp',
};

/** Is this an interpreter of another language that may get its code in its arguments? */
function languageOf(name: string): string | undefined {
  const bare = baseName(name)
    .toLowerCase()
    .replace(/^(?:python|pypy)[\d.]*$/, 'python');
  return Object.hasOwn(CODE_OPTIONS, bare) ? bare : undefined;
}

function denoCode(args: readonly Word[], input: Lines | undefined): Word | undefined {
  if (args[0]?.text === 'eval') return args.slice(1).find(({ text }) => !text.startsWith('-'));
  const text = args[0]?.text === 'run' && args.at(-1)?.text === '-' ? textOf(input) : undefined;
  return text === undefined ? undefined : literal(text);
}

/** The code an interpreter would run, if the command line contains it: `-c '…'`, or a here-document. */
export function codeOf(name: string, args: readonly Word[], input: Lines | undefined): Word | undefined {
  const language = languageOf(name);
  if (language === undefined) return name === 'deno' ? denoCode(args, input) : undefined;
  const options = parseOptions(args, {
    takes: TAKES[language] ?? '',
    attaches: language === 'perl' || language === 'ruby' ? 'iF' : '',
  });
  const given = options.values(...(CODE_OPTIONS[language] ?? '').split(' '));
  if (given.length > 0) {
    const unknown = given.find((word) => word.unknown !== undefined);
    return unknown ?? literal(given.map(({ text }) => text).join('\n'));
  }
  const file = options.operands[0];
  // The content of a substitution, or of a file that was just written.
  const seen = textOf(file?.stream?.lines);
  if (seen !== undefined) return literal(seen);
  if (file?.stream !== undefined) return file;
  if (file !== undefined && file.text !== '-') return undefined;
  const text = textSeen(input?.filter((line) => isKnown(line) && !line.glob)) ?? '';
  return text === '' && textOf(input) === undefined ? undefined : literal(text);
}
