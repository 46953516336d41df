import type { Json, JsonObject } from '../../../kernel/json.ts';
import { oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { relative, wrapped } from '../../../transports/cli/output/text.ts';

/**
 * Control characters that a terminal would obey, characters without a shape, and changes of writing
 * direction.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const BREAKS = /\r\n|\n/;
const LINE_MIN = 20;

/** Nothing is left out: everything a person decides about must be visible on the screen. */
function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** All of it, line by line; a long line is wrapped, and only its first row has the bar's tick. */
function whole(value: Json, view: View, indent: number): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  const room = Math.max(LINE_MIN, view.columns - indent - 2);
  return text.split(BREAKS).flatMap((line) =>
    wrapped(visible(line), room, 'cut').map((part, index) => {
      const bar = view.paint(index === 0 ? '│ ' : '╵ ', 'dim');
      return `${' '.repeat(indent)}${bar}${view.paint(part, diffStyle(line))}`;
    }),
  );
}

function diffStyle(line: string): 'green' | 'red' | undefined {
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}

function field(name: string, value: Json | undefined, view: View, indent: number): string[] {
  if (value === undefined || value === null || value === '') return [];
  const text = visible(typeof value === 'string' ? value : JSON.stringify(value));
  const head = `${name}:`.padEnd(11);
  const room = Math.max(LINE_MIN, view.columns - indent - head.length);
  return wrapped(text, room, 'cut').map(
    (line, index) => `${' '.repeat(indent)}${index === 0 ? view.paint(head, 'dim') : ' '.repeat(11)}${line}`,
  );
}

/** What waits for a person: what it is, which agent asks, why it is dangerous, and then every line of it. */
export function renderApproval(approval: JsonObject, view: View, indent: number): string[] {
  const { approval_id, operation, status, context, findings } = approval;
  const title = { text: visible(`${approval_id}  ${operation}`), style: 'bold' as const };
  const when = relative(approval.expires_at, view.now_ms);
  const lines = [oneLine([title, `  ${visible(String(status))}`], view, indent)];
  lines.push(...field('asked by', `${approval.requested_by} (${approval.agent_type})`, view, indent + 2));
  lines.push(...field('session', approval.session_id, view, indent + 2));
  lines.push(...field('subject', approval.subject, view, indent + 2));
  for (const each of Array.isArray(findings) ? (findings as JsonObject[]) : [])
    lines.push(...field('danger', `${each.reason} (${each.category}: ${each.pattern})`, view, indent + 2));
  if (status === 'pending' || status === 'approved') lines.push(...field('until', when, view, indent + 2));
  lines.push(...field('decided', approval.decided_by, view, indent + 2));
  lines.push(...field('because', approval.decision_reason, view, indent + 2));
  for (const [name, value] of Object.entries((context ?? {}) as JsonObject)) {
    if (value === undefined) continue;
    lines.push(oneLine([{ text: visible(name), style: 'dim' }], view, indent + 2));
    lines.push(...whole(value, view, indent + 4));
  }
  lines.push(...field('shown', approval.shown_hash, view, indent + 2));
  return lines;
}
