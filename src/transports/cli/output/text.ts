import type { Json } from '../../../kernel/json.ts';

/** Control characters, invisible characters, those that change the writing direction, and line breaks. */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
/** Letters have an accent or two; a hundred of them would cover the lines above. */
const TOO_MANY_MARKS = /(\p{M}{3})\p{M}+/gu;

/** On one line and harmless: everything that agents wrote goes through here before a person sees it. */
export function plain(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.toWellFormed().replaceAll(UNSHOWABLE, ' ').replaceAll(TOO_MANY_MARKS, '$1');
}

const ASCII = /^[\x20-\x7e]*$/;
/** Characters that take two columns in every terminal: East Asian wide and full-width forms, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u;
const NO_WIDTH = /^\p{M}+$/u;

let segmenter: Intl.Segmenter | undefined;

/** Characters as a person counts them. The segmenter is created on first use, because most text is ASCII. */
function* characters(text: string): Iterable<string> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function widthOf(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The columns that a text takes in a terminal. */
export function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of characters(text)) columns += widthOf(character);
  return columns;
}

/** At most this wide; text that was cut ends in an ellipsis. */
export function clip(text: string, columns: number): string {
  if (text.length <= columns && ASCII.test(text)) return text;
  if (columns <= 0) return '';
  // Shorten first, so that the columns of a 200 KB payload are never counted.
  const near = text.slice(0, columns * 16 + 64).toWellFormed();
  let kept = '';
  let used = 0;
  for (const character of characters(near)) {
    const wide = widthOf(character);
    if (used + wide > columns) return `${clipWithin(kept, columns - 1)}…`;
    kept += character;
    used += wide;
  }
  return near.length < text.length ? `${clipWithin(kept, columns - 1)}…` : kept;
}

function clipWithin(text: string, columns: number): string {
  let kept = '';
  let used = 0;
  for (const character of characters(text)) {
    used += widthOf(character);
    if (used > columns) break;
    kept += character;
  }
  return kept.trimEnd();
}

export function padded(text: string, columns: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, columns - width(text)));
  return side === 'right' ? text + space : space + text;
}

/**
 * Broken at spaces. A word that is too long stays whole because it may have to be copied, unless `words` is
 * 'cut'.
 */
export function wrapped(text: string, columns: number, words: 'whole' | 'cut' = 'whole'): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (width(longer) <= columns) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (words === 'cut' && width(line) > columns) {
      const piece = clipWithin(line, columns) || line.slice(0, 1);
      lines.push(piece);
      line = line.slice(piece.length);
    }
  }
  lines.push(line);
  return lines;
}

/** A duration in the one unit that fits best. */
export function span(duration_ms: number): string {
  const seconds = Math.round(Math.abs(duration_ms) / 1000);
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** `in 25 min` or `3 s ago`; undefined if it is not a time. */
export function relative(iso: unknown, now_ms: number): string | undefined {
  const time_ms = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  if (!Number.isFinite(time_ms)) return undefined;
  const amount = span(time_ms - now_ms);
  return time_ms > now_ms ? `in ${amount}` : `${amount} ago`;
}

/** How long ago, without the word "ago". */
export function age(iso: unknown, now_ms: number): string {
  const time_ms = typeof iso === 'string' ? Date.parse(iso) : Number.NaN;
  return Number.isFinite(time_ms) ? span(Math.max(0, now_ms - time_ms)) : '';
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
