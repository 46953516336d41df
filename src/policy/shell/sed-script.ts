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
 * Goes through a script of sed from command to command, as far as its files need it. It never goes back, so a script costs
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

  /** To the sign that ends a part of `s` or `y`, or a pattern, and over it; false: nothing on the line ends it. */
  #part(end: string, isPattern: boolean): boolean {
    for (let sign = this.#next(); sign !== '' && sign !== '\n'; sign = this.#next()) {
      if (sign === end) return true;
      if (sign === '\\') this.#next();
      else if (sign === '[' && isPattern && !this.#brackets()) return false;
    }
    return false;
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
    if (!this.#part(end, true)) return false;
    this.#take(PATTERN_FLAGS);
    return true;
  }

  #addresses(): boolean {
    return this.#address() && (this.#take(BETWEEN) === '' || this.#address());
  }

  *files(): Generator<string> {
    while (this.#at < this.#text.length) {
      this.#take(SPACE);
      // A part that does not end: sed refuses the whole script.
      if (!this.#addresses()) return;
      this.#take(BEFORE);
      const command = this.#next();
      if (command === 's' || command === 'y') {
        const end = this.#next();
        if (!this.#part(end, command === 's') || !this.#part(end, false)) return;
        if (command === 'y') continue;
        this.#take(FLAGS);
        if (this.#text.charAt(this.#at) !== 'w') continue;
        this.#next();
      } else if (command !== 'w' && command !== 'W') {
        if (/[aic]/.test(command)) this.#take(TEXT);
        else if (/[rRe#]/.test(command)) this.#take(LINE);
        else if (/[:btT]/.test(command)) this.#take(LABEL);
        continue;
      }
      // The rest of the line, also a semicolon, is the name.
      yield this.#take(LINE).trim();
    }
  }
}

/** The files that the commands of a sed script write: `w file`, `s/a/b/w file`. */
export function sedFiles(script: string): string[] {
  return [...new Script(script).files()].filter((name) => name !== '');
}
