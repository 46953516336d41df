import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { refuse } from '../../kernel/refusal.ts';
import { commit, type Decision, type Loaded, refused } from '../../ledger/decision.ts';
import type { EntityKey, EntityType, EventBody } from '../../ledger/entity.ts';
import type { LogEntry } from '../../ledger/log.ts';
import type { TaskRecord } from './state.ts';

/** A caller that waits for a task. The list is in the order of arrival. */
interface InLine {
  id: string;
  agent_id: string;
  task_types?: string[] | undefined;
  /** After this it counts as dead, and delays no other caller. */
  alive_until_ms: number;
}

export interface LineState {
  waiters: InLine[];
}

const LINE = 'work_line';
export const lineKey: EntityKey = { kind: LINE, id: 'all' };

export const lineEntity: EntityType<LineState> = {
  kind: LINE,
  evolve(state, event) {
    const waiters = state?.waiters ?? [];
    switch (event.type) {
      case 'line_joined': {
        const waiter = event.data.waiter as unknown as InLine;
        const known = waiters.some(({ id }) => id === waiter.id);
        // A waiter that reports again keeps its place.
        if (known) return { waiters: waiters.map((each) => (each.id === waiter.id ? waiter : each)) };
        return { waiters: [...waiters, waiter] };
      }
      case 'line_left': {
        const gone = event.data.waiter_ids as string[];
        return { waiters: waiters.filter(({ id }) => !gone.includes(id)) };
      }
      default:
        throw new Error(`unknown event of the line for work: ${event.type}`);
    }
  },
  // Lets a store that hands out tasks by itself see that there is a line.
  index: ({ waiters }) => (waiters.length === 0 ? {} : { sort: 'waiting/' }),
};

function lineEvent(type: string, data: JsonObject): EventBody {
  return { ...lineKey, type, data };
}

export interface JoinLine {
  readonly waiter_id: string;
  readonly agent_id: string;
  readonly task_types: readonly string[] | undefined;
}

/** Joins the line at its end, or reports that the caller is still waiting. */
export function joinLine({ waiter_id, agent_id, task_types }: JoinLine): Decision<JsonObject> {
  return {
    needs: { keys: [lineKey] },
    decide(loaded, now_ms) {
      const waiters = waitersOf(loaded);
      const dead = waiters.filter(({ id, alive_until_ms }) => id !== waiter_id && alive_until_ms <= now_ms);
      if (waiters.length - dead.length >= limits.work_waiters_max)
        return refused(refuse('too_large', `${limits.work_waiters_max} already wait for work.`));
      const waiter: InLine = { id: waiter_id, agent_id, alive_until_ms: now_ms + limits.waiter_alive_ms };
      if (task_types !== undefined) waiter.task_types = [...task_types];
      const events = leaving(dead.map(({ id }) => id));
      events.push(lineEvent('line_joined', { waiter: { ...waiter } }));
      return commit(events, { success: true });
    },
  };
}

export function leaveLine({ waiter_id }: { waiter_id: string }): Decision<JsonObject> {
  return {
    needs: { keys: [lineKey] },
    decide(loaded) {
      if (!waitersOf(loaded).some(({ id }) => id === waiter_id))
        return refused(refuse('not_held', 'Not in the line for work.'));
      return commit(leaving([waiter_id]), { success: true });
    },
  };
}

function leaving(waiter_ids: string[]): EventBody[] {
  return waiter_ids.length === 0 ? [] : [lineEvent('line_left', { waiter_ids })];
}

/** Includes dead ones. */
export function waitersOf(loaded: Loaded): readonly InLine[] {
  return loaded.get<LineState>(lineKey)?.state.waiters ?? [];
}

/** The live waiters that have waited longer. A caller that is not in the line is behind all of them. */
export function aheadInLine(
  loaded: Loaded,
  waiter_id: string | undefined,
  now_ms: number,
): readonly InLine[] {
  const waiters = waitersOf(loaded);
  const own = waiters.findIndex(({ id }) => id === waiter_id);
  const before = own === -1 ? waiters : waiters.slice(0, own);
  return before.filter(({ alive_until_ms }) => alive_until_ms > now_ms);
}

/**
 * What is left when each waiter ahead has taken the first task that it can use. A task that a waiter may not
 * have, because of a lock or a rule, is not reserved for it: otherwise no other agent would be given it for
 * as long as it waits.
 */
export function unreserved(
  tasks: readonly TaskRecord[],
  ahead: readonly InLine[],
  canTake: (agent_id: string, task: TaskRecord) => boolean,
): TaskRecord[] {
  const left = [...tasks];
  for (const { agent_id, task_types } of ahead) {
    const first = left.findIndex(
      (task) => (task_types?.includes(task.state.task_type) ?? true) && canTake(agent_id, task),
    );
    if (first !== -1) left.splice(first, 1);
  }
  return left;
}

/** A caller that gets a task leaves the line. */
export function servedFromLine(loaded: Loaded, waiter_id: string | undefined): EventBody[] {
  const stands = waitersOf(loaded).some(({ id }) => id === waiter_id);
  return stands && waiter_id !== undefined ? leaving([waiter_id]) : [];
}

const BRINGS_WORK = new Set([
  'task_submitted',
  'task_promoted',
  'task_lease_expired',
  'task_retried',
  'dependency_met',
  'dependency_failed',
  'dependents_released',
  'lock_released',
  'lock_expired',
  'line_left',
]);

/** Whether a row of the log may have made a task available to waiting callers. */
export function mayBringWork({ events }: LogEntry): boolean {
  // An ended task may have dependents to tell; the next call that asks for work does that.
  return events.some(
    ({ type }) => BRINGS_WORK.has(type) || type === 'task_completed' || type === 'task_failed',
  );
}
