import type { Decoder } from './decoder.ts';
import { parseOptions } from './program-options.ts';
import { readSed, type SedStep, sedSteps } from './sed-script.ts';
import { tr } from './tr.ts';
import { type Lines, textOf, type Word } from './word.ts';

const BYTES_MAX = 64 * 1024;

/** At any other character the programs differ: they stop, continue after it, or skip it. */
const LETTERS = {
  base64: /^[A-Za-z\d+/]*={0,2}$/,
  base32: /^[A-Z2-7]*={0,6}$/,
  hex: /^(?:[\da-fA-F]{2})*$/,
};

function lettersOf(text: string, encoding: keyof typeof LETTERS): string | undefined {
  const bare = text.replace(/\s+/g, '');
  return bare.length <= BYTES_MAX && LETTERS[encoding].test(bare) ? bare : undefined;
}

/** Undefined if it is no text: what a shell would do with that is unknown. */
function textIn(bytes: Buffer): string | undefined {
  const result = bytes.toString('utf8');
  return result.includes('\ufffd') ? undefined : result;
}

function decoded(text: string, encoding: 'base64' | 'hex'): string | undefined {
  const letters = lettersOf(text, encoding);
  return letters === undefined ? undefined : textIn(Buffer.from(letters, encoding));
}

function decodes(args: readonly Word[]): boolean {
  const { has, hasOther } = parseOptions(args, { takes: '-w --wrap' });
  return has('-d', '-D', '--decode') && !hasOther('-d -D --decode -w --wrap');
}

const base64: Decoder = (text, args) => (decodes(args) ? decoded(text, 'base64') : undefined);

const base32: Decoder = (text, args) => {
  const bare = decodes(args) ? lettersOf(text, 'base32') : undefined;
  if (bare === undefined) return undefined;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  let [bits, value] = [0, 0];
  const bytes: number[] = [];
  for (const letter of bare.replace(/=+$/, '')) {
    value = ((value << 5) | letters.indexOf(letter)) & 0xffff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return textIn(Buffer.from(bytes));
};

const xxd: Decoder = (text, args) => {
  const { has } = parseOptions(args, { takes: '-c -g -l -o -s' });
  if (!has('-r')) return undefined;
  // Without `-p` each line has its offset before and its characters after.
  const plain = has('-p') || args.some(({ text: arg }) => /^-(?:ps|plain|postscript)$/.test(arg));
  const hex = plain ? text : text.replace(/^[0-9a-f]+:\s*/gim, '').replace(/ {2,}.*$/gm, '');
  return decoded(hex, 'hex');
};

const openssl: Decoder = (text, [verb, ...args]) => {
  const texts = args
    .filter((_, index) => !/^-in$/.test(args[index - 1]?.text ?? ''))
    .map((word) => word.text);
  // With a cipher the result is no text.
  const plain = texts.every((arg) => /^-(?:d|a|A|base64|in)$/.test(arg)) && texts.includes('-d');
  const named =
    verb?.text === 'base64' || (verb?.text === 'enc' && texts.some((arg) => /^-(?:a|base64)$/.test(arg)));
  return plain && named ? decoded(text, 'base64') : undefined;
};

const STEPS_MAX = 50;
/** These have a meaning in a pattern, and `&` has one in the replacement. */
const NO_LETTERS = /[\\[\].*^$+?(){}|]/;
const INSERTS = /[\\&]/;

/** A single `s/a/b/g` of plain characters, for all lines; undefined: it is something else. */
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

const rev: Decoder = (text, args) =>
  parseOptions(args).hasOther('')
    ? undefined
    : text
        .split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n');

/** Lines of that many characters. A tab counts as several. */
const fold: Decoder = (text, args) => {
  const { values, hasOther } = parseOptions(args, { takes: '-w --width' });
  const width = Number(values('-w', '--width').at(-1)?.text ?? 80);
  if (hasOther('-w --width') || !Number.isInteger(width) || width < 1 || !/^[\n -~]*$/.test(text))
    return undefined;
  return text
    .split('\n')
    .map((line) => (line === '' ? line : (line.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\n')))
    .join('\n');
};

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
  fold,
};

/** What a filter turns its input into; undefined: it is none of these filters, or the result is unknown. */
export function decodedBy(name: string, args: readonly Word[], input: Lines | undefined): string | undefined {
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  const text = decoder === undefined ? undefined : textOf(input);
  return text === undefined || text.length > BYTES_MAX ? undefined : decoder?.(text, args);
}
