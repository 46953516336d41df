import type { Json, JsonObject } from '../../../kernel/json.ts';
import {
  type Cell,
  commandLines,
  layOut,
  oneLine,
  type View,
} from '../../../transports/cli/output/layout.ts';
import { statusStyle } from '../../../transports/cli/output/paint.ts';
import { age, counted, plain, relative, span } from '../../../transports/cli/output/text.ts';

/** How many lines each part may take; what does not fit is counted, with the command that shows all of it. */
export interface Room {
  readonly agents: number;
  readonly locks: number;
  readonly claims: number;
  readonly stuck: number;
}

const ROOMY: Room = { agents: 10, locks: 12, claims: 8, stuck: 5 };

/**
 * One screen: which agent does what, what is held, what is to be done, and what needs a person. No line is
 * wider than the view.
 */
export function statusLines(seen: JsonObject, view: View, room: Room = ROOMY): string[] {
  return [
    ...heading(seen, view),
    ...section('Needs you', needsYou(seen, view, room.stuck), view, ['nothing']),
    ...section('Agents', agents(seen, view, room.agents), view, agentCounts(seen)),
    ...section('Locks', locks(seen, view, room.locks), view, lockCounts(seen)),
    ...section('Edges', edges(seen, view, room.claims), view, edgeCounts(seen)),
    ...section('Work', work(seen, view, room.claims), view, workCounts(seen)),
    ...section('Task files', taskFiles(seen, view, room.claims), view, taskFileCounts(seen)),
    ...section('Latest', latest(seen, view), view),
  ];
}

function heading(seen: JsonObject, view: View): string[] {
  const seat =
    seen.seat_pid === undefined
      ? []
      : [
          ` · seat: process ${plain(seen.seat_pid)} for ${age(seen.seat_since_at, view.now_ms)}`,
          seen.seat_reachable === false ? { text: ' (out of reach)', style: 'yellow' as const } : '',
        ];
  const title = { text: 'Coxswain', style: 'bold' as const };
  const lines = [
    oneLine([title, ` · project ${plain(seen.project ?? '')}`, ...seat], view),
    oneLine([{ text: plain(seen.store ?? ''), style: 'dim' }], view),
  ];
  if (seen.notice !== undefined) lines.push(oneLine([{ text: plain(seen.notice), style: 'yellow' }], view));
  return lines;
}

/** The counts are beside the title; an empty part is its title alone. */
function section(
  title: string,
  lines: readonly string[],
  view: View,
  counts: readonly Cell[] = [],
): string[] {
  // Not every project works by features and edges.
  if (title === 'Task files' && counts.length === 0) return [];
  if ((title === 'Latest' || title === 'Edges') && lines.length === 0) return [];
  const beside = title === 'Needs you' && lines.length > 0 ? [] : counts;
  const gap = beside.length === 0 ? [] : ['  '];
  return ['', oneLine([{ text: title, style: 'bold' }, ...gap, ...beside], view), ...lines];
}

function dim(text: string): Cell {
  return { text, style: 'dim' };
}

function left(expires_at: Json | undefined, now_ms: number): Cell {
  const left_ms = Date.parse(String(expires_at)) - now_ms;
  return { text: left_ms > 0 ? `${span(left_ms)} left` : 'over', style: 'dim' };
}

function rows(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}

function some<T>(list: readonly T[], most: number): { shown: readonly T[]; more: number } {
  // A line for "and 1 more" would be as long as the one it hides.
  const shown = list.length <= most + 1 ? list : list.slice(0, most);
  return { shown, more: list.length - shown.length };
}

function moreLine(more: number, command: string, view: View): string[] {
  return more === 0 ? [] : [oneLine([{ text: `and ${more} more: ${command}`, style: 'dim' }], view, 2)];
}

