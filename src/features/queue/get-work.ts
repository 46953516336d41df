import { isoTime } from '../../kernel/clock.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import {
  commit,
  first,
  type Loaded,
  type Needs,
  need,
  prefixed,
  type Range,
  refused,
  type Taking,
} from '../../ledger/decision.ts';
import type { EventBody } from '../../ledger/entity.ts';
import { type Caller, grant, type Lease } from '../../ledger/lease.ts';
import {
  DUE,
  READY,
  readyGroup,
  TASK,
  type TaskRecord,
  type TaskState,
  taskEvent,
  taskKey,
} from './state.ts';
import { filesAreFree, locksToRead } from './task-files.ts';
import { countClaim, mayReview, roomFor, type Terms, termsNeeds } from './terms.ts';
import { aheadInLine, lineKey, servedFromLine, unreserved } from './work-line.ts';

export interface GetWork {
  readonly caller: Caller;
  readonly task_types: readonly string[] | undefined;
  readonly count: number;
  readonly lease_ms: number;
  /** Whether due work (`settleDue`) was already done; if not, the caller does that once and asks again. */
  readonly settled: boolean;
  /**
   * Only these tasks, which a search of the rest of the queue has found (far-work.ts), and not the head of
   * the queue.
   */
  readonly among?: readonly string[] | undefined;
  /** The caller's place in the line for work, if it has been waiting. */
  readonly waiter_id?: string | undefined;
  /** A team's rules, if there are any. */
  readonly terms?: Terms | undefined;
}

/** What `operations/get-work-operation.ts` has to do before it asks again. */
export type WorkStep =
  /** Something has become due by time alone. */
  | { readonly step: 'settle_due' }
  /** Nothing at the head of the queue can be handed out, but something behind it may be. */
  | { readonly step: 'look_further' };

const settleFirst = { step: 'settle_due' } satisfies WorkStep;
const lookFurtherFirst = { step: 'look_further' } satisfies WorkStep;

export function getWork(command: GetWork): Taking<JsonObject> {
  const { caller, task_types, lease_ms, settled, waiter_id, terms, among } = command;
  const wanted = command.count;
  const { keys = [], ranges = [] } = termsNeeds(terms, caller);
  return {
    name: 'get_work',
    args: {
      task_types: task_types === undefined ? undefined : [...task_types],
      count: wanted,
      lease_ms,
      settled,
    },
    decision: {
      // One head is nearly always enough; more are loaded only when the head can't be taken.
      needs:
        among === undefined
          ? { keys: [lineKey, ...keys], ranges: [...heads(task_types, wanted), firstDue, ...ranges] }
          : { keys: [lineKey, ...keys, ...among.map(taskKey)], ranges: [firstDue, ...ranges] },
      decide(loaded, now_ms) {
        if (!settled && hasDue(loaded, now_ms)) return first(settleFirst);
        const count = roomFor(terms, caller, wanted, loaded, now_ms);
        if (typeof count !== 'number') return refused(count);
        const more = heads(task_types, wanted + limits.candidates_per_take);
        const wide = among !== undefined || more.every((range) => loaded.hasList(range));
        // No caller overtakes one that has waited longer: the first tasks are reserved for those ahead.
        const ahead = aheadInLine(loaded, waiter_id, now_ms);
        if (ahead.length > 0 && !wide) return need({ ranges: more });
        const { tasks, isAll } =
          among === undefined
            ? inOrder(loaded, wide ? more : heads(task_types, wanted))
            : { tasks: stillReady(among, loaded), isAll: true };
        const candidates = among === undefined ? withinBudget(tasks, wanted) : tasks;
        const unread = locksToRead(candidates, loaded);
        if (unread.length > 0) return need({ keys: unread });
        const canTake = (agent_id: string, task: TaskRecord) =>
          mayReview(terms, agent_id, task.state) && filesAreFree(loaded, task, agent_id, now_ms);
        const takeable = candidates.filter((task) => canTake(caller.agent_id, task));
        // Behind a head that can't be taken there may be a task of its type that comes before the other
        // types' heads.
        if (!wide && candidates.slice(0, count).some((task) => !takeable.includes(task)))
          return need({ ranges: more });
        const left = new Set(unreserved(candidates, ahead, canTake));
        const open = takeable.filter((task) => left.has(task)).slice(0, count);
        if (open.length === 0 && !(isAll && candidates.length === tasks.length))
          return first(lookFurtherFirst);
        if (open.length === 0)
          return refused(noTasks(task_types, tasks.length - takeable.length, ahead.length));
        const besides = [...servedFromLine(loaded, waiter_id), ...countClaim(terms, caller)];
        return handOut(open, caller, lease_ms, now_ms, besides);
      },
    },
  };
}

const firstDue = prefixed('sort', TASK, DUE, 1);

