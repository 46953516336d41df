import type { Decoder } from './decoder.ts';
import { escapesRead } from './escapes.ts';
import { parseOptions } from './program-options.ts';
import { isKnown, type Word } from './word.ts';

const CLASSES: Readonly<Record<string, string>> = {
  '[:lower:]': 'a-z',
  '[:upper:]': 'A-Z',
  '[:digit:]': '0-9',
  '[:space:]': '\\t\\n\\v\\f\\r ',
  '[:blank:]': '\\t ',
  '[:alpha:]': 'A-Za-z',
  '[:alnum:]': '0-9A-Za-z',
};
/** Other classes, letters that are alike, letters so many times. */
const NOT_FOLLOWED = /\[[:=.]|\[.\*\d*\]/s;
/** It goes by bytes. */
const BEYOND = /[^\t\n\r -~]/;
/** Read as a line's end elsewhere. */
const ZERO = /\\(?:0|x00)/;

/** `a-z`, `[:upper:]`, `\n` as the characters they stand for; undefined: they are not known. */
function characters({ text: set, glob, spelling }: Word): readonly string[] | undefined {
  // Without quotes `[a-z]` is a pattern of the shell, too.
  if (glob && spelling === undefined) return undefined;
  const named = (spelling ?? set).replace(/\[:\w+:\]/g, (name) => CLASSES[name] ?? name);
  if (NOT_FOLLOWED.test(named) || BEYOND.test(named) || ZERO.test(named)) return undefined;
  const text = escapesRead(named);
  const found: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const [from = '', dash, to] = [text[at], text[at + 1], text[at + 2]];
    if (dash === '-' && to !== undefined) {
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code += 1)
        found.push(String.fromCharCode(code));
      at += 2;
    } else found.push(from);
  }
  return found;
}

function translated(text: string, from: readonly string[], to: readonly string[]): string {
  const other = new Map(from.map((letter, index) => [letter, to[index] ?? to.at(-1) ?? letter]));
  return Array.from(text, (letter) => other.get(letter) ?? letter).join('');
}

/** Of the same letter several times in a row one. */
function squeezed(text: string, set: readonly string[]): string {
  const letters = new Set(set);
  return [...text].filter((letter, at) => !letters.has(letter) || text[at - 1] !== letter).join('');
}

function without(text: string, set: readonly string[]): string {
  const letters = new Set(set);
  return [...text].filter((letter) => !letters.has(letter)).join('');
}

export const tr: Decoder = (text, args) => {
  const { operands, has, hasOther } = parseOptions(args);
  if (hasOther('-d --delete -s --squeeze-repeats') || !operands.every(isKnown) || operands.length > 2)
    return undefined;
  const [first, second] = operands.map((word) => characters(word));
  if (first === undefined || BEYOND.test(text)) return undefined;
  const squeezes = has('-s', '--squeeze-repeats');
  if (operands.length === 1) {
    if (has('-d', '--delete')) return squeezes ? undefined : without(text, first);
    return squeezes ? squeezed(text, first) : undefined;
  }
  if (second === undefined || second.length === 0) return undefined;
  if (has('-d', '--delete')) return squeezes ? squeezed(without(text, first), second) : undefined;
  const changed = translated(text, first, second);
  return squeezes ? squeezed(changed, second) : changed;
};
