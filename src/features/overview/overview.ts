import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { type Loaded, type Needs, prefixed, type Range } from '../../ledger/decision.ts';
import { boardClaimsNeeds } from '../board/index.ts';
import { type ClaimRules, edgeClaims, edgeClaimsNeeds } from '../claims/index.ts';
import { handoffRange, listHandoffs } from '../handoffs/index.ts';
import { checkLocks, checkLocksNeeds } from '../locks/index.ts';
import { type Message, unreadRange } from '../mail/index.ts';
import {
  DEAD,
  DUE,
  describeTask,
  filedRanges,
  HELD_BACK,
  lineKey,
  READY,
  TASK,
  type TaskRecord,
  type TaskState,
  WAITING,
  waitersOf,
} from '../queue/index.ts';
import { discoverAgents, discoverNeeds, type SessionState } from '../sessions/index.ts';
import { type RulebookState, rulebookKey, standingOf } from '../trust/index.ts';
import { trustNeeds, violationsByAgent } from './trusted.ts';

export interface OverviewTimes {
  readonly idle_ms: number;
  readonly stale_ms: number;
  /** When a claim on an edge is stale; absent: the default without a file. */
  readonly claim_rules?: ClaimRules | undefined;
}

/**
 * Every range is bounded, so that the overview costs the same with a million tasks; a full range is reported
 * as such.
 */
const COUNTED_MAX = limits.overview_rows_max;
const PRIORITIES = 10;

const ready = prefixed('sort', TASK, READY, COUNTED_MAX);
const due = prefixed('sort', TASK, DUE, COUNTED_MAX);
const dead = prefixed('group', TASK, DEAD, COUNTED_MAX);
const waiting = prefixed('link', TASK, WAITING, COUNTED_MAX);
const heldBack = prefixed('link', TASK, HELD_BACK, COUNTED_MAX);
const filed = filedRanges(COUNTED_MAX);
const unread = unreadRange(COUNTED_MAX);
const handoff = handoffRange(undefined, 1);

/**
 * The first of each priority is its oldest: ten rows say which task has waited longest, however many there
 * are.
 */
const oldestOfEach: readonly Range[] = Array.from({ length: PRIORITIES }, (_, index) =>
  prefixed('sort', TASK, `${READY}${String(index + 1).padStart(2, '0')}`, 1),
);

export function overviewNeeds(): Needs {
  const all = [
    checkLocksNeeds(undefined),
    discoverNeeds({ idle_ms: 0 }),
    trustNeeds(),
    edgeClaimsNeeds,
    boardClaimsNeeds,
  ];
  const ranges = all.flatMap((needs) => [...(needs.ranges ?? [])]);
  return {
    keys: [lineKey, rulebookKey, ...boardClaimsNeeds.keys],
    ranges: [
      ...ranges,
      ready,
      due,
      dead,
      waiting,
      heldBack,
      unread,
      handoff,
      ...oldestOfEach,
      ...filed.map(([, range]) => range),
    ],
  };
}

/** Which agent does what, what is held, what waits: one snapshot of all of it. */
export function overview(loaded: Loaded, times: OverviewTimes, now_ms: number): JsonObject {
  const { success: _, truncated, ...locks } = checkLocks(undefined, loaded, now_ms);
  const tasks = taskCounts(loaded);
  return {
    ...tasks,
    ...taskFiles(loaded),
    agents: agentsAt(loaded, locks, tasks.claims as JsonObject[], times, now_ms),
    ...(truncated === true ? { locks_truncated: true } : {}),
    ...locks,
    waiting_for_work: waitersOf(loaded)
      .filter(({ alive_until_ms }) => alive_until_ms > now_ms)
      .map(({ agent_id }) => agent_id),
    edge_claims: edgeClaims(loaded, times.claim_rules, now_ms),
    handoff: listHandoffs(handoff, loaded)[0] ?? null,
    ...mail(loaded),
  };
}

/** The open tasks of work directories: those in error and in progress first. */
export function filedTasks(loaded: Loaded): readonly TaskRecord[] {
  return filed.flatMap(([, range]) => loaded.list<TaskState>(range));
}

/**
 * How many of them there are by the status in their files, and which agent works on what. Absent: nothing is
 * mirrored.
 */
function taskFiles(loaded: Loaded): JsonObject {
  const counts = filed.map(([status, range]) => [status, loaded.list(range).length] as const);
  if (counts.every(([, count]) => count === 0)) return {};
  const working = filedTasks(loaded).filter(({ state }) => state.file?.status === 'in_progress');
  const full = counts.some(([, count]) => count === COUNTED_MAX);
  return {
    task_files: {
      ...Object.fromEntries(counts.filter(([, count]) => count > 0).toReversed()),
      ...(full ? { counted_at_most: COUNTED_MAX } : {}),
      working: working.map((task) => ({
        task_id: task.id,
        task_file: task.state.file?.id ?? '',
        agent: task.state.file?.agent ?? '',
        started_by: task.state.file?.started_by,
        started_at: time(task.state.file?.started_at_ms),
        task_description: task.state.description,
      })),
    },
  };
}

