import type { JsonObject } from '../../../kernel/json.ts';
import { commandLines, oneLine, type View } from '../../../transports/cli/output/layout.ts';
import { age, plain } from '../../../transports/cli/output/text.ts';

/** Something a person should act on: what it is and, below it, the complete command to copy. */
function wanting(words: string, command: string, view: View, indent: number): string[] {
  return [
    oneLine([{ text: '! ', style: 'red' }, words], view, indent),
    ...commandLines(command, view, indent + 2),
  ];
}

export function renderStale(claim: JsonObject, view: View, indent: number): string[] {
  const { feature, edge, held_by, last_active, command } = claim;
  const silent = `${plain(held_by ?? '')} has been silent for ${age(last_active, view.now_ms)}`;
  const words = `${silent} about ${plain(edge ?? '')} on ${plain(feature ?? '')}`;
  return wanting(words, plain(command ?? ''), view, indent);
}

export function renderEscalation(escalation: JsonObject, view: View, indent: number): string[] {
  const { approval_id, feature, edge, agent_id, reason, asked_at } = escalation;
  const waits = `${plain(edge ?? '')} on ${plain(feature ?? '')} by ${plain(agent_id ?? '')} waits for a person`;
  const words = `${waits} since ${age(asked_at, view.now_ms)}: ${plain(reason ?? '')}`;
  return wanting(words, `cox approve ${plain(approval_id ?? '')}`, view, indent);
}
