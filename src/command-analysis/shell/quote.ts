import { isKnown, literal, type Word } from './word.ts';
import type { Inner } from './wrap.ts';

const META = /[|&;<>()$`"'\\{}!*?\n]/;

/** A word as a shell would have to read it to get the same one. */
function quoted(word: Word): string {
  if (!isKnown(word)) return word.source ?? `"$unknown"`;
  if (word.glob) return word.spelling ?? word.text;
  return quoteWord(word.text);
}

export function quoteWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What a text in front of arguments runs. */
export function textInFront(text: string, rest: readonly Word[]): Inner {
  if (META.test(text)) return { script: [text, ...rest.map(quoted)].join(' ') };
  return { words: [...text.split(/\s+/).filter(Boolean).map(literal), ...rest] };
}