export function heads(task_types: readonly string[] | undefined, limit: number): Range[] {
  if (task_types === undefined) return [prefixed('sort', TASK, READY, limit)];
  // A type named twice must not put its tasks into one commit twice.
  return [...new Set(task_types)].map((type) => prefixed('group', TASK, readyGroup(type), limit));
}

function stillReady(ids: readonly string[], loaded: Loaded): TaskRecord[] {
  const found = ids.flatMap((id) => loaded.get<TaskState>(taskKey(id)) ?? []);
  return found.filter(({ state }) => state.status === 'pending');
}

function hasDue(loaded: Loaded, now_ms: number): boolean {
  const [first] = loaded.list<TaskState>(firstDue);
  return first !== undefined && taskDueAt_ms(first.state) <= now_ms;
}

/** When time or a finished parent changes this task. */
export function taskDueAt_ms(state: TaskState): number {
  if (state.status === 'delayed') return state.not_before_ms ?? 0;
  if (state.status === 'claimed') return state.lease?.expires_at_ms ?? 0;
  return 0;
}

/**
 * Merges the heads of several types: most urgent first, then oldest, then by id within one batch. Only as far
 * as is certain: behind the last task read of one type there may be another that comes before the next task
 * of the other types.
 */
export function inOrder(loaded: Loaded, ranges: readonly Range[]): { tasks: TaskRecord[]; isAll: boolean } {
  const lists = ranges.map((range) => ({ range, tasks: loaded.list<TaskState>(range) }));
  const tasks = lists.flatMap((list) => list.tasks);
  tasks.sort(
    (a, b) =>
      a.state.priority - b.state.priority || a.born - b.born || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  );
  const lasts = new Set(
    lists.filter((list) => list.tasks.length === list.range.limit).map((list) => list.tasks.at(-1)),
  );
  const end = tasks.findIndex((task) => lasts.has(task));
  return end === -1 ? { tasks, isAll: true } : { tasks: tasks.slice(0, end + 1), isAll: false };
}

/** A commit expects every lock it read, so only as many tasks are considered as its entity limit allows. */
function withinBudget(tasks: readonly TaskRecord[], count: number): TaskRecord[] {
  let left = limits.entities_per_take - count;
  const end = tasks.findIndex((task) => {
    left -= task.state.files.length;
    return left < 0;
  });
  return end === -1 ? [...tasks] : tasks.slice(0, end);
}

function handOut(
  tasks: readonly TaskRecord[],
  caller: Caller,
  lease_ms: number,
  now_ms: number,
  besides: readonly EventBody[],
) {
  const events: EventBody[] = [...besides];
  const answers: JsonObject[] = [];
  let left = limits.take_bytes_max;
  for (const task of tasks) {
    const lease = grant(task, { ...caller, token: undefined }, lease_ms, now_ms);
    const answer = describeClaim(task, lease);
    // The rest is left to the next call: a row larger than the store accepts would keep all of them from
    // every agent.
    if (tasks.length > 1) left -= Buffer.byteLength(JSON.stringify(answer));
    if (left < 0 && answers.length > 0) break;
    events.push(taskEvent(task.id, 'task_claimed', { lease: { ...lease } }));
    answers.push(answer);
  }
  return commit(events, { success: true, tasks: answers });
}

/** The seed's answer to get_work, plus what the agent needs to keep and end the claim. */
function describeClaim(task: TaskRecord, lease: Lease): JsonObject {
  const { state } = task;
  return {
    task_id: task.id,
    task_type: state.task_type,
    task_description: state.description,
    input_data: state.input_data,
    priority: state.priority,
    files: state.files.length === 0 ? undefined : state.files,
    failed_dependencies: state.failed_dependencies.length === 0 ? undefined : state.failed_dependencies,
    attempt: state.attempt_count + 1,
    expires_at: isoTime(lease.expires_at_ms),
    fencing_token: lease.token,
  };
}

export function noTasks(task_types: readonly string[] | undefined, locked: number, ahead: number) {
  const of = task_types === undefined ? '' : ` of type ${task_types.join(', ')}`;
  const why = locked === 0 ? '' : ` ${locked} wait for files that other agents have locked.`;
  const line = ahead === 0 ? '' : ` ${ahead} agents have waited longer.`;
  return refuse('no_tasks_available', `No task${of} can be handed out now.${why}${line}`);
}

/** For waiting callers: the latest moment at which time alone may bring something. */
export const nextDue: Needs = { keys: [lineKey], ranges: [firstDue] };

export function nextDueAt_ms(loaded: Loaded, waiter_id: string, now_ms: number): number {
  const [first] = loaded.list<TaskState>(firstDue);
  const due_ms = first === undefined ? Number.POSITIVE_INFINITY : taskDueAt_ms(first.state);
  // A caller ahead in line may have died without notice.
  return Math.min(due_ms, ...aheadInLine(loaded, waiter_id, now_ms).map((each) => each.alive_until_ms));
}
