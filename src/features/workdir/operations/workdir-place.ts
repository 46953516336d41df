import { join, relative, sep } from 'node:path';
import { isoTime } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { nearest } from '../../../kernel/nearest.ts';
import { type Refusal, refuse } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import { firstProblem } from '../../../storage/file-problem.ts';
import { findRoot } from '../folder/root.ts';
import { type ReadTree, readTree } from '../folder/task-tree.ts';
import type { TaskFile } from '../task-file.ts';

/** The work directory of the workspace, as it is now. */
export interface WorkPlace {
  readonly root: string;
  readonly tree: ReadTree;
  /** The path as typed from the top of the repository. */
  shown(path: string): string;
}

export function workPlace(step: Step): WorkPlace | Refusal {
  const root = findRoot(step.work_dir, step.root);
  if (typeof root !== 'string') return root;
  return { root, tree: readTree(root), shown: (path) => wayTo(step.root, join(root, path)) };
}

/** The name of a work directory in the store. */
export function directoryName(top: string, root: string): string {
  return wayTo(top, root) || '.';
}

function wayTo(top: string, path: string): string {
  const way = relative(top, path).split(sep).join('/');
  return way.startsWith('..') ? path : way;
}

const AGENTS_SHOWN_MAX = 20;

export function unknownAgent({ agents }: ReadTree, agent: string): Refusal | undefined {
  if (agents.includes(agent)) return undefined;
  const near = nearest(agent, agents);
  const known = near.length > 0 ? near : agents.slice(0, AGENTS_SHOWN_MAX);
  return refuse('invalid_input', `agent: expected one that has a folder in assigned/, not ${agent}`, {
    field: 'agent',
    ...(known.length === 0 ? {} : { did_you_mean: known }),
  });
}

const SUGGESTED_MAX = 5;
/** To compare with tens of thousands of ids would take seconds. */
const COMPARED_MAX = 2000;

/** The id that is meant: given in full, or by a prefix that only one id has. */
export function meantId(tree: ReadTree, given: string): string | Refusal {
  const ids = [...tree.files.map(({ task }) => task.id), ...tree.archived.keys()];
  if (ids.includes(given)) return given;
  const broken = brokenTask(tree, given);
  if (broken !== undefined) return broken;
  const begun = ids.filter((id) => id.startsWith(given)).sort();
  const [only] = begun;
  if (only !== undefined && begun.length === 1) return only;
  if (begun.length > 1)
    return refuse('unknown_task_file', `${begun.length} tasks begin with ${given}.`, {
      did_you_mean: begun.slice(0, SUGGESTED_MAX),
    });
  const near = similar(given, ids);
  const meant = near.length === 0 ? {} : { did_you_mean: near };
  return refuse('unknown_task_file', `There is no task ${given}.`, meant);
}

function similar(given: string, ids: readonly string[]): string[] {
  const wanted = given.toLowerCase();
  const having = ids.filter((id) => id.toLowerCase().includes(wanted));
  // The newest last, since names begin with the time.
  const some = [...ids].sort().slice(-COMPARED_MAX);
  return [...new Set([...having, ...nearest(given, some)])].slice(0, SUGGESTED_MAX);
}

/** The file is there, but can't be read. */
function brokenTask({ problems }: ReadTree, id: string): Refusal | undefined {
  const own = problems.filter(
    ({ file, counts }) => counts !== true && (file.endsWith(`/${id}.yaml`) || file.endsWith(`/${id}.yml`)),
  );
  const [first] = own;
  if (first === undefined) return undefined;
  const errors = own.map((problem) => ({ ...problem }));
  return refuse('task_invalid', firstProblem(first.file, own), { errors });
}

const at = (at_ms: number | undefined) => (at_ms === undefined ? undefined : isoTime(at_ms));

/** A task in a list. */
export function rowOf(file: TaskFile): JsonObject {
  const { task, shelf } = file;
  const { id, agent, status, priority, title, started_at_ms, completed_at_ms } = task;
  return {
    task_id: id,
    agent: file.folder ?? agent,
    status,
    shelf,
    priority,
    started_at: at(started_at_ms),
    completed_at: at(completed_at_ms),
    title,
  };
}
