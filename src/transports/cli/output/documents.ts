import type { Json, JsonObject } from '../../../kernel/json.ts';
import { oneLine, type View } from './layout.ts';
import { plain, relative, wrapped } from './text.ts';

/** Prose reads best in lines of this length, however wide the terminal is. */
const LINE_MAX = 100;

/** Text that an agent wrote, with its own line breaks, marked as a quotation. */
function quoted(text: Json | undefined, view: View, indent: number): string[] {
  const bar = view.paint('│ ', 'dim');
  const room = Math.min(view.columns - indent - 2, LINE_MAX);
  return (typeof text === 'string' ? text : '')
    .trimEnd()
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .flatMap((line) => wrapped(plain(line), Math.max(8, room), 'cut'))
    .map((line) => `${' '.repeat(indent)}${bar}${line}`.trimEnd());
}

const PARTS: readonly [field: string, title: string][] = [
  ['completed_work', 'Done'],
  ['in_progress', 'Begun'],
  ['decisions', 'Decided'],
  ['next_steps', 'Next'],
  ['relevant_files', 'Files'],
];

/** A hand-off is laid out like a note to the next agent. */
export function renderHandoff(handoff: JsonObject, view: View, indent: number): string[] {
  const { agent_name, created_at, handoff_id, summary } = handoff;
  const when = relative(created_at, view.now_ms) ?? '';
  const title = { text: `Hand-off by ${plain(agent_name ?? '')}`, style: 'bold' as const };
  const lines = [
    oneLine([title, { text: `, ${when} · ${plain(handoff_id ?? '')}`, style: 'dim' }], view, indent),
  ];
  lines.push(...quoted(summary, view, indent + 2));
  for (const [field, name] of PARTS) {
    const items = handoff[field];
    if (!Array.isArray(items) || items.length === 0) continue;
    lines.push(oneLine([{ text: name, style: 'dim' }], view, indent + 2));
    for (const item of items) lines.push(...listed(item, view, indent + 4));
  }
  return lines;
}

function listed(item: Json, view: View, indent: number): string[] {
  const room = Math.max(8, Math.min(view.columns - indent - 2, LINE_MAX));
  const space = ' '.repeat(indent);
  return wrapped(plain(item), room, 'cut').map(
    (line, index) => `${space}${index === 0 ? '- ' : '  '}${line}`,
  );
}

/** A message: sender, time and subject, then its text. */
export function renderMessage(message: JsonObject, view: View, indent: number): string[] {
  const { from, to, addressed_to, subject, body, sent_at, message_id, acknowledged_at } = message;
  const when = relative(sent_at, view.now_ms) ?? '';
  const via = addressed_to === undefined ? '' : ` (${plain(addressed_to)})`;
  const about = subject === undefined ? '' : `: ${plain(subject)}`;
  const state = acknowledged_at === undefined ? '' : ', acknowledged';
  const title = { text: `${plain(from ?? '')} to ${plain(to ?? '')}${via}${about}`, style: 'bold' as const };
  return [
    oneLine([title, { text: `, ${when}${state}`, style: 'dim' }], view, indent),
    ...quoted(body, view, indent + 2),
    oneLine([{ text: plain(message_id ?? ''), style: 'dim' }], view, indent + 2),
  ];
}
