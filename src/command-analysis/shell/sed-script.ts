import { type Options, parseOptions } from './program-options.ts';
import { isKnown, type Lines, textOf, type Word } from './word.ts';

/** What may stand before a command, besides patterns: a line's number, the last one, so many more. */
const NUMBER = /\d+(?:~\d+)?|\$|[+~]\d+/y;
const PATTERN_FLAGS = /[IM]*/y;
const BETWEEN = /\s*,\s*/y;
const BEFORE = /[\s!]*/y;
const SPACE = /[\s;{}]*/y;
const FLAGS = /[gpiIeMm\d]*/y;
const LINE = /[^\n]*/y;
/** Text over several lines has a backslash at the end of each but the last. */
const TEXT = /(?:\\[\s\S]|[^\n\\])*/y;
/** There a `]` ends nothing. */
const FIRST_IN_BRACKETS = /\^?\]?/y;
const LABEL = /[^;\n}]*/y;

/**
 * Goes through a script of sed from command to command, as far as its files and programs need it. It never goes back, so a script costs
 * no more than its length.
 */
class Script {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ''] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #next(): string {
    const sign = this.#text.charAt(this.#at);
    this.#at += 1;
    return sign;
  }

  /** To the sign that ends a part of `s` or `y`, or a pattern, and over it; undefined: nothing on the line ends it. */
  #part(end: string, isPattern: boolean): string | undefined {
    const start = this.#at;
    for (let sign = this.#next(); sign !== '' && sign !== '\n'; sign = this.#next()) {
      if (sign === end) return this.#text.slice(start, this.#at - 1);
      if (sign === '\\') this.#next();
      else if (sign === '[' && isPattern && !this.#brackets()) return undefined;
    }
    return undefined;
  }

  /** Behind a `[`, to the `]` that belongs to it: `[^]/]`, `[[:alpha:]/]`. What would end the pattern is a letter in there. */
  #brackets(): boolean {
    this.#take(FIRST_IN_BRACKETS);
    for (let sign = this.#next(); sign !== '' && sign !== '\n'; sign = this.#next()) {
      if (sign === ']') return true;
      const kind = this.#text.charAt(this.#at);
      if (sign === '[' && /[.:=]/.test(kind)) {
        this.#next();
        if (!this.#named(kind)) return false;
      }
    }
    return false;
  }

  /** Behind a `[:`, over the `:]` that ends the name; so with `[.` and `[=`. */
  #named(kind: string): boolean {
    for (let sign = this.#next(); sign !== '' && sign !== '\n'; sign = this.#next())
      if (sign === kind && this.#next() === ']') return true;
    return false;
  }

  /** Over an address, if there is one; false: it is a pattern that nothing ends. */
  #address(): boolean {
    if (this.#take(NUMBER) !== '' || !/[/\\]/.test(this.#text.charAt(this.#at))) return true;
    // Any sign may stand around a pattern; a backslash says which.
    const end = this.#next() === '/' ? '/' : this.#next();
    if (this.#part(end, true) === undefined) return false;
    this.#take(PATTERN_FLAGS);
    return true;
  }

  #addresses(): boolean {
    return this.#address() && (this.#take(BETWEEN) === '' || this.#address());
  }

  *steps(): Generator<SedStep> {
    while (this.#at < this.#text.length) {
      this.#take(SPACE);
      const start = this.#at;
      if (start === this.#text.length) return;
      if (!this.#addresses()) return yield REFUSED;
      const addressed = this.#at > start;
      this.#take(BEFORE);
      const name = this.#next();
      const step = { name, addressed };
      if (name === 's' || name === 'y') {
        const changed = this.#changed(name);
        if (changed === undefined) return yield REFUSED;
        yield { ...step, ...changed };
      } else if (/[aic]/.test(name)) yield { ...step, text: this.#take(TEXT) };
      else if (/[rRwWe#]/.test(name)) yield { ...step, text: this.#take(LINE) };
      else if (/[:btT]/.test(name)) yield { ...step, text: this.#take(LABEL) };
      else yield step;
    }
  }

  /** Behind `s` or `y`; undefined: one of its parts does not end. */
  #changed(name: string): Omit<SedStep, 'name' | 'addressed'> | undefined {
    const end = this.#next();
    const from = this.#part(end, name === 's');
    const to = from === undefined ? undefined : this.#part(end, false);
    if (to === undefined || name === 'y') return to === undefined ? undefined : { from, to, flags: '' };
    const flags = this.#take(FLAGS);
    if (this.#text.charAt(this.#at) !== 'w') return { from, to, flags };
    this.#next();
    return { from, to, flags, text: this.#take(LINE) };
  }
}

/** One command of a script. */
export interface SedStep {
  readonly name: string;
  /** Some lines are left out. */
  readonly addressed: boolean;
  /** Of `s` and `y`: their parts as they are spelled. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly flags?: string;
  /** The rest of the line, also a semicolon in it: the name of a file, a command, a text. */
  readonly text?: string;
}

/** A part that does not end: sed refuses the whole script. */
const REFUSED: SedStep = { name: '', addressed: false };

/** The commands of a script, as far as sed itself would take it. */
export function sedSteps(script: string): Generator<SedStep> {
  return new Script(script).steps();
}

/** The files that the commands of a sed script write: `w file`, `s/a/b/w file`. */
export function sedFiles(script: string): string[] {
  const found: string[] = [];
  for (const { name, text = '' } of sedSteps(script))
    if (/[swW]/.test(name) && text.trim() !== '') found.push(text.trim());
  return found;
}

/** All of the script that sed is given, each option a line of its own, and what stands behind it. */
export interface SedCall {
  readonly options: Options;
  /** Undefined: a part of it is not known. */
  readonly script: string | undefined;
  /** What is known of it. */
  readonly seen: string;
  readonly files: readonly Word[];
}

export function readSed(args: readonly Word[], input: Lines | undefined): SedCall {
  const takes = '-e -f -l --expression --file --line-length';
  const options = parseOptions(withoutEmptySuffix(args), { takes, attaches: 'iI' });
  const given = options.has('-e', '-f', '--expression', '--file');
  const written = given ? options.values('-e', '--expression') : options.operands.slice(0, 1);
  const texts = [
    ...written.map((word) => (isKnown(word) ? word.text : undefined)),
    ...options.values('-f', '--file').map((file) => {
      return textOf(/^(?:-|\/dev\/stdin)$/.test(file.text) ? input : file.stream?.lines);
    }),
  ];
  const seen = texts.filter((text) => text !== undefined).join('\n');
  return {
    options,
    script: texts.includes(undefined) ? undefined : seen,
    seen,
    files: given ? options.operands : options.operands.slice(1),
  };
}

/** BSD's `-i ''` gives the empty suffix a word of its own. */
function withoutEmptySuffix(args: readonly Word[]): readonly Word[] {
  return args.filter(({ text, unknown }, index) => {
    return !(text === '' && unknown === undefined && /^-[A-Za-z]*i$/.test(args[index - 1]?.text ?? ''));
  });
}
