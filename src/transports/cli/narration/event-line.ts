import { oneLine, type View } from '../output/layout.ts';
import type { Sentence } from './narrate.ts';

export function eventLine(
  { at_ms, text, style }: Pick<Sentence, 'at_ms' | 'text' | 'style'>,
  view: View,
  indent = 0,
): string {
  const time = new Date(at_ms).toTimeString().slice(0, 8);
  return oneLine(
    [
      { text: `${time}  `, style: 'dim' },
      { text, style },
    ],
    view,
    indent,
  );
}
