import { brokenCommand } from '../program/command-lines.ts';
import type { Paint, Style } from './paint.ts';
import { clip, padded, width } from './text.ts';

export interface View {
  readonly columns: number;
  readonly now_ms: number;
  readonly paint: Paint;
}

/** A piece of a line: harmless text, not yet cut, and its style. */
export interface Piece {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type Cell = string | Piece;

export interface Column {
  /** The text may be cut down to this width if space is short; without it, the text stays whole. */
  readonly min?: number;
  readonly max?: number;
  readonly side?: 'left' | 'right';
}

const GAP = 2;

/** Rows in columns. Each line is cut at the edge and then painted, because colours have no width. */
export function layOut(
  rows: readonly (readonly Cell[])[],
  columns: readonly Column[],
  view: View,
  indent = 2,
): string[] {
  const widths = columnWidths(rows, columns, view.columns - indent);
  return rows.map((row) => {
    let line = ' '.repeat(indent);
    let used = indent;
    let owed = 0;
    row.forEach((cell, index) => {
      const wide = widths[index] ?? 0;
      if (wide === 0 || view.columns - used - owed <= 0) return;
      const { text, style } = piece(cell);
      const room = view.columns - used - owed;
      const shown = clip(text, Math.min(wide, room));
      const whole = columns[index]?.side === 'left' ? padded(shown, Math.min(wide, room), 'left') : shown;
      if (whole !== '') {
        line += ' '.repeat(owed) + view.paint(whole, style);
        used += owed + width(whole);
        owed = 0;
      }
      // Spaces are added only before more text, so no line ends in blanks.
      owed += Math.min(wide, room) - width(whole) + GAP;
    });
    return line.trimEnd();
  });
}

function piece(cell: Cell): Piece {
  return typeof cell === 'string' ? { text: cell } : cell;
}

function columnWidths(
  rows: readonly (readonly Cell[])[],
  columns: readonly Column[],
  room: number,
): number[] {
  const widths = columns.map(({ max = Number.POSITIVE_INFINITY }, index) =>
    Math.min(max, Math.max(0, ...rows.map((row) => width(piece(row[index] ?? '').text.slice(0, 1000))))),
  );
  const total = () =>
    widths.reduce((sum, wide) => sum + (wide === 0 ? 0 : wide + GAP), 0) - (widths.some(Boolean) ? GAP : 0);
  for (let excess = total() - room; excess > 0; excess = total() - room) {
    // The widest column that may shrink does so first, so that two long texts end up equally wide.
    let widest = -1;
    columns.forEach(({ min }, index) => {
      const wide = widths[index] ?? 0;
      if (min !== undefined && wide > min && (widest === -1 || wide > (widths[widest] ?? 0))) widest = index;
    });
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** One line of pieces, cut at the edge. */
export function oneLine(pieces: readonly Cell[], view: View, indent = 0): string {
  let room = view.columns - indent;
  let line = ' '.repeat(Math.min(indent, view.columns));
  for (const cell of pieces) {
    if (room <= 0) break;
    const { text, style } = piece(cell);
    const shown = clip(text, room);
    line += view.paint(shown, style);
    room -= width(shown);
    if (shown !== text) break;
  }
  return line;
}

/** A command to copy, never cut. */
export function commandLines(command: string, view: View, indent: number): string[] {
  return brokenCommand(command, view.columns, indent).map((line) => {
    const shown = line.trimStart();
    return line.slice(0, line.length - shown.length) + view.paint(shown, 'cyan');
  });
}
