import { renderEscalation, renderStale } from '../../../features/claims/cli/index.ts';
import { renderApproval } from '../../../features/trust/cli/index.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { renderHandoff, renderMessage } from './documents.ts';
import { oneLine, type View } from './layout.ts';
import { statusStyle } from './paint.ts';
import { type Done, sentenceFor } from './sentences.ts';
import { renderTable } from './table.ts';
import { padded, plain, width, wrapped } from './text.ts';
import { isRow, isRows, label, timeOf, valueText } from './values.ts';

/** Answers for people. Text written by other agents is shown without control sequences. */
export function renderAnswer(answer: JsonObject, view: View, about?: Done): string {
  const sentence =
    about === undefined ? undefined : sentenceFor(about.operation, answer, about.agent_id, view);
  if (sentence !== undefined) return `${sentence}\n`;
  const { success: _, ...rest } = answer;
  const lines = renderFields(rest, view, 0);
  return lines.length === 0 ? 'done\n' : `${lines.join('\n')}\n`;
}

export function renderRefusal(answer: JsonObject, view: View): string {
  const { success: _, error, action, reason, message, remedy, field: __, expected: ___, ...rest } = answer;
  const code = [error, action, reason].find((value) => typeof value === 'string');
  const headline = [
    ...(code === undefined ? [] : [view.paint(plain(code), 'red')]),
    ...(message === undefined ? [] : [plain(message)]),
  ];
  const lines = [`cox: ${headline.join(': ') || 'refused'}`];
  // The message already says what these fields say. Only lists, such as a batch's results, add to it.
  const lists = Object.fromEntries(Object.entries(rest).filter(([, value]) => Array.isArray(value)));
  lines.push(...renderFields(lists, view, 2));
  if (remedy !== undefined) lines.push(`  → ${plain(remedy)}`);
  return `${lines.join('\n')}\n`;
}

/** Rows that read better as text. */
const DOCUMENTS: Readonly<Record<string, (row: JsonObject, view: View, indent: number) => string[]>> = {
  approval: renderApproval,
  escalations: renderEscalation,
  handoff: renderHandoff,
  handoffs: renderHandoff,
  messages: renderMessage,
  stale: renderStale,
};

/** An agent's own data: its field names mean nothing to us. */
const PAYLOADS = new Set(['result', 'input_data', 'replayed', 'live']);
/** A file's contents are shown as they are in the file, field by field. */
const OPEN = 'contents';

function renderFields(fields: JsonObject, view: View, indent: number, open = false): string[] {
  const present = Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  const isBlock = (name: string, value: Json) => isRows(value) || isMap(name, value, open);
  const plainOnes = present.filter(([name, value]) => !isBlock(name, value));
  const wide = Math.max(0, ...plainOnes.map(([name]) => width(label(name))));
  return present.flatMap(([name, value]) =>
    isBlock(name, value)
      ? renderBlock(name, value as JsonObject | JsonObject[], view, indent, open)
      : renderField(name, value, wide, view, indent),
  );
}

function isMap(name: string, value: Json, open: boolean): boolean {
  return isRow(value) && (open || !PAYLOADS.has(name)) && Object.keys(value).length > 0;
}

function renderField(name: string, value: Json, wide: number, view: View, indent: number): string[] {
  // This text is ours and made for a shell, one variable per line; everything else stays on one line.
  if (name === 'env_snippet' && typeof value === 'string')
    return value.split('\n').map((line) => `${' '.repeat(indent)}${plain(line)}`);
  const when = timeOf(name, value, view);
  const text = `${valueText(value)}${when === undefined ? '' : ` (${when})`}`;
  const head = `${' '.repeat(indent)}${view.paint(padded(label(name), wide), 'dim')}  `;
  const room = Math.max(20, view.columns - indent - wide - 2);
  const style = name === 'status' || name === 'action' ? statusStyle(value) : undefined;
  const [first = '', ...rest] = wrapped(text, room);
  const space = ' '.repeat(indent + wide + 2);
  return [(head + view.paint(first, style)).trimEnd(), ...rest.map((line) => space + line)];
}

function renderBlock(
  name: string,
  value: JsonObject | JsonObject[],
  view: View,
  indent: number,
  open: boolean,
): string[] {
  const document = Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name] : undefined;
  if (document !== undefined)
    return [value]
      .flat()
      .flatMap((row, index) => [...(index === 0 ? [] : ['']), ...document(row, view, indent)]);
  const count = Array.isArray(value) ? ` (${value.length})` : '';
  const title = oneLine([{ text: label(name), style: 'bold' }, count], view, indent);
  return Array.isArray(value)
    ? [title, ...renderTable(name, value, view, indent + 2)]
    : [title, ...renderFields(value, view, indent + 2, open || name === OPEN)];
}
