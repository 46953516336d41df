import {
  stemOf,
  type TaskError,
  type TaskFile,
  type TaskFileStatus,
  taskPlaceOf,
  type WorkTask,
  type WorkTree,
} from './task-file.ts';

/** What the coordinator writes into a task. Never an artefact, never a `result`. */
export interface TaskChanges {
  readonly agent?: string;
  readonly status?: TaskFileStatus;
  readonly assigned_at_ms?: number;
  readonly completed_at_ms?: number;
  readonly archived_at_ms?: number;
  readonly error?: TaskError;
  readonly follow_up?: string;
}

/** A task that follows from the result of another task. */
export interface FollowUp {
  readonly id: string;
  readonly agent: string;
  readonly title: string;
  readonly artefacts: readonly string[];
  readonly priority: WorkTask['priority'];
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  readonly notes: readonly string[];
  readonly previous_task: string;
  readonly previous_agent: string;
  readonly created_at_ms: number;
}

/**
 * One change of the tree, atomic by itself: the process may be killed between any two of them, and the next
 * pass continues from there. `why` is for people.
 */
export type TaskAction = { readonly id: string; readonly why: string } & (
  | { readonly kind: 'move'; readonly from: string; readonly to: string }
  | { readonly kind: 'update'; readonly path: string; readonly changes: TaskChanges }
  | {
      readonly kind: 'create';
      readonly path: string;
      /** The path of the task that it follows. */
      readonly parent: string;
      readonly follow_up: FollowUp;
    }
  /** Removes the older of two names of the same file. */
  | { readonly kind: 'drop'; readonly path: string; readonly twin: string }
);

/** The tree as it will be, so that what follows from an action is planned together with it. */
export class TreeDraft {
  readonly agents: ReadonlySet<string>;
  readonly archived: Map<string, string>;
  readonly known_follow_ups: WorkTree['known_follow_ups'];
  readonly actions: TaskAction[] = [];
  readonly #files: Map<string, TaskFile>;
  readonly #occupied: Set<string>;
  readonly #byId = new Map<string, TaskFile>();

  constructor({ agents, archived, known_follow_ups, occupied, files }: WorkTree) {
    this.agents = new Set(agents);
    this.known_follow_ups = known_follow_ups;
    this.archived = new Map(archived);
    this.#occupied = new Set(occupied);
    this.#files = new Map(files.map((file) => [file.path, file]));
    for (const file of files) this.#byId.set(file.task.id, file);
  }

  /** In a fixed order, as they are now. */
  on(...shelves: TaskFile['shelf'][]): TaskFile[] {
    return [...this.#files.values()].filter(({ shelf }) => shelves.includes(shelf));
  }

  find(id: string): TaskFile | undefined {
    return this.#byId.get(id);
  }

  /** Whether a task has this name, even in the archive. */
  isTaken(id: string): boolean {
    return this.#byId.has(id) || this.archived.has(id);
  }

  isOccupied(path: string): boolean {
    return this.#occupied.has(path);
  }

  update(file: TaskFile, changes: TaskChanges, why: string): TaskFile {
    const { path, task } = file;
    this.actions.push({ kind: 'update', id: task.id, path, changes, why });
    return this.#put({ ...file, task: { ...task, ...changes } });
  }

  move(file: TaskFile, to: string, why: string): TaskFile {
    const { id } = file.task;
    this.actions.push({ kind: 'move', id, from: file.path, to, why });
    this.#files.delete(file.path);
    this.#occupied.delete(file.path);
    this.#occupied.add(to);
    const place = taskPlaceOf(to);
    if (place === undefined) throw new Error(`${to} is no place for a task`);
    const { shelf, folder } = place;
    if (shelf !== 'archive') return this.#put({ ...file, path: to, shelf, folder });
    this.archived.set(id, to);
    this.#byId.delete(id);
    return file;
  }

  create(path: string, parent: string, follow_up: FollowUp, why: string): TaskFile {
    this.actions.push({ kind: 'create', id: follow_up.id, path, parent, follow_up, why });
    this.#occupied.add(path);
    const { notes: _notes, previous_agent: _previous, ...task } = follow_up;
    return this.#put({ path, shelf: 'inbox', task: { ...task, status: 'new', dependencies: [] } });
  }

  drop(path: string, twin: string, why: string): void {
    this.actions.push({ kind: 'drop', id: stemOf(path), path, twin, why });
    this.#occupied.delete(path);
  }

  #put(file: TaskFile): TaskFile {
    this.#files.set(file.path, file);
    this.#byId.set(file.task.id, file);
    return file;
  }

  files(): readonly TaskFile[] {
    return [...this.#files.values()];
  }
}
