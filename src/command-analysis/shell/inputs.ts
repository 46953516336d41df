import { type Options, parseOptions } from './program-options.ts';
import { isKnown, type Lines, type Word } from './word.ts';

/**
 * Programs that read the given files one after the other, and their options that take a word. If an option is
 * missing here, its value counts as an unknown file; one too many would hide a file.
 */
const READERS: Readonly<Record<string, string>> = {
  cat: '',
  head: '-n -c --lines --bytes',
  tail: '-n -c -s --lines --bytes --pid --sleep-interval',
  sort: '-k -t -S -T -o --key --field-separator --buffer-size --temporary-directory --output --parallel',
  uniq: '-f -s -w --skip-fields --skip-chars --check-chars',
  tac: '-s --separator',
  shuf: '-n -o --head-count --output --random-source',
  rev: '',
  fold: '-w --width',
  base64: '-w --wrap',
  gbase64: '-w --wrap',
  base32: '-w --wrap',
  xxd: '-c -g -l -o -s',
};

const GREP =
  '-e --regexp -f --file -A -B -C -m --max-count --after-context --before-context --context --include --exclude --exclude-dir';
/** The first operand is what they search for, unless an option gives it. */
const SEARCHERS: Readonly<Record<string, string>> = {
  grep: `${GREP} -d -D --exclude-from --label`,
  egrep: `${GREP} -d -D --exclude-from --label`,
  rg: `${GREP} -g --glob --iglob -t --type -T --type-not -j --threads -M --max-columns -E --encoding -r --replace`,
};

/** Their operands are no files: `sort --files0-from=list`, `shuf -e a b`. */
function readsOtherwise(name: string, { has }: Options): boolean {
  if (name === 'sort') return has('--files0-from');
  return name === 'shuf' && has('-e', '--echo', '-i', '--input-range');
}

/** The files that are searched; undefined: it searches folders, or prints something else than its matches. */
function searched(name: string, args: readonly Word[]): readonly Word[] | undefined {
  const options = parseOptions(args, { takes: SEARCHERS[name] ?? '' });
  if (name === 'rg' && options.has('-r', '--replace')) return undefined;
  const files = options.has('-e', '--regexp', '-f', '--file') ? options.operands : options.operands.slice(1);
  const recursive = name !== 'rg' && options.has('-r', '-R', '--recursive', '--dereference-recursive');
  return files.length === 0 && recursive ? undefined : files;
}

/** The files whose lines a filter passes on; none: those of its standard input; undefined: unknown. */
function filesRead(name: string, args: readonly Word[]): readonly Word[] | undefined {
  if (Object.hasOwn(SEARCHERS, name)) return searched(name, args);
  if (name === 'openssl') return args.filter((_, index) => args[index - 1]?.text === '-in');
  if (!Object.hasOwn(READERS, name)) return [];
  // xxd spells its options with one dash: `-ps`.
  const options = parseOptions(args, { takes: READERS[name] ?? '', oneDash: name === 'xxd' });
  if (readsOtherwise(name, options)) return undefined;
  // `tail +2` is an old form of the start line.
  return name === 'tail' ? options.operands.filter(({ text }) => !/^\+\d+$/.test(text)) : options.operands;
}

function isStandardInput(word: Word): boolean {
  return isKnown(word) && word.stream === undefined && /^(?:-|\/dev\/stdin|\/dev\/fd\/0)$/.test(word.text);
}

/**
 * What a filter reads, if all of it is visible: files that the same command line has written, and its
 * standard input.
 */
export function linesRead(name: string, args: readonly Word[], input: Lines | undefined): Lines | undefined {
  return partsRead(name, args, input)?.flat();
}

/** The same, file by file. */
export function partsRead(
  name: string,
  args: readonly Word[],
  input: Lines | undefined,
): readonly Lines[] | undefined {
  const files = filesRead(name, args);
  if (files === undefined) return undefined;
  const lines =
    files.length === 0 ? [input] : files.map((file) => (isStandardInput(file) ? input : file.stream?.lines));
  return lines.every((each) => each !== undefined) ? lines : undefined;
}
