import { lazily } from '../../../kernel/lazily.ts';
/** How a database reads its text: where strings, names and comments begin and end. */
export type Dialect = 'postgres' | 'mysql' | 'sqlite' | 'mssql' | 'unknown';

export type TokenKind = 'word' | 'name' | 'string' | 'number' | 'mark' | 'client';

export interface Token {
  readonly kind: TokenKind;
  /**
   * A word in capitals; a quoted word without its quotes; a client's own command (`\! …`, `.shell …`) in
   * full.
   */
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

export interface Tokens {
  readonly tokens: readonly Token[];
  /** A string, a name or a comment that is never closed: it has swallowed what follows. */
  readonly unclosed: boolean;
}

/** Each table of Unicode letters takes a fraction of a millisecond, and few commands contain SQL. */
const WORD = lazily(() => /[\p{L}_@#$][\p{L}\p{N}_@#$]*/uy);
const NUMBER = /\d[\w.]*/y;
const DOLLAR_TAG = lazily(() => /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy);
const SPACE = /\s+/y;
const REST_OF_LINE = /[^\n]*/y;
const GREATEST_NESTING = 100;
/** They begin nothing longer in any dialect. */
const PLAIN_MARKS = new Set([',', '(', ')', ';', '=']);

/** Reads once, from left to right, in linear time. */
export function tokenise(text: string, dialect: Dialect): Tokens {
  return new Tokeniser(text, dialect).read();
}

class Tokeniser {
  readonly #text: string;
  readonly #dialect: Dialect;
  readonly #tokens: Token[] = [];
  #at = 0;
  #unclosed = false;
  /** Inside a comment that MySQL executes. */
  #obeyed = false;

  constructor(text: string, dialect: Dialect) {
    this.#text = text;
    this.#dialect = dialect;
  }

  read(): Tokens {
    while (this.#at < this.#text.length) this.#next();
    return { tokens: this.#tokens, unclosed: this.#unclosed };
  }

  #next(): void {
    const at = this.#at;
    const char = this.#text.charAt(at);
    if (PLAIN_MARKS.has(char)) {
      this.#at += 1;
      this.#push('mark', char, at);
      return;
    }
    if (this.#skip(SPACE)) return;
    if (this.#comment() || this.#clientCommand() || this.#quoted()) return;
    const word = this.#take(WORD());
    if (word !== undefined) {
      this.#push('word', word.toUpperCase(), at);
      return;
    }
    const number = this.#take(NUMBER);
    if (number !== undefined) {
      this.#push('number', number, at);
      return;
    }
    this.#at += 1;
    this.#push('mark', char, at);
  }

  #is(...dialects: readonly Dialect[]): boolean {
    return dialects.includes(this.#dialect);
  }

  #comment(): boolean {
    const text = this.#text;
    const two = text.slice(this.#at, this.#at + 2);
    if (two === '--') {
      // MySQL needs a space after it; without one these are two minus signs.
      if (this.#is('mysql') && !/^--(?:\s|$)/.test(text.slice(this.#at, this.#at + 3))) return false;
      return this.#skip(REST_OF_LINE);
    }
    if (text.charAt(this.#at) === '#' && this.#is('mysql')) return this.#skip(REST_OF_LINE);
    if (this.#obeyed && two === '*/') {
      this.#obeyed = false;
      this.#at += 2;
      return true;
    }
    if (two !== '/*') return false;
    // `/*!50000 DROP TABLE t */` is run by MySQL and MariaDB.
    const obeyed = this.#is('mysql', 'unknown')
      ? /^\/\*M?!\d*/.exec(text.slice(this.#at, this.#at + 12))
      : null;
    if (obeyed !== null) {
      this.#obeyed = true;
      this.#at += obeyed[0].length;
      return true;
    }
    this.#at = this.#endOfComment(this.#at + 2);
    return true;
  }

  #endOfComment(from: number): number {
    const nests = this.#is('postgres', 'mssql');
    let depth = 1;
    const edge = /\/\*|\*\//g;
    edge.lastIndex = from;
    for (let match = edge.exec(this.#text); match !== null; match = edge.exec(this.#text)) {
      depth += match[0] === '*/' ? -1 : nests ? 1 : 0;
      if (depth === 0) return edge.lastIndex;
      if (depth > GREATEST_NESTING) break;
    }
    this.#unclosed = true;
    return this.#text.length;
  }

  /** `\! rm …` of psql and mysql, `.shell rm …` of sqlite3: for the client, up to the end of the line. */
  #clientCommand(): boolean {
    const char = this.#text.charAt(this.#at);
    if (char === '\\' && this.#is('postgres', 'mysql', 'unknown')) return this.#client();
    const starts = this.#at === 0 || this.#text.charAt(this.#at - 1) === '\n';
    if (char === '.' && starts && this.#is('sqlite', 'unknown')) return this.#client();
    return false;
  }

  #client(): boolean {
    const at = this.#at;
    const line = this.#take(REST_OF_LINE) ?? '';
    this.#push('client', line.trim(), at);
    return true;
  }

  #quoted(): boolean {
    const at = this.#at;
    const char = this.#text.charAt(at);
    if (char === "'") return this.#until("'", 'string', this.#escapes(at));
    if (char === '"') {
      const isString = this.#is('mysql');
      return this.#until('"', isString ? 'string' : 'name', isString);
    }
    if (char === '`' && !this.#is('postgres', 'mssql')) return this.#until('`', 'name', false);
    if (char === '[' && this.#is('mssql', 'sqlite')) return this.#until(']', 'name', false);
    if (char !== '$' || !this.#is('postgres', 'unknown')) return false;
    const tag = this.#take(DOLLAR_TAG());
    if (tag === undefined) return false;
    const end = this.#text.indexOf(tag, this.#at);
    if (end === -1) this.#unclosed = true;
    const inner = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at = end === -1 ? this.#text.length : end + tag.length;
    this.#push('string', inner, at);
    return true;
  }

  /** `'it\'s'`: in MySQL always, in PostgreSQL after an E. */
  #escapes(at: number): boolean {
    if (this.#is('mysql')) return true;
    const last = this.#tokens.at(-1);
    return this.#is('postgres', 'unknown') && last?.end === at && last.text === 'E' && last.kind === 'word';
  }

  #until(quote: string, kind: TokenKind, escapes: boolean): boolean {
    const at = this.#at;
    let inner = '';
    let part = at + 1;
    let index = part;
    for (; ; index += 1) {
      const char = this.#text.charAt(index);
      if (char === '') {
        this.#unclosed = true;
        break;
      }
      if (escapes && char === '\\') {
        inner += this.#text.slice(part, index);
        part = index + 1;
        index += 1;
      } else if (char === quote) {
        if (this.#text.charAt(index + 1) !== quote) break;
        inner += this.#text.slice(part, index + 1);
        part = index + 2;
        index += 1;
      }
    }
    this.#at = Math.min(index + 1, this.#text.length);
    this.#push(kind, inner + this.#text.slice(part, index), at);
    return true;
  }

  #push(kind: TokenKind, text: string, at: number): void {
    this.#tokens.push({ kind, text, at, end: this.#at });
  }

  #skip(pattern: RegExp): boolean {
    return this.#take(pattern) !== undefined;
  }

  #take(pattern: RegExp): string | undefined {
    const at = this.#at;
    pattern.lastIndex = at;
    if (!pattern.test(this.#text) || pattern.lastIndex === at) return undefined;
    this.#at = pattern.lastIndex;
    return this.#text.slice(at, this.#at);
  }
}
