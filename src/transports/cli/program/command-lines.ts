import { width } from '../output/text.ts';

const GOES_ON = ' \\';
/** As far as the next space that is not quoted. */
const WORD = /(?:'[^']*'|\\.|[^ ])+/gu;
/** What no line may end within; accents have no width, so they stay with their letter. */
const ATOM = /\\.|./gu;

/**
 * A command to copy: on one line if it fits, else broken as a shell reads it: between words, and within one that is wider
 * than any line. Never cut: half an id is none.
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

/** The next line starts at the edge, because a space would begin another word; quotes don't reach over it. */
function brokenWord(word: string, room: number): string[] {
  const parts: string[] = [];
  const most = room - width(`'\\`);
  let part = '';
  let isQuoted = false;
  for (const atom of word.match(ATOM) ?? []) {
    // Between quotes a backslash is one, and a pair of atoms.
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
