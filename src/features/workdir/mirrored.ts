import type { JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { shorten } from '../../kernel/shorten.ts';
import type { NewHandoff } from '../handoffs/index.ts';
import type { FiledAs, FileStatus, SeenFile } from '../queue/index.ts';
import { type TaskFile, type TaskPriority, taskLastSign_ms, type WorkTask } from './task-file.ts';
import { ownerOf } from './verbs.ts';
import type { WorkdirSettings } from './workdir-settings.ts';

/** The queue counts from 1, most urgent, to 10; files use words. */
const MEANT: Readonly<Record<TaskPriority, SeenFile['priority']>> = {
  critical: { least: 1, usual: 1, most: 1 },
  high: { least: 2, usual: 3, most: 3 },
  medium: { least: 4, usual: 5, most: 6 },
  normal: { least: 4, usual: 5, most: 6 },
  low: { least: 7, usual: 8, most: 10 },
};

export function priorityWord(priority: number): TaskPriority {
  const words = ['critical', 'high', 'normal', 'low'] as const;
  return words.find((word) => priority <= MEANT[word].most) ?? 'low';
}

/** A record has room for a task's own words, not for all of a file of up to 256 KB. */
const SUMMARY_CHARS_MAX = 10_000;
const ARTEFACT_CHARS_MAX = 500;
const NOTES_MAX = 20;
const NOTE_CHARS_MAX = 500;

/** A file as its mirror stores it; `task_id` is the record that it belongs to. */
export function seenFile(
  file: TaskFile,
  { task_id, directory }: { readonly task_id: string; readonly directory: string },
  settings: WorkdirSettings,
): SeenFile {
  const { task } = file;
  const status = statusOf(file);
  const seen = {
    task_id,
    title: task.title ?? task.id,
    priority: MEANT[task.priority],
    files: artefactsOf(task),
    file: filedAs(file, status, directory, settings),
    may_begin: task_id !== task.work_id,
  };
  switch (status) {
    case 'done':
      return { ...seen, status: 'completed', result: resultOf(task) };
    case 'error':
      return {
        ...seen,
        status: 'failed',
        error_message: shorten(task.error?.message ?? 'no message', SUMMARY_CHARS_MAX),
      };
    case 'frozen':
      return { ...seen, status: 'cancelled', error_message: 'Its file lies in the fridge.' };
    default:
      return { ...seen, status: 'filed' };
  }
}

/** The folder of a file takes precedence over its contents. */
function statusOf({ shelf, task: { status } }: TaskFile): FileStatus {
  switch (shelf) {
    case 'done':
      return 'done';
    case 'fridge':
      return 'frozen';
    case 'inbox':
      return status === 'error' ? status : 'new';
    case 'assigned':
      return status === 'error' || status === 'in_progress' || status === 'done' ? status : 'assigned';
  }
}

function filedAs(file: TaskFile, status: FileStatus, directory: string, settings: WorkdirSettings): FiledAs {
  const { task, path } = file;
  const started_ms = task.started_at_ms ?? taskLastSign_ms(file);
  const working =
    status !== 'in_progress'
      ? {}
      : {
          ...(task.started_by === undefined ? {} : { started_by: task.started_by }),
          ...(task.started_at_ms === undefined ? {} : { started_at_ms: task.started_at_ms }),
          ...(started_ms === undefined ? {} : { stalls_at_ms: started_ms + settings.timeout_ms }),
        };
  const waits =
    task.dependencies.length === 0
      ? {}
      : { depends_on: task.dependencies.slice(0, limits.task_dependencies_max) };
  return { directory, id: task.id, path, agent: ownerOf(file), status, ...working, ...waits };
}

function artefactsOf({ artefacts }: WorkTask): string[] {
  return artefacts.slice(0, limits.task_files_max).map((each) => shorten(each, ARTEFACT_CHARS_MAX));
}

function resultOf({ result, follow_up }: WorkTask): JsonObject | undefined {
  const { summary, next_agent } = result ?? {};
  const said = {
    ...(summary === undefined ? {} : { summary: shorten(summary, SUMMARY_CHARS_MAX) }),
    ...(next_agent === undefined ? {} : { next_agent }),
    ...(follow_up === undefined ? {} : { follow_up }),
  };
  return Object.keys(said).length === 0 ? undefined : said;
}

/** What a finished task hands over to the task that follows it. Undefined: no task follows, or not yet. */
export function handOverOf(file: TaskFile, follow_up: TaskFile | undefined): NewHandoff | undefined {
  const { task, shelf } = file;
  const { result } = task;
  if (shelf !== 'done' || task.follow_up === undefined || result?.next_agent === undefined) return undefined;
  const title = result.next_task_title ?? follow_up?.task.title ?? 'a follow-up';
  const notes = (result.next_task_notes ?? []).slice(0, NOTES_MAX);
  const item = (text: string) => shorten(text, NOTE_CHARS_MAX);
  return {
    summary: shorten(result.summary ?? `${task.id} is done.`, SUMMARY_CHARS_MAX),
    completed_work: [item(`${task.id}: ${task.title ?? task.id}`)],
    in_progress: [],
    decisions: [],
    next_steps: [item(`For ${result.next_agent}: ${title} (${task.follow_up})`), ...notes.map(item)],
    relevant_files: artefactsOf({ ...task, artefacts: result.next_artefacts ?? task.artefacts }),
  };
}
