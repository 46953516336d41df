import { literal, mapWord, type Word } from './word.ts';

/** A command's arguments, sorted: options by name, what they take, and the rest. */
export interface Options {
  has(...names: readonly string[]): boolean;
  /** Was there one beside these? */
  hasOther(names: string): boolean;
  /** What was given to any of these options, in order. */
  values(...names: readonly string[]): readonly Word[];
  readonly operands: readonly Word[];
  /** Operands after `--`; undefined without one. */
  readonly afterDashes: readonly Word[] | undefined;
}

export interface OptionSpec {
  /** Options that take the next word, such as `-o` and `--output`, apart by spaces. */
  readonly takes?: string;
  /** Programs that spell long options with one dash (`-out`), and join no short ones. */
  readonly oneDash?: boolean;
  /** Short options that may have something attached and never take the next word (`-i.bak`). */
  readonly attaches?: string;
}

const SETS = new Map<string, ReadonlySet<string>>();

/** The names in a text. The texts stand in the source, so there are only so many, and each command asks for some. */
export function namesIn(text: string): ReadonlySet<string> {
  let found = SETS.get(text);
  if (found === undefined) {
    found = new Set(text.split(' ').filter(Boolean));
    SETS.set(text, found);
  }
  return found;
}

/** A dash and something behind it, on the same line. */
function isOption(text: string): boolean {
  return text.startsWith('-') && text.length > 1 && !LINE_BREAK.test(text.charAt(1));
}

const LINE_BREAK = /[\n\r\u2028\u2029]/;

interface Sorted {
  /** Many commands have no option at all. */
  found: Map<string, Word[]> | undefined;
  readonly operands: Word[];
}

function valuesOf({ found }: Sorted, names: readonly string[]): Word[] {
  return found === undefined ? [] : names.flatMap((name) => found.get(name) ?? []);
}

function note(sorted: Sorted, name: string, value?: Word): void {
  sorted.found ??= new Map();
  const values = sorted.found.get(name) ?? [];
  if (value !== undefined) values.push(value);
  sorted.found.set(name, values);
}

/** `-rf`, `-ofile`, `-i.bak`: letter by letter; answers whether the next word belongs to the last one. */
function readCluster(
  sorted: Sorted,
  arg: Word,
  takes: ReadonlySet<string>,
  attaches: string,
): string | undefined {
  for (let at = 1; at < arg.text.length; at += 1) {
    const name = `-${arg.text[at]}`;
    const rest = arg.text.slice(at + 1);
    if (takes.has(name) || attaches.includes(arg.text[at] as string)) {
      if (rest === '' && takes.has(name)) return name;
      note(sorted, name, rest === '' ? undefined : mapWord(arg, () => rest));
      return undefined;
    }
    note(sorted, name);
  }
  return undefined;
}

export function parseOptions(args: readonly Word[], spec: OptionSpec = {}): Options {
  const takes = namesIn(spec.takes ?? '');
  const sorted: Sorted = { found: undefined, operands: [] };
  let afterDashes: readonly Word[] | undefined;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as Word;
    const { text } = arg;
    if (text === '--') {
      afterDashes = args.slice(index + 1);
      break;
    }
    if (arg.unknown !== undefined || !isOption(text)) sorted.operands.push(arg);
    // One that is listed with several letters behind one dash (`-cmd`, node's `-pe`) is no row of short ones.
    else if (text.startsWith('--') || spec.oneDash === true || (text.length > 2 && takes.has(text))) {
      const equals = text.indexOf('=');
      if (equals > 0)
        note(sorted, text.slice(0, equals), {
          ...mapWord(arg, (all) => all.slice(equals + 1)),
          stream: arg.stream,
        });
      else if (takes.has(text)) {
        index += 1;
        note(sorted, text, args[index] ?? literal(''));
      } else note(sorted, text);
    } else {
      const waiting = readCluster(sorted, arg, takes, spec.attaches ?? '');
      if (waiting === undefined) continue;
      index += 1;
      note(sorted, waiting, args[index] ?? literal(''));
    }
  }
  return {
    has: (...names) => names.some((name) => sorted.found?.has(name)),
    hasOther: (names) => [...(sorted.found?.keys() ?? [])].some((name) => !namesIn(names).has(name)),
    values: (...names) => valuesOf(sorted, names),
    operands: afterDashes === undefined ? sorted.operands : [...sorted.operands, ...afterDashes],
    afterDashes,
  };
}

/** `-vS`: several short options, the last of which takes the next word. */
function lastTakes(text: string, taking: ReadonlySet<string>): boolean {
  if (!/^-[A-Za-z]{2,}$/.test(text)) return false;
  const letters = [...text.slice(1)].map((letter) => `-${letter}`);
  return letters.findIndex((name) => taking.has(name)) === letters.length - 1;
}

/** Where a wrapper's own options end and the command it runs begins. */
export function afterOptions(words: readonly Word[], from: number, takes = ''): number {
  const taking = namesIn(takes);
  let at = from;
  for (; at < words.length; at += 1) {
    const { text, unknown } = words[at] as Word;
    if (text === '--') return at + 1;
    if (unknown !== undefined || !isOption(text)) return at;
    if (taking.has(text) || lastTakes(text, taking)) at += 1;
  }
  return at;
}
