import type { Json, JsonObject } from '../../../kernel/json.ts';
import { type Cell, type Column, layOut, type Piece, type View } from './layout.ts';
import { statusStyle } from './paint.ts';
import { width } from './text.ts';
import { label, shortId, timeOf, valueText } from './values.ts';

/**
 * Tables are for people, not for parsing: they leave out what only programs need. `--json` has everything.
 */
const LEFT_OUT =
  /^(success|agent_type|fencing_token|locked_at|created_at|started_at|max_attempts|submitted_by|on_dependency_failure|sessions)$/;
/** Free text goes last: it may be cut at the terminal's edge. */
const FREE_TEXT =
  /^(reason|message|remedy|task_description|description|input_data|result|error_message|current_task)$/;
/** Ids and paths are copied from here into the next command, so they are never cut. */
const COPIED = /(_id|_path|^agent|^name)$/;
/** Columns that are dropped if space is short, the last one first. */
const OPTIONAL = [
  'capabilities',
  'not_before',
  'files',
  'depends_on',
  'waiting_for',
  'priority',
  'attempt_count',
  'attempt',
];
const CELL_MAX = 48;
const CELL_MIN = 12;

export function renderTable(name: string, rows: readonly JsonObject[], view: View, indent: number): string[] {
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  // Next to an agent, its session tells a person nothing more. Without an agent, the session names the row.
  if (columns.has('agent_type')) columns.delete('session_id');
  const all = [...columns]
    .filter((column) => !LEFT_OUT.test(column) && says(column, rows, name))
    .sort((a, b) => Number(FREE_TEXT.test(a)) - Number(FREE_TEXT.test(b)));
  const names = roomy(all, rows, view, indent);
  const body = rows.map((row) => names.map((column) => cellOf(column, row[column], view)));
  return layOut([names.map(headOf), ...body], names.map(columnOf), view, indent);
}

function headOf(column: string): Piece {
  return { text: label(column === 'task_id' ? column : column.replace(/^task_/, '')), style: 'dim' };
}

/** Drops the least important columns as long as the rest would not fit. */
function roomy(names: readonly string[], rows: readonly JsonObject[], view: View, indent: number): string[] {
  const kept = [...names];
  const least = (column: string) => {
    const texts = rows.map((row) => textOf(cellOf(column, row[column], view)));
    const natural = Math.max(width(headOf(column).text), ...texts.map((text) => width(text.slice(0, 200))));
    return COPIED.test(column) ? natural : Math.min(natural, CELL_MIN);
  };
  const needed = () => kept.reduce((sum, column) => sum + least(column) + 2, indent - 2);
  for (const column of OPTIONAL.toReversed()) {
    if (needed() <= view.columns) break;
    const index = kept.indexOf(column);
    if (index !== -1) kept.splice(index, 1);
  }
  return kept;
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** A column is left out if it is empty or only repeats the heading. */
function says(column: string, rows: readonly JsonObject[], heading: string): boolean {
  const values = rows.map((row) => row[column]);
  if (values.every((value) => value === undefined || value === null || isEmptyList(value))) return false;
  if (column === 'attempt_count') return values.some((value) => Number(value) > 0);
  return !(column === 'status' && values.every((value) => value === heading));
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}

function columnOf(name: string): Column {
  if (FREE_TEXT.test(name)) return { max: CELL_MAX * 2, min: CELL_MIN };
  return COPIED.test(name) ? {} : { max: CELL_MAX, min: CELL_MIN };
}

function cellOf(name: string, value: Json | undefined, view: View): Cell {
  if (value === undefined || value === null || isEmptyList(value)) return '';
  const when = timeOf(name, value, view);
  if (when !== undefined) return when;
  if (name === 'status') return { text: valueText(value), style: statusStyle(value) };
  // A task's dependencies are only read here, not copied.
  if (Array.isArray(value))
    return valueText(value.map((item) => (typeof item === 'string' ? shortId(item) : item)));
  return valueText(value);
}
