import type { JsonObject } from '../../../kernel/json.ts';
import { eventLine } from '../../../transports/cli/narration/event-line.ts';
import { oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import { type BoardRoom, boardLines } from './board-screen.ts';
import type { News } from './up-news.ts';

export interface UpFrame {
  readonly seen: JsonObject | undefined;
  readonly news: readonly News[];
  /** Why the picture may be out of date. */
  readonly trouble?: string | undefined;
}

const NEWS_MIN = 6;
const ARTEFACTS = 4;
const SIZES = [20, 12, 8, 6, 5, 4, 3, 2, 1, 0];

/** The board above, the news below, in exactly the given number of rows and columns. */
export function upLines({ seen, news, trouble }: UpFrame, view: View, rows: number): string[] {
  const state = seen === undefined ? ['The board'] : fitting(seen, view, rows - NEWS_MIN - 1);
  const hint =
    trouble === undefined
      ? { text: '  Ctrl-C stops everything', style: 'dim' as const }
      : { text: `  ${plain(trouble)}`, style: 'red' as const };
  const head = oneLine([{ text: 'News', style: 'bold' }, hint], view);
  const lines = [...state, ...(rows - state.length > NEWS_MIN + 1 ? [''] : []), head];
  const room = Math.max(0, rows - lines.length);
  lines.push(...news.slice(-room).map((each) => eventLine(each, view, 2)));
  return lines.slice(0, rows);
}

/** As much of the board as fits. Finished claims are dropped first, then blank lines, then rows of each part. */
function fitting(seen: JsonObject, view: View, rows_max: number): string[] {
  let lines: string[] = [];
  for (const size of SIZES) {
    const room: BoardRoom = {
      needs: Math.max(1, Math.ceil(size / 2)),
      agents: size,
      claims: size,
      bids: false,
      ended: 0,
      artefacts: Math.min(ARTEFACTS, Math.ceil(size / 2)),
    };
    lines = boardLines(seen, view, room);
    if (lines.length <= rows_max) return lines;
    lines = lines.filter((line) => line !== '');
    if (lines.length <= rows_max) return lines;
  }
  return lines.slice(0, Math.max(1, rows_max));
}
