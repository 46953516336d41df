// Small work directories as a plan sees them, and what becomes of them when it is done.

import { type PassPlan, plan } from '../../../src/features/workdir/plan-pass.ts';
import type { TaskAction } from '../../../src/features/workdir/task-actions.ts';
import {
  stemOf,
  type TaskFile,
  type TaskResult,
  taskPlaceOf,
  type WorkTask,
  type WorkTree,
} from '../../../src/features/workdir/task-file.ts';
import { DEFAULT_WORKDIR, type WorkdirSettings } from '../../../src/features/workdir/workdir-settings.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const NOW_MS = Date.UTC(2026, 2, 10, 12, 0, 0);

export type Given = Partial<Omit<WorkTask, 'id'>>;

/** The task that a path names: an agent's folder says whose it is, the shelf what is to be expected of it. */
export function given(path: string, over: Given = {}): TaskFile {
  const place = taskPlaceOf(path);
  if (place === undefined || place.shelf === 'archive') throw new Error(`${path} is no place of a live task`);
  const { shelf, folder } = place;
  const status = ({ inbox: 'new', assigned: 'assigned', done: 'done', fridge: 'new' } as const)[shelf];
  const agent = folder ?? 'ann';
  const common = { agent, status, artefacts: [], priority: 'normal', dependencies: [] } as const;
  const times = {
    ...(shelf === 'assigned' ? { assigned_at_ms: NOW_MS - HOUR_MS } : {}),
    ...(shelf === 'done' ? { completed_at_ms: NOW_MS - HOUR_MS } : {}),
  };
  return { path, shelf, folder, task: { ...common, ...times, ...over, id: stemOf(path) } };
}

export interface Surroundings {
  readonly agents?: readonly string[];
  /** Paths of what is in the archive. */
  readonly archived?: readonly string[];
  readonly known_follow_ups?: ReadonlyMap<string, string>;
  /** Files that can not be read. */
  readonly unreadable?: readonly string[];
  readonly twins?: WorkTree['twins'];
}

export function treeOf(files: readonly TaskFile[], around: Surroundings = {}): WorkTree {
  const { agents = ['ann', 'bob'], archived = [], unreadable = [], twins = [] } = around;
  return {
    agents,
    files,
    archived: new Map(archived.map((path) => [stemOf(path), path])),
    known_follow_ups: around.known_follow_ups ?? new Map(),
    occupied: new Set([...files.map(({ path }) => path), ...archived, ...unreadable, ...twins.flat()]),
    twins,
    problems: [],
  };
}

export function planned(
  files: readonly TaskFile[],
  around: Surroundings & { settings?: Partial<WorkdirSettings>; now_ms?: number } = {},
): PassPlan {
  const settings = { ...DEFAULT_WORKDIR, ...around.settings };
  return plan(treeOf(files, around), around.now_ms ?? NOW_MS, settings);
}

/** As one reads it aloud: `set x status=assigned assigned_at`, `move inbox/x.yaml assigned/ann/x.yaml`. Times are named only. */
export function said({ actions, archiving }: Pick<PassPlan, 'actions' | 'archiving'>): string[] {
  return [...actions, ...archiving].map(sentence);
}

function sentence(action: TaskAction): string {
  switch (action.kind) {
    case 'move':
      return `move ${action.from} ${action.to}`;
    case 'create':
      return `create ${action.path}`;
    case 'drop':
      return `drop ${action.path}`;
    case 'update': {
      const fields = Object.entries(action.changes).map(([name, value]) =>
        typeof value === 'string' ? `${name}=${value}` : name.replace(/_ms$/, ''),
      );
      return `set ${action.id} ${fields.join(' ')}`;
    }
  }
}

/** `waiting x: waits for y (new)` and the like. */
export function found({ findings }: Pick<PassPlan, 'findings'>): string[] {
  return findings.map(({ kind, id, agent, text }) => `${kind} ${id ?? agent ?? ''}: ${text}`);
}

/** The tree with these actions done: what the next pass finds. */
export function done(tree: WorkTree, actions: readonly TaskAction[]): WorkTree {
  const files = new Map(tree.files.map((file) => [file.path, file]));
  const archived = new Map(tree.archived);
  const occupied = new Set(tree.occupied);
  for (const action of actions) {
    if (action.kind === 'drop') occupied.delete(action.path);
    if (action.kind === 'create') {
      const { notes: _notes, previous_agent: _previous, ...task } = action.follow_up;
      occupied.add(action.path);
      files.set(action.path, given(action.path, { ...task, status: 'new' }));
    }
    if (action.kind === 'update') {
      const file = files.get(action.path);
      if (file !== undefined) files.set(action.path, { ...file, task: { ...file.task, ...action.changes } });
    }
    if (action.kind === 'move') {
      const file = files.get(action.from);
      files.delete(action.from);
      occupied.delete(action.from);
      occupied.add(action.to);
      const place = taskPlaceOf(action.to);
      if (file === undefined || place === undefined) throw new Error(`${action.from} is not there`);
      const { shelf, folder } = place;
      if (shelf === 'archive') archived.set(action.id, action.to);
      else files.set(action.to, { ...file, path: action.to, shelf, folder });
    }
  }
  return { ...tree, files: [...files.values()], archived, occupied, twins: [] };
}

export const result = (next_agent: string | undefined, over: TaskResult = {}): Given => ({
  result: { summary: 'all of it', ...(next_agent === undefined ? {} : { next_agent }), ...over },
});
