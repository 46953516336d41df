import type { Json, JsonObject } from '../../kernel/json.ts';

/** Answers for people. What other agents wrote is shown on one line and without anything a terminal would obey. */
export function renderAnswer(answer: JsonObject, columns: number, now_ms: number): string {
  const { success: _, ...rest } = answer;
  const lines = renderFields(rest, columns, now_ms, '');
  return lines.length === 0 ? 'done\n' : `${lines.join('\n')}\n`;
}

export function renderRefusal(answer: JsonObject, columns: number, now_ms: number): string {
  const { success: _, error, action, reason, message, remedy, field: __, expected: ___, ...rest } = answer;
  const code = [error, action, reason].find((value) => typeof value === 'string');
  const headline = [code, message].filter((part) => part !== undefined).map((part) => shown(part ?? null));
  const lines = [`cox: ${headline.join(': ') || 'refused'}`];
  // The message already says what these fields say; only lists (a batch's results) add to it.
  const lists = Object.fromEntries(Object.entries(rest).filter(([, value]) => Array.isArray(value)));
  lines.push(...renderFields(lists, columns, now_ms, '  '));
  if (remedy !== undefined) lines.push(`  → ${shown(remedy)}`);
  return `${lines.join('\n')}\n`;
}

function renderFields(fields: JsonObject, columns: number, now_ms: number, indent: string): string[] {
  const present = Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  const width = Math.max(0, ...present.filter(([, value]) => !isRows(value)).map(([name]) => name.length));
  return present.flatMap(([name, value]) => {
    if (isRows(value))
      return [`${indent}${name} (${value.length})`, ...renderTable(value, columns, now_ms, indent)];
    // Ours and made for a shell, one variable a line; everything else stays on one line.
    if (name === 'env_snippet' && typeof value === 'string')
      return value.split('\n').map((line) => `${indent}${shown(line)}`);
    const when = relativeTime(name, value, now_ms);
    const text = Array.isArray(value) && value.length === 0 ? 'none' : shown(value);
    return [`${indent}${shown(name).padEnd(width)}  ${text}${when === undefined ? '' : ` (${when})`}`];
  });
}

function isRows(value: Json): value is JsonObject[] {
  const isRow = (item: Json) => item !== null && typeof item === 'object' && !Array.isArray(item);
  return Array.isArray(value) && value.length > 0 && value.every(isRow);
}

/** For looking, not for parsing: a table leaves out what only a program asks for; `--json` has everything. */
const LEFT_OUT = /^(success|agent_type|fencing_token|locked_at|created_at|max_attempts|submitted_by)$/;
const CELL_CHARS_MAX = 48;

function renderTable(rows: readonly JsonObject[], columns: number, now_ms: number, indent: string): string[] {
  const all = new Set(rows.flatMap((row) => Object.keys(row)));
  // Beside an agent its session says nothing more to a person; alone it is the name of the row.
  if (all.has('agent_type')) all.delete('session_id');
  const names = [...all]
    .filter(
      (name) => !LEFT_OUT.test(name) && rows.some((row) => row[name] !== undefined && row[name] !== null),
    )
    .sort((a, b) => room(a) - room(b));
  const table = [names, ...rows.map((row) => names.map((name) => cell(name, row[name], now_ms)))];
  const widths = names.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table.map((line) => {
    const text = line.map((part, column) => part.padEnd(widths[column] ?? 0)).join('  ');
    return indent + cut(`  ${text.trimEnd()}`, columns - indent.length);
  });
}

function cell(name: string, value: Json | undefined, now_ms: number): string {
  if (value === undefined || value === null) return '';
  const when = relativeTime(name, value, now_ms);
  if (when !== undefined) return when;
  // Ids and paths are copied from here into the next command.
  return /_(id|path)$/.test(name) ? shown(value) : cut(shown(value), CELL_CHARS_MAX);
}

function cut(text: string, chars_max: number): string {
  const most = Math.max(chars_max, CELL_CHARS_MAX);
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Free text goes last: it may be cut at the terminal's edge. */
function room(name: string): number {
  return /^(reason|message|remedy|task_description|input_data|result|error_message)$/.test(name) ? 1 : 0;
}

function relativeTime(name: string, value: Json, now_ms: number): string | undefined {
  if (!name.endsWith('_at') || typeof value !== 'string') return undefined;
  const seconds = Math.round((Date.parse(value) - now_ms) / 1000);
  if (!Number.isFinite(seconds)) return undefined;
  const size = Math.abs(seconds);
  const amount =
    size < 100 ? `${size} s` : size < 6000 ? `${Math.round(size / 60)} min` : `${Math.round(size / 3600)} h`;
  return seconds >= 0 ? `in ${amount}` : `${amount} ago`;
}

function shown(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