function time(at_ms: number | undefined): string | undefined {
  return at_ms === undefined ? undefined : isoTime(at_ms);
}

export function deadTasks(loaded: Loaded): readonly TaskRecord[] {
  return loaded.list<TaskState>(dead);
}

/** Tasks blocked by a failed dependency; a task with several failed dependencies is listed once. */
export function heldBackTasks(loaded: Loaded): TaskRecord[] {
  return unique(loaded.list<TaskState>(heldBack).filter(({ state }) => state.status === 'blocked'));
}

function unique(tasks: readonly TaskRecord[]): TaskRecord[] {
  return [...new Map(tasks.map((task) => [task.id, task])).values()];
}

function taskCounts(loaded: Loaded): JsonObject {
  const pending = loaded.list<TaskState>(ready);
  const timed = loaded.list<TaskState>(due);
  const claims = timed.filter(({ state }) => state.status === 'claimed');
  const blocked = unique([...loaded.list<TaskState>(waiting), ...heldBackTasks(loaded)]).filter(
    ({ state }) => state.status === 'blocked',
  );
  const [oldest] = oldestOfEach
    .flatMap((range) => loaded.list<TaskState>(range))
    .sort((a, b) => a.state.created_at_ms - b.state.created_at_ms || a.born - b.born);
  const full = [ready, due, dead, waiting, heldBack].some(
    (range) => loaded.list(range).length === range.limit,
  );
  return {
    pending: pending.length,
    claimed: claims.length,
    delayed: timed.filter(({ state }) => state.status === 'delayed').length,
    blocked: blocked.length,
    dead: deadTasks(loaded).length,
    ...(full ? { counted_at_most: COUNTED_MAX } : {}),
    next: pending[0] === undefined ? null : inShort(pending[0]),
    oldest_pending: oldest === undefined ? null : inShort(oldest),
    claims: claims.map(inShort),
  };
}

/** Without its input data, which can be long. */
function inShort(task: TaskRecord): JsonObject {
  const { input_data: _, ...rest } = describeTask(task);
  return rest;
}

/** One line per agent, however many sessions it has; the agent with the latest sign of life comes first. */
function agentsAt(
  loaded: Loaded,
  { locks, waiting: inLine = [] }: JsonObject,
  claims: readonly JsonObject[],
  { idle_ms }: OverviewTimes,
  now_ms: number,
): JsonObject[] {
  const found = discoverAgents({ idle_ms }, (range) => loaded.list<SessionState>(range), now_ms);
  const sessions = (found.agents as JsonObject[]).toReversed();
  const violations = violationsByAgent(loaded);
  const byAgent = Map.groupBy(sessions, ({ agent_id }) => agent_id as string);
  const agents = [...byAgent].map(([agent_id, own]) => {
    const newest = own.find(({ status }) => status === 'active') ?? own[0] ?? {};
    const has = (rows: unknown, field: string) =>
      (rows as JsonObject[]).filter((row) => row[field] === agent_id);
    return {
      agent_id,
      agent_type: newest.agent_type,
      status: newest.status,
      sessions: own.length,
      current_task: own.find(({ current_task }) => current_task !== null)?.current_task ?? null,
      capabilities: newest.capabilities,
      ...trustOf(agent_id, String(newest.agent_type), loaded),
      last_heartbeat_at: own[0]?.last_heartbeat,
      locks: has(locks, 'locked_by').length,
      tasks: has(claims, 'claimed_by').length,
      waits_for: has(inLine, 'agent_id').map(({ file_path }) => file_path ?? ''),
      violations: violations.get(agent_id) ?? 0,
    };
  });
  // The idle agents after the active ones, each group in its existing order.
  return agents.sort((a, b) => Number(a.status !== 'active') - Number(b.status !== 'active'));
}

/** Its profile, and its trust if that is lower than the profile's. */
function trustOf(agent_id: string, agent_type: string, loaded: Loaded): JsonObject {
  const state = loaded.get<RulebookState>(rulebookKey)?.state;
  const { profile, trust_level } = standingOf(state, { agent_id, agent_type });
  const isLowered = state?.lowered.some((each) => each.agent_id === agent_id) === true;
  return { profile: profile.name, ...(isLowered ? { trust_lowered_to: trust_level } : {}) };
}

function mail(loaded: Loaded): JsonObject {
  const messages = loaded.list<Message>(unread).map(({ state }) => state);
  const newest = messages.reduce<Message | undefined>(
    (last, each) => (last === undefined || each.sent_at_ms >= last.sent_at_ms ? each : last),
    undefined,
  );
  if (newest === undefined) return { unread_messages: 0, newest_message: null };
  const { message_id, from, to, subject, body, sent_at_ms } = newest;
  const newest_message = { message_id, from, to, subject, body, sent_at: isoTime(sent_at_ms) };
  return { unread_messages: messages.length, newest_message };
}