const STUCK_WORDS: Readonly<Record<string, (item: JsonObject, now_ms: number) => string>> = {
  approval: (item, now_ms) =>
    `${plain(item.agent_id ?? '')} asks for ${plain(item.operation ?? '')} since ${age(item.since_at, now_ms)}${because(item)}`,
  failed_file: (item) => `in error: ${taskFile(item)}${holds(item)}${because(item)}`,
  stalled_file: (item, now_ms) => `in progress for ${age(item.since_at, now_ms)}: ${taskFile(item)}`,
  dead_letter: (item) => `given up: ${task(item)}${holds(item)}${because(item)}`,
  failed_dependency: (item) => `failed: ${task(item)}${holds(item)}${because(item)}`,
  silent_holder: (item, now_ms) =>
    `${plain(item.agent_id ?? '')} has been silent for ${age(item.since_at, now_ms)} and holds ${has(item)}`,
  stale_claim: (item, now_ms) =>
    `${plain(item.agent_id ?? '')} has been silent for ${age(item.since_at, now_ms)} about ${plain(item.edge ?? '')} on ${plain(item.feature ?? '')}`,
  stuck_board: (item, now_ms) =>
    `${counted(Number(item.claims), 'claim')} on the board open for up to ${age(item.since_at, now_ms)}: ` +
    `${plain(item.artefact_type ?? '')} waits for ${plain(item.waits_for ?? '')}`,
  long_wait: (item, now_ms) =>
    `${plain(item.agent_id ?? '')} has waited ${age(item.since_at, now_ms)} for ${plain(item.file_path ?? '')}` +
    (item.locked_by === undefined ? '' : `, which ${plain(item.locked_by)} has`),
};

function task({ task_type, task_description }: JsonObject): string {
  return `${plain(task_type ?? 'task')} “${plain(task_description ?? '')}”`;
}

function taskFile({ agent_id, task_description }: JsonObject): string {
  return `${plain(agent_id ?? '')}’s task “${plain(task_description ?? '')}”`;
}

function holds({ holds_back }: JsonObject): string {
  return typeof holds_back === 'number' ? `, and ${counted(holds_back, 'task')} with it` : '';
}

function because({ message }: JsonObject): string {
  return typeof message === 'string' ? `: ${plain(message)}` : '';
}

function has({ locks, tasks }: JsonObject): string {
  const [held, claimed] = [Number(locks), Number(tasks)];
  const parts = [
    ...(held > 0 ? [counted(held, 'lock')] : []),
    ...(claimed > 0 ? [counted(claimed, 'task')] : []),
  ];
  return parts.join(', ');
}

function needsYou(seen: JsonObject, view: View, most: number): string[] {
  const { shown, more } = some(rows(seen.needs_you), most);
  const lacks = rows(seen.store_lacks).map(
    (what) => `the store lacks ${plain(what)}: ${plain(seen.store_remedy ?? '')}`,
  );
  return [
    ...lacks.map((line) => oneLine([{ text: '! ', style: 'red' }, line], view, 2)),
    ...shown.flatMap((item) => {
      const words = STUCK_WORDS[item.what as string]?.(item, view.now_ms) ?? plain(item.what ?? '');
      const lines = [oneLine([{ text: '! ', style: 'red' }, words], view, 2)];
      return typeof item.command === 'string'
        ? [...lines, ...commandLines(plain(item.command), view, 4)]
        : lines;
    }),
    ...moreLine(more, 'cox status --json', view),
  ];
}

function agentCounts(seen: JsonObject): string[] {
  const all = rows(seen.agents);
  const active = all.filter(({ status }) => status === 'active').length;
  if (all.length === 0) return ['nobody is here'];
  return [`${active} active${all.length > active ? `, ${all.length - active} idle` : ''}`];
}

function agents(seen: JsonObject, view: View, most: number): string[] {
  const { shown, more } = some(rows(seen.agents), most);
  const idleForWork = new Set(Array.isArray(seen.waiting_for_work) ? seen.waiting_for_work : []);
  const table = shown.map((agent): Cell[] => {
    const waits = rows(agent.waits_for).map(plain).join(', ');
    const doing = [
      agent.trust_lowered_to === undefined ? '' : `trust lowered to ${plain(agent.trust_lowered_to)}`,
      waits === '' ? '' : `waits for ${waits}`,
      Number(agent.violations) > 0 ? counted(Number(agent.violations), 'violation') : '',
      agent.current_task === null ? '' : plain(agent.current_task ?? ''),
      waits === '' && idleForWork.has(agent.agent_id ?? null) ? 'waits for work' : '',
    ];
    return [
      plain(agent.agent_id ?? ''),
      { text: plain(agent.status ?? ''), style: statusStyle(agent.status) },
      { text: relative(agent.last_heartbeat_at, view.now_ms) ?? '', style: 'dim' },
      has(agent),
      doing.filter((words) => words !== '').join('; '),
    ];
  });
  const columns = [{ min: 6, max: 24 }, {}, { side: 'left' as const }, { min: 7 }, { min: 8 }];
  return [...layOut(table, columns, view), ...moreLine(more, 'cox session list', view)];
}

