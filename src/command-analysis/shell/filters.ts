import { partsRead } from './inputs.ts';
import { type Options, parseOptions } from './program-options.ts';
import { isKnown, type Lines, literal, type Word } from './word.ts';

/** What becomes of the lines of each file, in the order of the files. Undefined: unknown. */
type Filter = (parts: readonly Lines[], options: Options, args: readonly Word[]) => Lines | undefined;

interface Handler {
  readonly filter: Filter;
  /** The options with which it passes lines on unchanged; `takes` lists those that take a word. */
  readonly takes?: string;
  readonly plain?: string;
}

/** Some of the lines, or all of them in another order: each line is known, but the whole is not. */
function someOf(lines: Lines): Lines {
  return lines.length < 2 ? lines : lines.map((line) => ({ ...line, unsure: true }));
}

/** A pattern stands for many lines. */
const isOneLine = (line: Word): boolean => isKnown(line) && !line.glob && line.unsure !== true;

const some: Filter = (parts) => someOf(parts.flat());

/** One form of the count option of `head` and `tail`. */
function countOf({ values }: Options): string | undefined {
  const given = values('-n', '--lines').at(-1) ?? literal('10');
  return isKnown(given) && /^[-+]?\d+$/.test(given.text) ? given.text : undefined;
}

const firstLines = (lines: Lines, count: string): Lines =>
  lines.slice(0, count.startsWith('-') ? Math.max(lines.length + Number(count), 0) : Number(count));

const lastLines = (lines: Lines, count: string): Lines => {
  const number = Math.abs(Number(count));
  if (count.startsWith('+')) return lines.slice(Math.max(number - 1, 0));
  return number === 0 ? [] : lines.slice(-number);
};

/** `head` and `tail`: with several files, each has a heading. */
function end(cut: (lines: Lines, count: string) => Lines): Filter {
  return (parts, options, args) => {
    const count = countOf(options);
    if (count === undefined) return undefined;
    if (!parts.flat().every(isOneLine)) return some(parts, options, args);
    const cuts = parts.map((lines) => cut(lines, count));
    if (parts.length < 2 || options.has('-q', '--quiet', '--silent')) return cuts.flat();
    return cuts.flatMap((lines, index) => [
      ...(index === 0 ? [] : [literal('')]),
      literal(`==> ${(options.operands[index]?.text ?? '').replace(/^-$/, 'standard input')} <==`),
      ...lines,
    ]);
  };
}

/** `head -5`, `tail +5` in the modern spelling. */
function withCounts(args: readonly Word[]): readonly Word[] {
  return args.flatMap((word, index) => {
    if (!isKnown(word) || !/^(?:-\d+|\+\d+)$/.test(word.text) || isValue(args, index)) return [word];
    return [literal('-n'), literal(word.text.replace(/^-/, ''))];
  });
}

const isValue = (args: readonly Word[], index: number): boolean =>
  /^(?:-[nc]|--lines|--bytes)$/.test(args[index - 1]?.text ?? '');

const uniq: Filter = (parts, options, args) => {
  const lines = parts.flat();
  if (options.hasOther('') || !lines.every(isOneLine)) return some(parts, options, args);
  return lines.filter(({ text }, index) => index === 0 || text !== lines[index - 1]?.text);
};

const tac: Filter = (parts, options, args) =>
  parts.flat().every(isOneLine) ? parts.flatMap((lines) => lines.toReversed()) : some(parts, options, args);

/** With several files it prefixes each line with its file. */
const grep: Filter = (parts, options, args) =>
  parts.length < 2 || options.has('-h', '--no-filename', '-I') ? some(parts, options, args) : undefined;

const ENDS = { takes: '-n --lines', plain: '-n --lines -q --quiet --silent -f -F --follow --retry' };
const GREP: Handler = {
  filter: grep,
  takes: '-e --regexp -f --file -m --max-count --include --exclude --exclude-dir',
  plain:
    '-e --regexp -f --file -m --max-count --include --exclude --exclude-dir -i -y --ignore-case -v --invert-match -E -F -G -P --extended-regexp --fixed-strings --basic-regexp --perl-regexp -w --word-regexp -x --line-regexp -h --no-filename -s --no-messages -a --text --color --colour --line-buffered -z --null-data -r -R --recursive',
};

const HANDLERS: Readonly<Record<string, Handler>> = {
  head: { filter: end(firstLines), ...ENDS },
  tail: { filter: end(lastLines), ...ENDS },
  tee: { filter: (parts) => parts.flat(), plain: '-a --append -i --ignore-interrupts -p' },
  // The sort order of another machine's locale is unknown.
  sort: {
    filter: some,
    takes: '-k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel',
    plain:
      '-k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel -b -d -f -g -i -M -h -n -R -r -V -m -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --merge --stable --unique --zero-terminated --sort',
  },
  shuf: { filter: some, takes: '-n --head-count', plain: '-n --head-count -r --repeat -z --zero-terminated' },
  uniq: {
    filter: uniq,
    takes: '-f -s -w --skip-fields --skip-chars --check-chars',
    plain:
      '-f -s -w --skip-fields --skip-chars --check-chars -d -D -u -i -z --repeated --unique --ignore-case --all-repeated --zero-terminated',
  },
  tac: { filter: tac },
  cat: { filter: (parts) => parts.flat(), plain: '-u -s --squeeze-blank' },
  grep: GREP,
  egrep: GREP,
  rg: {
    filter: grep,
    takes: '-e --regexp -f --file -m --max-count -g --glob --iglob -t --type -T --type-not -j --threads',
    plain:
      '-e --regexp -f --file -m --max-count -g --glob --iglob -t --type -T --type-not -j --threads -i --ignore-case -S --smart-case -s --case-sensitive -v --invert-match -F --fixed-strings -P --pcre2 -w --word-regexp -x --line-regexp -I --no-filename -N --no-line-number -a --text --hidden --no-ignore -u --no-heading --color --no-messages -U --multiline -L --follow',
  },
};

/** The lines that a filter passes on unchanged; undefined: it is no filter, or it changes them. */
export function filtered(name: string, args: readonly Word[], input: Lines | undefined): Lines | undefined {
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  const parts = handler === undefined ? undefined : partsRead(name, args, input);
  if (handler === undefined || parts === undefined) return undefined;
  const spelled = handler.plain === ENDS.plain ? withCounts(args) : args;
  const options = parseOptions(spelled, { takes: handler.takes ?? '' });
  return options.hasOther(handler.plain ?? '') ? undefined : handler.filter(parts, options, args);
}
