import { escapesRead } from './escapes.ts';
import { parseOptions } from './options.ts';
import { readSed, type SedStep, sedSteps } from './sed-script.ts';
import { isKnown, type Lines, textOf, type Word } from './word.ts';

const BYTES_MAX = 64 * 1024;

type Decoder = (text: string, args: readonly Word[]) => string | undefined;

/** Undefined where it is no text: what a shell would make of that nobody knows. */
function decoded(text: string, encoding: 'base64' | 'hex'): string | undefined {
  const bare = text.replace(/\s+/g, '');
  if (bare.length > BYTES_MAX) return undefined;
  const result = Buffer.from(bare, encoding).toString('utf8');
  return result.includes('\ufffd') ? undefined : result;
}

const base64: Decoder = (text, args) =>
  parseOptions(args, { takes: '-w -i -o' }).has('-d', '-D', '--decode') ? decoded(text, 'base64') : undefined;

const base32: Decoder = (text, args) => {
  if (!parseOptions(args).has('-d', '--decode')) return undefined;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  let [bits, value] = [0, 0];
  const bytes: number[] = [];
  for (const letter of text.replace(/[\s=]/g, '').slice(0, BYTES_MAX)) {
    value = ((value << 5) | letters.indexOf(letter)) & 0xffff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Buffer.from(bytes).toString('utf8');
};

const xxd: Decoder = (text, args) => {
  const { has } = parseOptions(args, { takes: '-c -g -l -o -s' });
  if (!has('-r')) return undefined;
  // Without `-p` each line has its place before and its characters behind.
  const plain = has('-p') || args.some(({ text: arg }) => /^-(?:ps|plain|postscript)$/.test(arg));
  const hex = plain ? text : text.replace(/^[0-9a-f]+:\s*/gim, '').replace(/ {2,}.*$/gm, '');
  return decoded(hex, 'hex');
};

const openssl: Decoder = (text, args) =>
  /^(?:base64|enc)$/.test(args[0]?.text ?? '') &&
  args.some(({ text: arg }) => arg === '-d') &&
  args.some(({ text: arg }) => /^-?(?:base64|a)$/.test(arg) || arg === '-base64')
    ? decoded(text, 'base64')
    : undefined;

/** `a-z`, `[:upper:]`, `\n` as the characters they stand for. */
function characters(set: string): string[] {
  const named = set
    .replace('[:lower:]', 'a-z')
    .replace('[:upper:]', 'A-Z')
    .replace('[:digit:]', '0-9')
    .replace('[:space:]', ' \\t\\n')
    .replace('[:alpha:]', 'A-Za-z');
  const text = escapesRead(named);
  const found: string[] = [];
  for (let at = 0; at < text.length && found.length < 1000; at += 1) {
    const [from = '', dash, to] = [text[at], text[at + 1], text[at + 2]];
    if (dash === '-' && to !== undefined) {
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0) && found.length < 1000; code += 1)
        found.push(String.fromCharCode(code));
      at += 2;
    } else found.push(from);
  }
  return found;
}

const tr: Decoder = (text, args) => {
  const { operands, has } = parseOptions(args);
  const [from, to] = operands;
  if (!isKnown(from) || has('-c', '-C', '--complement')) return undefined;
  const set = characters(from.text);
  if (has('-d', '--delete')) return [...text].filter((letter) => !set.includes(letter)).join('');
  if (!isKnown(to)) return has('-s') ? text : undefined;
  const other = characters(to.text);
  return [...text]
    .map((letter) => {
      const at = set.lastIndexOf(letter);
      return at === -1 ? letter : (other[at] ?? other.at(-1) ?? letter);
    })
    .join('');
};

const STEPS_MAX = 50;
/** In a pattern these mean something, and in what takes its place `&` does. */
const NO_LETTERS = /[\\[\].*^$+?(){}|]/;
const INSERTS = /[\\&]/;

/** One `s/a/b/g` of letters alone, for all lines; undefined: it is something else. */
function substituted(
  text: string,
  { name, addressed, from = '', to = '', flags, ...more }: SedStep,
): string | undefined {
  if (name !== 's' || addressed || more.text !== undefined || !/^g?$/.test(flags ?? '')) return undefined;
  if (from === '' || NO_LETTERS.test(from) || INSERTS.test(to)) return undefined;
  const lines = text.split('\n').map((line) => line.split(from));
  const length = lines.reduce((sum, pieces) => sum + (pieces.length - 1) * to.length, text.length);
  if (length > BYTES_MAX) return undefined;
  return lines
    .map(([first = '', ...rest]) => {
      if (rest.length === 0) return first;
      return flags === 'g' ? [first, ...rest].join(to) : first + to + rest.join(from);
    })
    .join('\n');
}

const sed: Decoder = (text, args) => {
  const { options, script, files } = readSed(args, undefined);
  const plain = '-e --expression -E -r --regexp-extended -u --unbuffered -s --separate';
  if (script === undefined || files.length > 0 || options.hasOther(plain)) return undefined;
  let result: string | undefined = text;
  let steps = 0;
  for (const step of sedSteps(script)) {
    steps += 1;
    if (result === undefined || steps > STEPS_MAX) return undefined;
    result = substituted(result, step);
  }
  return result;
};

const rev: Decoder = (text) =>
  text
    .split('\n')
    .map((line) => [...line].reverse().join(''))
    .join('\n');

const DECODERS: Readonly<Record<string, Decoder>> = {
  base64,
  gbase64: base64,
  base32,
  xxd,
  openssl,
  tr,
  sed,
  gsed: sed,
  rev,
  fold: (text) => text,
};

/** What a filter makes of the text it reads; undefined: it is none of these, or nobody can say. */
export function decodedBy(name: string, args: readonly Word[], input: Lines | undefined): string | undefined {
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  const text = decoder === undefined ? undefined : textOf(input);
  return text === undefined || text.length > BYTES_MAX ? undefined : decoder?.(text, args);
}
