import { parseOptions } from './options.ts';
import { baseName, type Lines, literal, textOf, type Word } from './word.ts';

const CODE_OPTIONS: Readonly<Record<string, string>> = {
  python: '-c',
  node: '-e --eval -p --print -pe',
  nodejs: '-e --eval -p --print',
  ruby: '-e',
  perl: '-e -E -ne -pe',
  php: '-r',
};

const TAKES: Readonly<Record<string, string>> = {
  python: '-c -W -X',
  node: '-e --eval -p --print -r --require --import --input-type --loader',
  nodejs: '-e --eval -p --print -r --require',
  ruby: '-e -r -I -C',
  perl: '-e -E -I -M',
  php: '-r -d',
};

/** Is this a program of another language that may carry its code in its arguments? */
function languageOf(name: string): string | undefined {
  const bare = baseName(name).replace(/^python[\d.]*$/, 'python');
  return Object.hasOwn(CODE_OPTIONS, bare) ? bare : undefined;
}

/** The code an interpreter would run, when the command line holds it: `-c '…'`, or a here-document. */
export function codeOf(name: string, args: readonly Word[], input: Lines | undefined): Word | undefined {
  const language = languageOf(name);
  if (language === undefined) return name === 'deno' && args[0]?.text === 'eval' ? args[1] : undefined;
  const options = parseOptions(args, {
    takes: TAKES[language] ?? '',
    attaches: language === 'perl' ? 'i0lF' : language === 'ruby' ? 'i0F' : '',
  });
  const given = options.values(...(CODE_OPTIONS[language] ?? '').split(' '));
  if (given.length > 0) {
    const unknown = given.find((word) => word.unknown !== undefined);
    return unknown ?? literal(given.map(({ text }) => text).join('\n'));
  }
  const file = options.operands[0];
  if (file !== undefined && file.text !== '-') return undefined;
  const text = textOf(input);
  return text === undefined ? undefined : literal(text);
}
