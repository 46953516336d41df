import type { JsonObject } from '../../../kernel/json.ts';
import { eventLine } from '../../../transports/cli/narration/event-line.ts';
import type { Sentence } from '../../../transports/cli/narration/narrate.ts';
import { oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { plain } from '../../../transports/cli/output/text.ts';
import { statusLines } from './status-screen.ts';

export interface Frame {
  readonly seen: JsonObject | undefined;
  readonly events: readonly Sentence[];
  /** Why the view may be outdated. */
  readonly trouble?: string | undefined;
}

/** The minimum number of event lines; the parts above share the rest of the height. */
const EVENTS_MIN = 5;
const SIZES = [12, 9, 7, 5, 4, 3, 2, 1, 0];

/** The status above and the events below, in exactly the available rows and columns. */
export function frameLines({ seen, events, trouble }: Frame, view: View, rows: number): string[] {
  const state = seen === undefined ? ['Coxswain'] : fitting(seen, view, rows - EVENTS_MIN - 2);
  const lines = [...state, ...(rows > 20 ? [''] : [])];
  const note = trouble === undefined ? '' : `  ${plain(trouble)}`;
  lines.push(
    oneLine(
      [
        { text: 'Events', style: 'bold' },
        { text: note, style: 'red' },
      ],
      view,
    ),
  );
  const room = Math.max(0, rows - lines.length);
  lines.push(...events.slice(-room).map((event) => eventLine(event, view, 2)));
  return lines.slice(0, rows);
}

/** As much of the status as fits: first without blank lines, then with fewer rows in each part. */
function fitting(seen: JsonObject, view: View, rows_max: number): string[] {
  let lines: string[] = [];
  for (const size of SIZES) {
    const room = { agents: size, locks: size, claims: size, stuck: Math.ceil(size / 2) };
    // News is among the events.
    lines = statusLines({ ...seen, handoff: null, newest_message: null }, view, room);
    if (lines.length <= rows_max) return lines;
    lines = lines.filter((line) => line !== '');
    if (lines.length <= rows_max) return lines;
  }
  return lines.slice(0, Math.max(1, rows_max));
}
