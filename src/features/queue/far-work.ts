import { limits } from '../../kernel/limits.ts';
import type { Refusal } from '../../kernel/refusal.ts';
import type { Loaded, Needs, Range } from '../../ledger/decision.ts';
import { foldersKey, lockKey } from '../locks/index.ts';
import { type GetWork, heads, inOrder, noTasks } from './get-work.ts';
import type { TaskRecord } from './state.ts';
import { filesAreFree, taskPlacesOf } from './task-files.ts';
import { mayReview } from './terms.ts';
import { aheadInLine, lineKey } from './work-line.ts';

export interface Read {
  readonly loaded: Loaded;
  readonly now_ms: number;
}

export interface FoundFar {
  /** What seems to be free, in order: at most as many as are wanted and one commit can decide about. */
  readonly among: readonly string[];
  /** The refusal if nothing is free. */
  readonly refusal: Refusal;
}

/** Locks that are read together. Usually the first few tasks further back are enough. */
const LOCKS_AT_ONCE = 200;

/**
 * Behind all tasks that can't be handed out there may be one that can. The search only reads, outside of any
 * commit. What it finds is then decided about by id, so that searching a long queue blocks no other caller
 * and no decision grows with the queue.
 */
export function* lookFurther(
  wanted: Pick<GetWork, 'caller' | 'task_types' | 'count' | 'waiter_id' | 'terms'>,
): Generator<Needs, FoundFar, Read> {
  const { caller, task_types, count, waiter_id, terms } = wanted;
  const ranges = farRanges(task_types, count);
  const queue = yield { keys: [lineKey, foldersKey], ranges };
  const tasks = inOrder(queue.loaded, ranges).tasks.filter((task) =>
    mayReview(terms, caller.agent_id, task.state),
  );
  const ahead = aheadInLine(queue.loaded, waiter_id, queue.now_ms).length;
  const among: string[] = [];
  let room = limits.entities_per_take;
  let locked = 0;
  for (const group of byLocks(tasks, queue.loaded)) {
    const places = new Set(group.flatMap((task) => placesIn(task, queue.loaded)));
    const { loaded, now_ms } = yield { keys: [foldersKey, ...[...places].map(lockKey)] };
    for (const task of group) {
      if (!filesAreFree(loaded, task, caller.agent_id, now_ms)) {
        locked += 1;
        continue;
      }
      // The commit expects the task itself unchanged, like its locks.
      room -= 1 + placesIn(task, loaded).length;
      // Callers ahead in line take theirs first.
      if (room < 0 || among.length === count + ahead)
        return { among, refusal: noTasks(task_types, locked, ahead) };
      among.push(task.id);
    }
  }
  return { among, refusal: noTasks(task_types, locked, ahead) };
}

/** As much of the queue as one listing shows, and never less than `get_work` reads. */
function farRanges(task_types: readonly string[] | undefined, count: number): Range[] {
  const share = Math.floor(limits.range_rows_max / (task_types?.length ?? 1));
  return heads(task_types, Math.max(share, count + limits.candidates_per_take));
}

function placesIn(task: TaskRecord, loaded: Loaded): string[] {
  return [...new Set(taskPlacesOf(task, loaded).map(([, place]) => place))];
}

function* byLocks(tasks: readonly TaskRecord[], loaded: Loaded): Generator<TaskRecord[]> {
  let group: TaskRecord[] = [];
  let locks = 0;
  for (const task of tasks) {
    group.push(task);
    locks += placesIn(task, loaded).length;
    if (locks < LOCKS_AT_ONCE) continue;
    yield group;
    group = [];
    locks = 0;
  }
  if (group.length > 0) yield group;
}
