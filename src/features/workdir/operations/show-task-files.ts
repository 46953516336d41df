import { join } from 'node:path';
import type { JsonObject } from '../../../kernel/json.ts';
import { refuse } from '../../../kernel/refusal.ts';
import type { Step } from '../../../runtime/operation.ts';
import { readBounded } from '../../../storage/read-bounded.ts';
import { readSettings } from '../folder/root.ts';
import { wholeTask } from '../folder/task-text.ts';
import { plan } from '../plan-pass.ts';
import { byUrgency, compare, type TaskFile, type TaskFileStatus } from '../task-file.ts';
import { meantId, rowOf, type WorkPlace, workPlace } from './workdir-place.ts';

export interface ListTaskFilesInput {
  agent?: string | undefined;
  status?: TaskFileStatus | undefined;
  shelf?: TaskFile['shelf'] | undefined;
  limit: number;
}

const PROBLEMS_SHOWN_MAX = 50;
const SHELVES: readonly TaskFile['shelf'][] = ['assigned', 'inbox', 'fridge', 'done'];

/** What is worked on first, what is done last; within a shelf by urgency. */
export function listTaskFiles(input: ListTaskFilesInput, step: Step): JsonObject {
  const place = workPlace(step);
  if ('success' in place) return place;
  const { tree } = place;
  const { agent, status, shelf, limit } = input;
  const found = tree.files
    .filter(
      (file) =>
        (agent === undefined || (file.folder ?? file.task.agent) === agent) &&
        (status === undefined || file.task.status === status) &&
        (shelf === undefined || file.shelf === shelf),
    )
    .sort((a, b) => SHELVES.indexOf(a.shelf) - SHELVES.indexOf(b.shelf) || byUrgency(a, b));
  const problems = tree.problems.slice(0, PROBLEMS_SHOWN_MAX);
  return {
    success: true,
    work_dir: place.shown(''),
    agents: [...tree.agents],
    total: found.length,
    tasks: found.slice(0, limit).map(rowOf),
    ...(problems.length === 0 ? {} : { problems: problems.map((problem) => ({ ...problem })) }),
  };
}

/** All its contents, where it is, and what holds it back. */
export function showTaskFile(given: string, step: Step): JsonObject {
  const place = workPlace(step);
  if ('success' in place) return place;
  const id = meantId(place.tree, given);
  if (typeof id !== 'string') return id;
  const file = place.tree.files.find(({ task }) => task.id === id);
  if (file === undefined) return showArchived(place, id);
  const settings = readSettings(place.root);
  if ('success' in settings) return settings;
  const { findings } = plan(place.tree, step.now_ms(), settings);
  const own = findings.filter((each) => each.id === id);
  const waits = own.find(({ kind }) => kind === 'waiting');
  const others = own.filter(({ kind }) => kind !== 'waiting').map(({ text }) => text);
  return {
    success: true,
    task_id: id,
    path: place.shown(file.path),
    shelf: file.shelf,
    ...(waits === undefined ? {} : { waits_for: waits.text.replace(/^waits for /, '') }),
    ...(others.length === 0 ? {} : { attention: others.sort(compare) }),
    contents: wholeTask(place.tree.texts.get(file.path) ?? '') ?? {},
  };
}

function showArchived({ root, tree, shown }: WorkPlace, id: string): JsonObject {
  const path = tree.archived.get(id) ?? '';
  const read = readBounded(join(root, path), { links: false });
  const task = read.ok ? wholeTask(read.text) : undefined;
  if (task === undefined)
    return refuse('task_invalid', `${path}: ${read.ok ? 'no YAML' : read.reason}`, { errors: [] });
  return { success: true, task_id: id, path: shown(path), shelf: 'archive', contents: task };
}
