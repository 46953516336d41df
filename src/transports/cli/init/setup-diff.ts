import { compareLines, type DiffLine, hunksOf, hunkTitle, linesOf } from '../../../kernel/line-diff.ts';
import type { Paint } from '../output/paint.ts';
import { plain } from '../output/text.ts';
import type { FileChange } from './changes.ts';

/** In the format of `diff -u`. Control sequences in a file are shown harmlessly. */
export function unifiedDiff({ path, before, after }: FileChange, paint: Paint): string[] {
  const title = (bytes: Buffer | undefined) => (bytes === undefined ? '/dev/null' : plain(path));
  const head = [paint(`--- ${title(before)}`, 'bold'), paint(`+++ ${title(after)}`, 'bold')];
  const lines = compareLines(textLines(before), textLines(after));
  return [...head, ...hunksOf(lines).flatMap((hunk) => render(hunk, paint))];
}

function textLines(bytes: Buffer | undefined): string[] {
  return bytes === undefined ? [] : linesOf(bytes.toString('utf8'));
}

function render(hunk: readonly DiffLine[], paint: Paint): string[] {
  const styles = { '-': 'red', '+': 'green', ' ': undefined } as const;
  // Tabs and carriage returns are common in files; all other control characters are made harmless.
  const shown = (text: string) => text.replace(/\r$/, '').split('\t').map(plain).join('\t');
  return [
    paint(hunkTitle(hunk), 'cyan'),
    ...hunk.map(({ sign, text }) => paint(`${sign}${shown(text)}`, styles[sign])),
  ];
}