function lockCounts(seen: JsonObject): string[] {
  const held = rows(seen.locks).length;
  const waiters = rows(seen.waiting).length;
  const many = seen.locks_truncated === true ? `${held} or more` : held === 0 ? 'none' : String(held);
  return [`${many}${held === 0 ? '' : ' held'}${waiters === 0 ? '' : `, ${waiters} waiting`}`];
}

function locks(seen: JsonObject, view: View, most: number): string[] {
  const waiters = rows(seen.waiting);
  const held = rows(seen.locks);
  // Locks that other agents wait for come first: that is where a person may have to step in.
  const wanted = (path: Json | undefined) => waiters.some(({ file_path }) => file_path === path);
  const sorted = held.toSorted((a, b) => Number(wanted(b.file_path)) - Number(wanted(a.file_path)));
  const { shown, more } = some(sorted, most);
  const table = shown.flatMap((lock): Cell[][] => [
    [
      plain(lock.file_path ?? ''),
      `${plain(lock.locked_by ?? '')}${lock.shared === true ? ' (shared)' : ''}`,
      left(lock.expires_at, view.now_ms),
      plain(lock.reason ?? ''),
    ],
    ...waiters
      .filter(({ file_path }) => file_path === lock.file_path)
      .map((waiter): Cell[] => [
        { text: '  in line:', style: 'yellow' },
        plain(waiter.agent_id ?? ''),
        { text: `for ${age(waiter.waiting_since_at, view.now_ms)}`, style: 'dim' },
      ]),
  ]);
  const elsewhere = waiters.filter(({ file_path }) => !held.some((lock) => lock.file_path === file_path));
  const indirect = elsewhere.map((waiter): Cell[] => [
    plain(waiter.file_path ?? ''),
    { text: `${plain(waiter.agent_id ?? '')} waits`, style: 'yellow' },
    { text: `for ${age(waiter.waiting_since_at, view.now_ms)}`, style: 'dim' },
  ]);
  const columns = [{ min: 10 }, { min: 6, max: 32 }, {}, { min: 8 }];
  return [
    ...layOut([...table, ...indirect.slice(0, most)], columns, view),
    ...moreLine(more, 'cox lock check', view),
  ];
}

function edgeCounts(seen: JsonObject): Cell[] {
  const held = rows(seen.edge_claims);
  const stale = held.filter((claim) => claim.stale === true).length;
  return [
    `${held.length} claimed`,
    ...(stale === 0 ? [] : [', ', { text: `${stale} stale`, style: 'red' as const }]),
  ];
}

function edges(seen: JsonObject, view: View, most: number): string[] {
  const { shown, more } = some(rows(seen.edge_claims), most);
  const table = shown.map((claim): Cell[] => [
    plain(claim.feature ?? ''),
    plain(claim.edge ?? ''),
    plain(claim.agent_id ?? ''),
    claim.agent_role === null ? '' : plain(claim.agent_role ?? ''),
    {
      text: relative(claim.last_active, view.now_ms) ?? '',
      style: claim.stale === true ? ('red' as const) : ('dim' as const),
    },
    claim.approval_id === undefined ? '' : 'waits for a person',
  ]);
  const columns = [
    { min: 6, max: 32 },
    { min: 6, max: 32 },
    { min: 6, max: 24 },
    { min: 4, max: 20 },
    {},
    { min: 8 },
  ];
  return [...layOut(table, columns, view), ...moreLine(more, 'cox claim status', view)];
}

