/** The folder of a task's file takes precedence over its contents: a person moves it by hand. */
export type Shelf = 'inbox' | 'assigned' | 'done' | 'archive' | 'fridge';

export const TASK_STATUSES = [
  'new',
  'assigned',
  'in_progress',
  'blocked',
  'done',
  'error',
  'archived',
] as const;
export type TaskFileStatus = (typeof TASK_STATUSES)[number];

export const PRIORITIES = ['critical', 'high', 'medium', 'normal', 'low'] as const;
export type TaskPriority = (typeof PRIORITIES)[number];

/** What the agent says about a finished task. Ours to read, never to write. */
export interface TaskResult {
  readonly summary?: string | undefined;
  readonly next_agent?: string | undefined;
  readonly next_task_title?: string | undefined;
  readonly next_artefacts?: readonly string[] | undefined;
  readonly next_task_notes?: readonly string[] | undefined;
  readonly completed_at_ms?: number | undefined;
}

export interface TaskError {
  readonly message: string;
  readonly at_ms?: number | undefined;
  /** The agent that ran into it. */
  readonly agent?: string | undefined;
  /** How often it was retried after the first attempt. */
  readonly retry_count?: number | undefined;
}

/** The parts of a task that are needed to coordinate it. */
export interface WorkTask {
  readonly id: string;
  readonly agent: string;
  readonly status: TaskFileStatus;
  /** As they were written; they are compared in their normal form. */
  readonly artefacts: readonly string[];
  readonly title?: string | undefined;
  readonly priority: TaskPriority;
  readonly dependencies: readonly string[];
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  readonly previous_task?: string | undefined;
  readonly created_at_ms?: number | undefined;
  readonly assigned_at_ms?: number | undefined;
  readonly started_at_ms?: number | undefined;
  /** The agent that started it, if a verb recorded that. */
  readonly started_by?: string | undefined;
  readonly completed_at_ms?: number | undefined;
  /** The file has a time there that can't be read: a person's, and not ours to replace. */
  readonly completed_at_unread?: true | undefined;
  readonly archived_at_ms?: number | undefined;
  readonly result?: TaskResult | undefined;
  readonly error?: TaskError | undefined;
  /** The task that was created for `result.next_agent`. */
  readonly follow_up?: string | undefined;
  /** The task of the queue that it came from. */
  readonly work_id?: string | undefined;
}

export interface TaskFile {
  /** From the root of the work directory, with slashes. */
  readonly path: string;
  readonly shelf: Exclude<Shelf, 'archive'>;
  /** The agent whose folder it is in. */
  readonly folder?: string | undefined;
  readonly task: WorkTask;
}

/** A mistake in a file, which is left alone for it, and why. */
export interface TreeProblem {
  /** Only an optional field is wrong: the file counts without it. */
  readonly counts?: true | undefined;
  readonly file: string;
  readonly line: number;
  readonly field: string;
  readonly reason: string;
}

/** Everything that a pass uses. It remembers nothing else. */
export interface WorkTree {
  /** The agents that have a folder in `assigned/`. */
  readonly agents: readonly string[];
  readonly files: readonly TaskFile[];
  /** What was archived, by id; the contents are not read. */
  readonly archived: ReadonlyMap<string, string>;
  /**
   * Tasks that are not among the files, by the task they follow: duplicates, and tasks in the archive as far
   * as they are needed.
   */
  readonly known_follow_ups: ReadonlyMap<string, string>;
  /** Every existing file by its path, even if it can't be read: none is ever overwritten. */
  readonly occupied: ReadonlySet<string>;
  /** Two names of one file, as an interrupted move leaves them: the first is the older one. */
  readonly twins: readonly (readonly [older: string, newer: string])[];
  readonly problems: readonly TreeProblem[];
}

/** As precise as in the files; otherwise the next pass would read a different time than this one wrote. */
export function wholeSecond(at_ms: number): number {
  return Math.floor(at_ms / 1000) * 1000;
}

/** By code points, so that every machine has the same order. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function byUrgency(a: TaskFile, b: TaskFile): number {
  const rank = ({ task }: TaskFile) => PRIORITIES.indexOf(task.priority);
  const since = ({ task }: TaskFile) => task.created_at_ms ?? Number.POSITIVE_INFINITY;
  const [sinceA, sinceB] = [since(a), since(b)];
  return rank(a) - rank(b) || (sinceA < sinceB ? -1 : sinceA > sinceB ? 1 : compare(a.task.id, b.task.id));
}

/** The last sign of the agent that works on it. */
export function taskLastSign_ms({ task }: Pick<TaskFile, 'task'>): number | undefined {
  const { assigned_at_ms, started_at_ms, completed_at_ms, error } = task;
  const signs = [assigned_at_ms, started_at_ms, completed_at_ms, error?.at_ms].filter(
    (at_ms) => at_ms !== undefined,
  );
  return signs.length === 0 ? undefined : Math.max(...signs);
}

/** When it was done, as far as that is known. */
export function doneAt_ms({ completed_at_ms, result }: WorkTask): number | undefined {
  return completed_at_ms ?? result?.completed_at_ms;
}

/** The shelf that a path is on, and whose folder it is in. */
export function taskPlaceOf(path: string): { shelf: Shelf; folder?: string } | undefined {
  const [shelf, ...rest] = path.split('/');
  switch (shelf) {
    case 'assigned':
      return rest.length === 2 && rest[0] !== undefined ? { shelf, folder: rest[0] } : undefined;
    case 'done':
      return rest.length > 1 && rest[0] !== undefined ? { shelf, folder: rest[0] } : { shelf };
    case 'inbox':
    case 'fridge':
    case 'archive':
      return { shelf };
    default:
      return undefined;
  }
}

/** `assigned/a/x.yaml` → `x.yaml` */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

const YAML_ENDING = /\.ya?ml$/;

export function isTaskName(name: string): boolean {
  return YAML_ENDING.test(name);
}

/** `assigned/a/x.yaml` → `x`: the id of the task in it. */
export function stemOf(path: string): string {
  return fileName(path).replace(YAML_ENDING, '');
}
