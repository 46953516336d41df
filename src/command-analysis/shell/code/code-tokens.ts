/** One token of a program in another language, as far as these languages agree on tokens. */
export interface Token {
  readonly kind: 'name' | 'text' | 'number' | 'sign';
  /** For a string: what is between its quotes, with escapes resolved. */
  readonly value: string;
  /**
   * For a string: its parts, if it contains names or expressions (`f"{x}"`, `${x}`); undefined: it contains
   * none.
   */
  readonly parts?: readonly (string | { readonly code: string })[] | undefined;
  /** A string in backquotes: a command in Ruby, Perl, PHP; a template in JavaScript. */
  readonly backquoted?: boolean;
}

const TOKENS_MAX = 6000;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', 0: '\0', a: '\x07', b: '\b' };

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{3})|(.))/gs,
    (_whole, hex?: string, wide?: string, braced?: string, octal?: string, other?: string) => {
      if (other !== undefined) return other === '\n' ? '' : (ESCAPES[other] ?? other);
      const code =
        octal === undefined ? Number.parseInt(hex ?? wide ?? braced ?? '', 16) : Number.parseInt(octal, 8);
      return code <= 0x10ffff ? String.fromCodePoint(code) : '';
    },
  );
}

/** `{x}` or `${x}` or `#{x}` within a string. */
function interpolated(text: string, opening: RegExp): Token['parts'] {
  const parts: (string | { code: string })[] = [];
  let from = 0;
  for (const match of text.matchAll(opening)) {
    if (match.index < from) continue;
    const start = match.index + match[0].length;
    const end = match[0].endsWith('{') ? text.indexOf('}', start) : start;
    if (end === -1) break;
    parts.push(unescaped(text.slice(from, match.index)));
    parts.push({ code: match[0].endsWith('{') ? text.slice(start, end) : match[0] });
    from = match[0].endsWith('{') ? end + 1 : end;
  }
  if (parts.length === 0) return undefined;
  parts.push(unescaped(text.slice(from)));
  return parts;
}

/** Where the string that starts with `quote` at `start` ends: after its last quote. */
function endOfText(code: string, start: number, quote: string): number {
  for (let at = start + quote.length; at < code.length; at += 1) {
    const character = code[at];
    if (character === '\\') at += 1;
    else if (character === quote[0] && code.startsWith(quote, at)) return at + quote.length;
  }
  return code.length;
}

/** What begins an expression within a string, by its quotes. */
const OPENINGS: Readonly<Record<string, RegExp>> = {
  formatted: /\{/g,
  '`': /\$\{|#\{/g,
  '"': /#\{|\$\{|\{(?=\$)|\$[A-Za-z_]\w*/g,
};

function textToken(code: string, start: number, prefix: string): { token: Token; end: number } {
  const first = code[start] as string;
  const quote = code.startsWith(first.repeat(3), start) && first !== '`' ? first.repeat(3) : first;
  const end = endOfText(code, start, quote);
  const inside = code.slice(start + quote.length, Math.max(start + quote.length, end - quote.length));
  if (/r/i.test(prefix)) return { token: { kind: 'text', value: inside }, end };
  const opening = /f/i.test(prefix) ? OPENINGS.formatted : OPENINGS[first];
  const parts = opening === undefined || !/[{$]/.test(inside) ? undefined : interpolated(inside, opening);
  const backquoted = first === '`';
  return { token: { kind: 'text', value: unescaped(inside), parts, backquoted }, end };
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']', '<': '>' };

/** `q{…}`, `%x(…)`, `qw/…/` of Perl and Ruby. */
function delimited(code: string, start: number): { token: Token; end: number } | undefined {
  const match = /^(?:%([xqQw]?)|(q[qxw]?)(?=\s*[^\w\s,;=)]))\s*([^\w\s=,;)])/.exec(
    code.slice(start, start + 8),
  );
  if (match === null) return undefined;
  const [whole, ruby, perl, open = ''] = match;
  // `a % (b)` is a remainder.
  if (ruby === '' && /[\w)\]'"]\s*$/.test(code.slice(Math.max(0, start - 4), start))) return undefined;
  const end = code.indexOf(CLOSING[open] ?? open, start + whole.length);
  if (end === -1) return undefined;
  const value = code.slice(start + whole.length, end);
  return { token: { kind: 'text', value, backquoted: ruby === 'x' || perl === 'qx' }, end: end + 1 };
}

/** Ruby and Elixir names may also end with a mark. */
const NAME = /[A-Za-z_$@][\w$]*(?:[!?](?=[( ]))?/y;
const NUMBER = /0x[0-9a-fA-F]+|\d+(?:\.\d+)?/y;
const COMMENT = /#[^{!][^\n]*|#!?[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\//y;

const SIGNS = new Set(['=>', '->', '::', '==', '!=', '+=', '.=']);

/** What a character may begin. A table, because it is looked up for every character of a program. */
const BEGINS: ReadonlyMap<string, 'space' | 'comment' | 'name' | 'quote' | 'number' | 'percent'> = new Map([
  ...[...' \n\t\r\v\f'].map((character) => [character, 'space'] as const),
  ...[...'#/'].map((character) => [character, 'comment'] as const),
  ...[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$@'].map(
    (character) => [character, 'name'] as const,
  ),
  ...[...`'"\``].map((character) => [character, 'quote'] as const),
  ...[...'0123456789'].map((character) => [character, 'number'] as const),
  ['%', 'percent'],
]);

function matchAt(pattern: RegExp, code: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(code)?.[0];
}

/**
 * A string that begins here, with the letters that may precede its quote (`rb'…'`), or Perl's and Ruby's own
 * quotes.
 */
function textAt(
  code: string,
  at: number,
  begins: string | undefined,
  word: string | undefined,
): { token: Token; end: number } | undefined {
  if (begins === 'quote') return textToken(code, at, '');
  if (begins === 'percent') return delimited(code, at);
  if (word === undefined) return undefined;
  if (word.length <= 2 && /^[rbuf]{1,2}$/i.test(word) && /['"]/.test(code[at + word.length] ?? ''))
    return textToken(code, at + word.length, word);
  return word.startsWith('q') ? delimited(code, at) : undefined;
}

/** The tokens of code in Python, JavaScript, Ruby, Perl, PHP or similar languages. */
export function tokensOf(code: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length && tokens.length < TOKENS_MAX; ) {
    const character = code[at] as string;
    const begins =
      BEGINS.get(character) ?? (character > '\x7f' && /\s/.test(character) ? 'space' : undefined);
    if (begins === 'space') {
      if (character === '\n') tokens.push({ kind: 'sign', value: '\n' });
      at += 1;
      continue;
    }
    const comment = begins === 'comment' ? matchAt(COMMENT, code, at) : undefined;
    if (comment !== undefined) {
      at += comment.length;
      continue;
    }
    const word = begins === 'name' ? matchAt(NAME, code, at) : undefined;
    const text = textAt(code, at, begins, word);
    if (text !== undefined) {
      tokens.push(text.token);
      at = Math.max(text.end, at + 1);
    } else if (word !== undefined) {
      tokens.push({ kind: 'name', value: word });
      at += word.length;
    } else {
      const number = begins === 'number' ? matchAt(NUMBER, code, at) : undefined;
      const two = code.slice(at, at + 2);
      const sign = SIGNS.has(two) ? two : character;
      tokens.push(number === undefined ? { kind: 'sign', value: sign } : { kind: 'number', value: number });
      at += (number ?? sign).length;
    }
  }
  return tokens;
}
