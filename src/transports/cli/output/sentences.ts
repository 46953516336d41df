import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { View } from './layout.ts';
import { counted, plain, relative } from './text.ts';

/** The operation that was done, and by which agent: some answers are a sentence about it. */
export interface Done {
  readonly operation: string;
  readonly agent_id: string;
}

/** What was done, for a person: who did it, and when the view is drawn. */
interface Told {
  readonly answer: JsonObject;
  readonly agent_id: string;
  readonly view: View;
}

type Sentence = (told: Told) => string | undefined;

/** Until when, in the words of a sentence: `for 2 h`. */
function lasting(expires_at: Json | undefined, { now_ms }: View): string {
  const left = relative(expires_at, now_ms);
  return left === undefined ? '' : ` ${left.replace(/^in /, 'for ')}`;
}

const text = (value: Json | undefined): string => plain(value ?? '');

function files({ file_path, locks, results }: JsonObject): string {
  if (file_path !== undefined) return text(file_path);
  const rows = (locks ?? results ?? []) as JsonObject[];
  return rows.map((row) => text(row.file_path)).join(', ');
}

const acquired: Sentence = ({ answer, agent_id, view }) => {
  const { action, shared, expires_at, locks } = answer;
  const first = (locks as JsonObject[] | undefined)?.[0];
  const time = lasting(expires_at ?? first?.expires_at, view);
  const how = shared === true || first?.shared === true ? ' with other readers' : '';
  if (action === 'refreshed') return `${agent_id} still has ${files(answer)}${how}, now${time}.`;
  return `${agent_id} locked ${files(answer)}${how}${time}.`;
};

const released: Sentence = ({ answer, agent_id }) =>
  answer.success === true ? `${agent_id} released ${files(answer)}.` : undefined;

const taken: Sentence = ({ answer, agent_id, view }) => {
  const { task_id, task_type, task_description, input_data, expires_at, attempt } = answer;
  if (task_id === undefined) return undefined;
  const again = Number(attempt) > 1 ? ` It is attempt ${attempt}.` : '';
  return [
    `${agent_id} has this task${lasting(expires_at, view)}: ${text(task_description)} (${text(task_type)})`,
    ...(input_data === undefined || input_data === null ? [] : [`Its input: ${text(input_data)}`]),
    `When it is done: cox work complete ${text(task_id)} --success.${again}`,
  ].join('\n');
};

const submitted: Sentence = ({ answer: { task_id, status, existing } }) =>
  existing === true
    ? `The task was there already: ${text(task_id)}, ${text(status)}.`
    : `The task is in the queue, ${text(status)}: ${text(task_id)}`;

const ended: Sentence = ({ answer: { locks_released, tasks_returned }, agent_id }) =>
  `The session of ${agent_id} has ended: ${counted(Number(locks_released), 'lock')} released, ${counted(Number(tasks_returned), 'task')} returned.`;

const claimed: Sentence = ({ answer: { feature, edge, agent_role, warnings }, agent_id }) => {
  const role = agent_role === null || agent_role === undefined ? '' : ` as ${text(agent_role)}`;
  const notes = ((warnings ?? []) as string[]).map((warning) => `\n${text(warning)}`);
  return `${agent_id} works on ${text(feature)}, ${text(edge)}${role}.${notes.join('')}`;
};

const sent: Sentence = ({ answer: { recipients } }) => {
  const names = ((recipients ?? []) as Json[]).map(text);
  return names.length === 0 ? undefined : `Sent to ${names.join(', ')}.`;
};

/** The operations whose answer is one thing that was done. All others show what they found. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  acquire_lock: acquired,
  release_lock: released,
  submit_work: submitted,
  get_work: taken,
  complete_work: ({ answer: { task_id, status }, agent_id }) =>
    `${agent_id} ended the task ${text(task_id)}: ${text(status)}.`,
  renew_work: ({ answer: { task_id, expires_at }, agent_id, view }) =>
    `${agent_id} keeps the task ${text(task_id)}${lasting(expires_at, view)}.`,
  write_handoff: ({ answer: { handoff_id } }) => `The hand-off is written: ${text(handoff_id)}`,
  send_message: sent,
  heartbeat: ({ agent_id }) => `${agent_id} is there.`,
  end_session: ended,
  claim_edge: claimed,
  release_edge: ({ answer: { feature, edge }, agent_id }) =>
    `${agent_id} gave up ${text(feature)}, ${text(edge)}.`,
  converge_edge: ({ answer: { feature, edge }, agent_id }) =>
    `${text(feature)}, ${text(edge)} has converged, by ${agent_id}.`,
};

/** Undefined: the answer is shown field by field. */
export function sentenceFor(
  operation: string,
  answer: JsonObject,
  agent_id: string,
  view: View,
): string | undefined {
  // In single-agent mode a claim is that of `primary`, whatever the account is called.
  return SENTENCES[operation]?.({ answer, agent_id: text(answer.agent_id ?? agent_id), view });
}