function workCounts(seen: JsonObject): Cell[] {
  const least = Number(seen.counted_at_most ?? Number.POSITIVE_INFINITY);
  const parts = ['pending', 'claimed', 'delayed', 'blocked', 'dead'].flatMap((status) => {
    const count = Number(seen[status] ?? 0);
    if (count === 0) return [];
    return [
      {
        text: `${count}${count >= least ? '+' : ''} ${status}`,
        style: status === 'dead' ? ('red' as const) : undefined,
      },
    ];
  });
  if (parts.length === 0) return ['none'];
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]));
}

function work(seen: JsonObject, view: View, most: number): string[] {
  const { shown, more } = some(rows(seen.claims), most);
  const line = (who: Cell, claim: JsonObject, when: Cell): Cell[] => [
    who,
    plain(claim.task_type ?? ''),
    when,
    plain(claim.task_description ?? ''),
  ];
  const table = shown.map((claim) =>
    line(plain(claim.claimed_by ?? ''), claim, left(claim.expires_at, view.now_ms)),
  );
  const { next, oldest_pending } = seen as { next?: JsonObject; oldest_pending?: JsonObject };
  if (next)
    table.push(line({ text: 'next', style: 'cyan' }, next, dim(`priority ${plain(next.priority ?? '')}`)));
  if (oldest_pending && oldest_pending.task_id !== next?.task_id)
    table.push(
      line(
        { text: 'oldest', style: 'cyan' },
        oldest_pending,
        dim(`for ${age(oldest_pending.created_at, view.now_ms)}`),
      ),
    );
  const columns = [{ min: 6, max: 24 }, { min: 4, max: 20 }, {}, { min: 8 }];
  return [...layOut(table, columns, view), ...moreLine(more, 'cox work list', view)];
}

function filesIn(seen: JsonObject): JsonObject {
  return (seen.task_files ?? {}) as JsonObject;
}

function taskFileCounts(seen: JsonObject): Cell[] {
  const files = filesIn(seen);
  const least = Number(files.counted_at_most ?? Number.POSITIVE_INFINITY);
  const parts = ['new', 'assigned', 'in_progress', 'error'].flatMap((status) => {
    const count = Number(files[status] ?? 0);
    if (count === 0) return [];
    const text = `${count}${count >= least ? '+' : ''} ${status === 'error' ? 'in error' : status.replace('_', ' ')}`;
    return [{ text, style: status === 'error' ? ('red' as const) : undefined }];
  });
  return parts.flatMap((part, index) => (index === 0 ? [part] : [', ', part]));
}

/** Which agent works on which file. */
function taskFiles(seen: JsonObject, view: View, most: number): string[] {
  const { shown, more } = some(rows(filesIn(seen).working), most);
  const table = shown.map((task): Cell[] => [
    plain(task.agent ?? ''),
    dim(task.started_at === undefined ? '' : `for ${age(task.started_at, view.now_ms)}`),
    plain(task.task_description ?? ''),
  ]);
  return [
    ...layOut(table, [{ min: 6, max: 24 }, {}, { min: 8 }], view),
    ...moreLine(more, 'cox task list', view),
  ];
}

function latest(seen: JsonObject, view: View): string[] {
  const { handoff, newest_message } = seen as { handoff?: JsonObject; newest_message?: JsonObject };
  const table: Cell[][] = [];
  if (handoff)
    table.push([
      'hand-off',
      plain(handoff.agent_name ?? ''),
      { text: relative(handoff.created_at, view.now_ms) ?? '', style: 'dim' },
      plain(handoff.summary ?? ''),
    ]);
  if (newest_message) {
    const { from, to, subject, body, sent_at } = newest_message;
    table.push([
      `mail (${plain(seen.unread_messages ?? 0)} unread)`,
      `${plain(from ?? '')} to ${plain(to ?? '')}`,
      { text: relative(sent_at, view.now_ms) ?? '', style: 'dim' },
      plain(subject ?? body ?? ''),
    ]);
  }
  return layOut(table, [{}, { min: 6, max: 32 }, {}, { min: 8 }], view);
}
