import { BOARD_TOLD } from '../../../features/board/cli/index.ts';
import { REWORK_APPROVAL } from '../../../features/board/index.ts';
import { CLAIMS_TOLD } from '../../../features/claims/cli/index.ts';
import { areaOf } from '../../../features/locks/index.ts';
import { PROMOTIONS_TOLD } from '../../../features/promotion/cli/index.ts';
import { type FiledAs, filedPath } from '../../../features/queue/index.ts';
import { areaName } from '../../../kernel/area.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { EventBody } from '../../../ledger/entity.ts';
import type { LogEntry } from '../../../ledger/log.ts';
import type { Style } from './paint.ts';
import { counted, plain } from './text.ts';

export interface Words {
  readonly text: string;
  readonly style?: Style | undefined;
}

interface Told {
  /** The agent or person that made the request. For the product's own commits, the one they were made for. */
  readonly who: string;
  readonly id: string;
  readonly data: JsonObject;
  readonly title: string;
  readonly titleOf: (task_id: string) => string;
  readonly row: LogEntry;
}

type Tell = (told: Told) => string | undefined;

const said = (value: Json | undefined) =>
  typeof value === 'string' && value !== '' ? `: ${plain(value)}` : '';
const holder = ({ data }: Told) => plain((data.lease as JsonObject).agent_id ?? '');
const area = ({ id, data }: Told) => {
  // A waiting agent's event carries the pattern it waits for.
  const { pattern, waiter } = data as { pattern?: string; waiter?: { pattern?: string } };
  return plain(areaName(areaOf(id, { pattern: waiter?.pattern ?? pattern })));
};
const waiter = ({ data }: Told) => plain((data.waiter as JsonObject).agent_id ?? '');
const agent = ({ data, who }: Told) => (typeof data.agent_id === 'string' ? plain(data.agent_id) : who);
/** A session's id is its agent's name, a line break and its own id. */
const sessionAgent = ({ id }: Told) => plain(id.split('\n')[0] ?? id);

