/**
 * Reads the plain part of YAML that people and programs write feature files in: blocks of keys and lists,
 * short scalars, comments. A thousand small files took about 55 ms to read this way and 700 ms with a full
 * parser, on a busy machine. Anything that is not certain (anchors, tags, folded text, escapes, tabs) is not
 * guessed: the answer is undefined, and the caller uses the full parser. A test compares the two.
 */
export function readPlain(text: string, wanted: ReadonlySet<string>): PlainMap | undefined {
  try {
    return new PlainReader(text, wanted).document();
  } catch (error) {
    if (error === UNSURE) return undefined;
    throw error;
  }
}

export type Plain = null | boolean | number | string | Plain[] | PlainMap;
export interface PlainMap {
  [key: string]: Plain;
}

interface Line {
  readonly indent: number;
  readonly text: string;
}

const UNSURE = Symbol('unsure');
const KEY = /^("(?:[^"\\]|\\u[\dA-Fa-f]{4})*"|'[^']*'|[A-Za-z_][\w.→↔>-]*):(?: +(.*))?$/u;
/** The escapes that mean the same in JSON. */
const QUOTED = /^("(?:[^"\\]|\\(?:["\\nt]|u[\dA-Fa-f]{4}))*"|'[^']*')(?: +#.*)?$/;
/** Words that are not text unless quoted. */
const NO_TEXT = /^(?:null|true|false|yes|no|on|off|y|n|~)$/i;
const NUMBERISH = /^[-+.]?\d/;
const NUMBER = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$|^0[xo]/;
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;
/**
 * Starts with a letter, a digit or one of a few harmless characters, and contains nothing that could end it.
 */
const SCALAR = /^[\p{L}\p{N}_./(<→↔+-](?:[^:#\p{Cc}]|:(?=\S)|(?<=\S)#)*$/u;
const COMMENT = /(?:^| +)#.*$/;
const DEPTH_MAX = 12;

class PlainReader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(text: string, wanted: ReadonlySet<string>) {
    this.#lines = wantedLines(text, wanted);
  }

  document(): PlainMap {
    const value = this.#lines.length === 0 ? {} : this.#map(0, 0);
    if (this.#at < this.#lines.length) throw UNSURE;
    return value;
  }

  #map(indent: number, depth: number): PlainMap {
    if (depth > DEPTH_MAX) throw UNSURE;
    const entries = new Map<string, Plain>();
    for (let line = this.#lines[this.#at]; line?.indent === indent; line = this.#lines[this.#at]) {
      const [, key = '', value = ''] = KEY.exec(line.text) ?? [];
      const name = unquoted(key);
      if (key === '' || NO_TEXT.test(key) || name === '__proto__' || entries.has(name)) throw UNSURE;
      this.#at += 1;
      entries.set(name, this.#value(value, indent, depth));
    }
    if ((this.#lines[this.#at]?.indent ?? 0) > indent) throw UNSURE;
    return Object.fromEntries(entries);
  }

  /** The value of a key: on its line, or in the lines below with a deeper indent. */
  #value(given: string, indent: number, depth: number): Plain {
    const next = this.#lines[this.#at];
    const text = given.replace(COMMENT, '');
    if (text !== '') {
      // A scalar that continues on the next line is not supported here.
      if (next !== undefined && next.indent > indent) throw UNSURE;
      return scalar(given);
    }
    if (next === undefined || next.indent < indent) return null;
    if (isItem(next)) return this.#list(next.indent, depth + 1);
    return next.indent > indent ? this.#map(next.indent, depth + 1) : null;
  }

  #list(indent: number, depth: number): Plain[] {
    if (depth > DEPTH_MAX) throw UNSURE;
    const items: Plain[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent && isItem(line); ) {
      const text = line.text.slice(1).trimStart();
      const inner = indent + line.text.length - text.length;
      if (KEY.test(text)) {
        // `- key: value` is the first line of a map that starts where its key does.
        (this.#lines as Line[])[this.#at] = { indent: inner, text };
        items.push(this.#map(inner, depth + 1));
      } else {
        this.#at += 1;
        if (text === '' || (this.#lines[this.#at]?.indent ?? 0) > indent) throw UNSURE;
        items.push(scalar(text));
      }
      line = this.#lines[this.#at];
    }
    if ((this.#lines[this.#at]?.indent ?? 0) > indent) throw UNSURE;
    return items;
  }
}

function isItem({ text }: Line): boolean {
  return text.startsWith('- ');
}

/** The lines without comments, empty lines, and the sections that are not wanted. */
function wantedLines(text: string, wanted: ReadonlySet<string>): Line[] {
  if (/[\t\r\u0085\u2028\u2029\uFEFF]/.test(text)) throw UNSURE;
  const lines: Line[] = [];
  const seen = new Set<string>();
  let isWanted = false;
  /** Within a skipped section: the quote that is still open. Nothing inside it is a comment or a key. */
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const indent = line.search(/[^ ]/);
    if (open !== undefined) {
      if (indent === 0) throw UNSURE;
      open = leftOpen(line, open);
      continue;
    }
    if (indent === -1 || line[indent] === '#') continue;
    if (indent === 0 && !line.startsWith('- ')) {
      if (line === '---' && seen.size === 0) continue;
      const [, key, value = ''] = KEY.exec(line) ?? [];
      if (key === undefined || seen.has(key)) throw UNSURE;
      seen.add(key);
      isWanted = wanted.has(key);
      if (!isWanted) open = leftOut(value);
    } else if (seen.size === 0) throw UNSURE;
    if (isWanted) lines.push({ indent, text: line.slice(indent).trimEnd() });
  }
  return lines;
}

/**
 * The text after the key of a skipped section: an open quote that continues below, nothing, or something
 * uncertain.
 */
function leftOut(value: string): string | undefined {
  const [quote = ''] = value;
  if (quote === '"' || quote === "'") return leftOpen(value.slice(1), quote);
  if (/^[[{]/.test(value) && !/^(?:\[[^[\]]*\]|\{[^{}]*\})(?: +#.*)?$/.test(value)) throw UNSURE;
  if (/^[&*!@`%]/.test(value)) throw UNSURE;
  return undefined;
}

/** The quote, unless it ends on this line; after it there can only be a comment. */
function leftOpen(text: string, quote: string): string | undefined {
  const plain = quote === '"' ? text.replaceAll(/\\./g, '') : text.replaceAll("''", '');
  const end = plain.indexOf(quote);
  if (end === -1) return quote;
  if (!/^(?: +#.*| *)$/.test(plain.slice(end + 1))) throw UNSURE;
  return undefined;
}

function unquoted(text: string): string {
  if (text.startsWith('"')) return JSON.parse(text) as string;
  return text.startsWith("'") ? text.slice(1, -1) : text;
}

function scalar(given: string): Plain {
  const quoted = QUOTED.exec(given)?.[1];
  if (quoted !== undefined) return unquoted(quoted);
  const text = given.replace(COMMENT, '').trimEnd();
  if (text === '[]') return [];
  if (text === '{}') return {};
  const list = /^\[([^[\]{}"',:#]+(?:,[^[\]{}"',:#]+)*)\]$/.exec(text)?.[1];
  if (list !== undefined) return list.split(',').map((item) => scalar(item.trim()));
  return plainScalar(text);
}

function plainScalar(text: string): Plain {
  if (/^(?:null|~)$/.test(text)) return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (INTEGER.test(text)) return Number(text);
  if (NO_TEXT.test(text) || (NUMBERISH.test(text) && NUMBER.test(text))) throw UNSURE;
  if (!SCALAR.test(text) || /^[-+]|^\.(?:inf|nan)$/i.test(text)) throw UNSURE;
  return text;
}
