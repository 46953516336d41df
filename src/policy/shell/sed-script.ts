/** What may stand before a command: a line's number, the last one, a pattern between any two signs; with a second one, and a `!`. */
const ADDRESS = /(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^/\\\n])*\/[IM]*|\\(.)(?:\\.|(?!\1)[^\\\n])*\1[IM]*|[+~]\d+)/y;
const BETWEEN = /\s*,\s*/y;
const BEFORE = /[\s!]*/y;
const SPACE = /[\s;{}]*/y;
const FLAGS = /[gpiIeMm\d]*/y;
const LINE = /[^\n]*/y;
/** Text over several lines has a backslash at the end of each but the last. */
const TEXT = /(?:\\[\s\S]|[^\n\\])*/y;
const LABEL = /[^;\n}]*/y;

/** Goes through a script of sed from command to command, as far as its files need it. */
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

  /** To the sign that ends a part of `s` or `y`, and over it. */
  #part(end: string): void {
    for (let sign = this.#next(); sign !== '' && sign !== end; sign = this.#next())
      if (sign === '\\') this.#next();
  }

  *files(): Generator<string> {
    while (this.#at < this.#text.length) {
      this.#take(SPACE);
      if (this.#take(ADDRESS) !== '' && this.#take(BETWEEN) !== '') this.#take(ADDRESS);
      this.#take(BEFORE);
      const command = this.#next();
      if (command === 's' || command === 'y') {
        const end = this.#next();
        this.#part(end);
        this.#part(end);
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