/** A run's id is the commit, a # and the policy. */
const run = (id: string) => plain(id.replace(/^([0-9a-f]{8})[0-9a-f]*#(.*)$/, '$2 of $1'));

/** Its owner, its text and its location. */
const filedText = ({ file }: JsonObject) => {
  const { agent: whom, status, directory, path } = file as unknown as FiledAs;
  return `${plain(whom)}’s, ${plain(status).replace('_', ' ')}, in ${plain(filedPath({ directory, path }))}`;
};

const QUIET: Tell = () => undefined;

const whose = ({ data }: Told) => plain(data.agent_id ?? `agents of the type ${data.agent_type}`);
const named = ({ data }: Told) => plain(data.name ?? '');

/** Permissions and rules. */
const RULES_TOLD: Readonly<Record<string, readonly [Tell, Style?]>> = {
  profile_set: [
    ({ who, data }) => `${who} changed the profile ${plain((data.profile as JsonObject).name ?? '')}`,
    'yellow',
  ],
  profile_removed: [(told) => `${told.who} took the profile ${named(told)} away`, 'yellow'],
  profile_assigned: [
    (told) => `${told.who} gave ${whose(told)} the profile ${plain(told.data.profile ?? '')}`,
    'yellow',
  ],
  profile_unassigned: [(told) => `${told.who} took their profile from ${whose(told)}`, 'yellow'],
  rulebook_settings_set: [({ who }) => `${who} changed what holds for all agents`, 'yellow'],
  trust_restored: [(told) => `${told.who} trusts ${whose(told)} as before`, 'green'],
  network_policy_set: [(told) => `${told.who} changed the network policy ${named(told)}`, 'yellow'],
  network_policy_removed: [(told) => `${told.who} took the network policy ${named(told)} away`, 'yellow'],
  call_counted: [QUIET],
  usage_counted: [QUIET],
  usage_ended: [QUIET],
};

/** Each kind of event in plain words; the quiet ones are internal bookkeeping. */
const TELLINGS: Readonly<Record<string, readonly [Tell, Style?]>> = {
  lock_acquired: [(told) => `${holder(told)} locked ${area(told)}${said(told.data.reason)}`, 'green'],
  lock_refreshed: [(told) => `${holder(told)} keeps ${area(told)}${said(told.data.reason)}`],
  lock_released: [
    (told) =>
      told.data.cause === 'session_ended'
        ? `${area(told)} is free: ${agent(told)} is gone`
        : `${agent(told)} released ${area(told)}`,
  ],
  lock_expired: [(told) => `${holder(told)}’s lock on ${area(told)} ran out`, 'yellow'],
  lock_awaited: [(told) => `${waiter(told)} waits for ${area(told)}`, 'yellow'],
  lock_wait_ended: [QUIET],
  lock_folder_opened: [QUIET],
  lock_folder_closed: [QUIET],
  task_submitted: [({ who, title }) => `${who} submitted ${title}`],
  task_filed: [({ title, data }) => `${title} is ${filedText(data)}`, 'cyan'],
  task_file_changed: [({ title, data }) => `${title} is now ${filedText(data)}`],
  task_depended_on: [QUIET],
  task_promoted: [({ title }) => `${title} is due`],
  task_claimed: [(told) => `${holder(told)} took ${told.title}`, 'cyan'],
  task_renewed: [(told) => `${holder(told)} goes on with ${told.title}`],
  task_completed: [(told) => `${agent(told)} completed ${told.title}`, 'green'],
  task_failed: [(told) => `${agent(told)} failed at ${told.title}${said(told.data.error_message)}`, 'red'],
  task_cancelled: [(told) => `${agent(told)} cancelled ${told.title}${said(told.data.error_message)}`],
  task_lease_expired: [(told) => `${told.title} comes back: no answer from ${agent(told)}`, 'yellow'],
  task_dead_lettered: [({ title, data }) => `${title} was given up${said(data.error_message)}`, 'red'],
  task_skipped: [
    ({ title, titleOf, data }) => `${title} is skipped, without ${titleOf(String(data.task_id))}`,
  ],
  task_retried: [({ who, title }) => `${who} sent ${title} back to the queue`],
  task_reprioritised: [
    ({ who, title, data }) => `${who} gave ${title} priority ${plain(data.priority ?? '')}`,
  ],
  dependency_met: [
    ({ title, titleOf, data }) => `${title} no longer waits for ${titleOf(String(data.task_id))}`,
  ],
  dependency_failed: [
    ({ title, titleOf, data }) => `${title} waits in vain for ${titleOf(String(data.task_id))}`,
    'yellow',
  ],
  dependents_released: [QUIET],
  line_joined: [(told) => `${waiter(told)} waits for work`],
  line_left: [QUIET],
  work_counted: [QUIET],
  session_started: [(told) => `${sessionAgent(told)} is here`, 'green'],
  session_registered: [(told) => registered(told)],
  session_resumed: [(told) => `${sessionAgent(told)} is back`, 'green'],
  session_active: [QUIET],
  session_heartbeat: [QUIET],
  session_changed_files: [QUIET],
  session_ended: [
    (told) =>
      `${sessionAgent(told)} ${told.data.end_reason === 'silent' ? 'was silent for too long' : 'left'}`,
    'yellow',
  ],
  session_freed: [freed],
  handoff_written: [
    ({ data }) => `${plain(data.agent_name ?? '')} leaves a hand-off${said(data.summary)}`,
    'cyan',
  ],
  message_sent: [letter, 'cyan'],
  changeset_submitted: [(told) => `${agent(told)} made a change${said(told.data.summary)}`, 'cyan'],
  changeset_routed: [QUIET],
  verification_queued: [verificationAsked],
  verification_started: [({ who, id }) => `${who} verifies ${run(id)}`, 'cyan'],
  verification_renewed: [QUIET],
  verification_dispatched: [({ who, id }) => `${who} handed ${run(id)} to GitHub`],
  verification_approved: [({ who, id }) => `${who} lets ${run(id)} run`, 'green'],
  verification_finished: [
    ({ id, data }) => `${run(id)}: ${plain(data.status ?? '')}${said(data.error_message)}`,
  ],
  verification_policy_set: [
    ({ who, data }) => `${who} set the verification policy ${plain((data.policy as JsonObject).name ?? '')}`,
    'yellow',
  ],
  verification_policy_removed: [
    ({ who, data }) => `${who} removed the verification policy ${plain(data.name ?? '')}`,
    'yellow',
  ],
  key_created: [
    ({ who, data }) => `${who} created the ${plain(data.role ?? '')} key ${plain(data.name ?? '')}`,
  ],
  key_revoked: [(told) => `${agent(told)} revoked a key`, 'yellow'],
  message_acknowledged: [({ who }) => `${who} acknowledged a message`],
  violation_recorded: [
    (told) => `${agent(told)} ${plain(told.data.outcome ?? '')}: ${plain(told.data.operation ?? '')}`,
    'yellow',
  ],
  violation_counted: [QUIET],
  approval_requested: [
    ({ id, data }) =>
      data.kind === REWORK_APPROVAL
        ? `a person is asked for another round (cox approve ${id})`
        : `${plain(data.requested_by ?? '')} asks for ${plain(data.operation ?? '')} (cox approve ${id})`,
    'yellow',
  ],
  approval_approved: [({ id, data }) => `${plain(data.decided_by ?? '')} approved ${id}`, 'green'],
  approval_denied: [
    ({ id, data }) => `${plain(data.decided_by ?? '')} denied ${id}${said(data.decision_reason)}`,
  ],
  approval_used: [(told) => `${agent(told)} did what was approved as ${told.id}`],
  trust_lowered: [
    (told) => `the trust in ${agent(told)} is ${plain(told.data.to ?? '')} now${said(told.data.reason)}`,
    'red',
  ],
  ...RULES_TOLD,
  ...CLAIMS_TOLD,
  ...PROMOTIONS_TOLD,
  ...BOARD_TOLD,
  notice_raised: [QUIET],
  notice_claimed: [QUIET],
  notice_sent: [QUIET],
  notice_failed: [({ data }) => `people could not be told${said(data.error)}`, 'red'],
};

function verificationAsked({ id, data }: Told): string | undefined {
  if (data.status === 'skipped') return undefined;
  return data.status === 'waiting_for_person'
    ? `${run(id)} waits for a person`
    : `${run(id)} is to be verified`;
}

function registered(told: Told): string {
  const { current_task, capabilities } = told.data;
  const can =
    Array.isArray(capabilities) && capabilities.length > 0 ? ` (${capabilities.map(plain).join(', ')})` : '';
  return `${sessionAgent(told)} registered${can}${said(current_task)}`;
}

function freed(told: Told): string | undefined {
  const locks = Number(told.data.locks_released ?? 0);
  const tasks = Number(told.data.tasks_returned ?? 0);
  if (locks + tasks === 0) return undefined;
  const parts = [locks > 0 ? counted(locks, 'lock') : '', tasks > 0 ? counted(tasks, 'task') : ''];
  return `what ${sessionAgent(told)} held is free: ${parts.filter((part) => part !== '').join(', ')}`;
}

function letter({ data }: Told): string {
  const to = Array.isArray(data.recipients) ? data.recipients.map(plain).join(', ') : plain(data.to ?? '');
  return `${plain(data.from ?? '')} wrote to ${to}${said(data.subject ?? data.body)}`;
}

export function wordsFor(event: EventBody, row: LogEntry, titleOf: (task_id: string) => string): Words[] {
  const who = actor(row);
  const { id, type, data } = event;
  const telling = Object.hasOwn(TELLINGS, type) ? TELLINGS[type] : undefined;
  // An event of a newer Coxswain: its name says most of it.
  if (telling === undefined) return [{ text: `${who}: ${plain(type).replaceAll('_', ' ')} ${plain(id)}` }];
  const [tell, style] = telling;
  const text = tell({ who, id, data, title: titleOf(id), titleOf, row });
  return text === undefined ? [] : [{ text, style }];
}

/**
 * A refusal has no events, but an agent did not get what it wanted. A read changes nothing and is not told.
 */
export function refusalWords(row: LogEntry): Words[] {
  const { result, operation } = row;
  if (result.success !== false || result.reason === 'no_tasks_available') return [];
  const why = result.message ?? result.error ?? result.action ?? '';
  return [{ text: `${actor(row)} was refused ${plain(operation)}: ${plain(why)}`, style: 'yellow' }];
}

/**
 * For rows that are not told otherwise, or are only reads: the bare operation, for a person who wants to see
 * everything.
 */
export function bareWords(row: LogEntry): Words[] {
  const who = actor(row);
  if (row.events.length === 0) return [{ text: `${who}: ${plain(row.operation)}`, style: 'dim' }];
  return row.events.map(({ type, id }) => ({
    text: `${who}: ${plain(type).replaceAll('_', ' ')} ${plain(id)}`,
    style: 'dim',
  }));
}

function actor({ agent_id, parameters }: LogEntry): string {
  const { on_behalf_of } = parameters;
  return plain(agent_id === 'coxswain' && typeof on_behalf_of === 'string' ? on_behalf_of : agent_id);
}
