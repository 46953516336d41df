import { width } from '../output/text.ts';

const GOES_ON = ' \\';
/** Up to the next unquoted space. */
const WORD = /(?:'[^']*'|\\.|[^ ])+/gu;
/** Units within which a line must not be broken. Accents have no width, so they stay with their letter. */
const ATOM = /\\.|./gu;

/**
 * A command to copy: on one line if it fits, otherwise broken as a shell allows: between words, and within a
 * word that is wider than a line. Never cut: half an id is useless.
 */
export function brokenCommand(command: string, columns: number, indent: number): string[] {
  const first = ' '.repeat(indent);
  if (indent + width(command) <= columns) return [first + command];
  const words = command.match(WORD) ?? [];
  const lines: string[] = [];
  let line = '';
  words.forEach((word, index) => {
    const room = columns - (index === words.length - 1 ? 0 : width(GOES_ON));
    const longer = line === '' ? first + word : `${line} ${word}`;
    if (width(longer) <= room) {
      line = longer;
      return;
    }
    if (line !== '') lines.push(line + GOES_ON);
    const space = ' '.repeat(Math.max(0, Math.min(indent + 2, room - width(word))));
    const parts = width(word) <= room ? [space + word] : brokenWord(word, room);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? '';
  });
  return [...lines, line];
}

/**
 * The continuation starts at the left edge, because a space would begin another word; quotes don't span it.
 */
function brokenWord(word: string, room: number): string[] {
  const parts: string[] = [];
  const most = room - width(`'\\`);
  let part = '';
  let isQuoted = false;
  for (const atom of word.match(ATOM) ?? []) {
    // Between quotes a backslash is an ordinary character, so the pair is two atoms.
    const texts = isQuoted ? [...atom] : [atom];
    for (const text of texts) {
      if (part.length > 1 && width(part + text) > most) {
        parts.push(`${part}${isQuoted ? "'" : ''}\\`);
        part = isQuoted ? "'" : '';
      }
      part += text;
      if (text === "'") isQuoted = !isQuoted;
    }
  }
  return [...parts, part];
}
